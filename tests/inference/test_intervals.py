"""Intervals hold the truth as often as they say, for every truth."""

from itertools import pairwise

import numpy as np
import pytest
from asked import chances
from refusals import refused
from scipy.stats import binom

from nomadp.errors import InvalidArgument
from nomadp.inference.intervals import share_interval
from nomadp.inference.shares import Shares


def coverage(size, epsilon, total, people):
    """The exact probability that a 90 % interval holds the share of so many of all people."""
    _, p, q = chances(size, epsilon)
    count = np.arange(total + 1)
    law = np.convolve(
        binom.pmf(np.arange(people + 1), people, p),
        binom.pmf(np.arange(total - people + 1), total - people, q),
    )
    every = np.ones(total + 1)
    variance_at_zero = every * q * (1 - q) / (total * (p - q) ** 2)
    variance_slope = every * (1 - p - q) / (total * (p - q))
    low, high = share_interval(
        (count / total - q) / (p - q), variance_at_zero, variance_slope, 0.9
    )
    share = people / total
    return law[(low <= share) & (share <= high)].sum()


@pytest.mark.parametrize("share", [0, 0.001, 0.01, 0.1, 0.5, 0.9, 0.999, 1])
@pytest.mark.parametrize(("size", "epsilon"), [(4, 1), (64, 2), (256, 4)])
def test_the_truth_is_held_as_often_as_said_whatever_it_is(share, size, epsilon):
    """Exact: counts are whole, so one more or less of them is what the bounds leave open."""
    assert coverage(size, epsilon, 2000, round(2000 * share)) == pytest.approx(0.9, abs=0.02)


def test_what_is_far_from_a_border_has_the_usual_interval():
    one = np.ones(1)
    low, high = share_interval(0.5 * one, 1e-4 * one, 0 * one, 0.9)
    assert (low[0], high[0]) == (pytest.approx(0.5 - 0.016449), pytest.approx(0.5 + 0.016449))


def test_an_estimate_below_zero_leaves_small_shares_open():
    estimate = np.array([-0.5, -0.05, 0.0])
    low, high = share_interval(estimate, np.full(3, 1e-4), np.zeros(3), 0.9)
    assert low.tolist() == [0, 0, 0]
    assert (high[0] > 0) & (high[0] < high[1]) & (high[1] < high[2])
    assert high[2] == pytest.approx(0.01645, abs=1e-4)


def test_what_is_certain_is_a_point_and_level_one_is_everything():
    low, high = share_interval(np.array([0.25]), np.zeros(1), np.zeros(1), 0.9)
    assert (low[0], high[0]) == (pytest.approx(0.25), pytest.approx(0.25))
    low, high = share_interval(np.array([0.25]), np.ones(1), np.zeros(1), 1)
    assert (low[0], high[0]) == (0, 1)


def test_wider_levels_hold_narrower_ones():
    one = np.ones(5)
    estimate = np.array([-0.01, 0, 0.01, 0.5, 0.99])
    reach = [share_interval(estimate, 1e-4 * one, 0 * one, level) for level in (0.5, 0.9, 0.99)]
    for (low, high), (lower, higher) in pairwise(reach):
        assert (lower <= low).all()
        assert (high <= higher).all()


def test_shares_of_journeys_have_intervals_around_their_values():
    shares = Shares(np.array([0.2, 0.8]), np.array([0.2, 0.01]), np.array([0.5, 0.5]), 1.0)
    low, high = shares.interval(0.9)
    assert low == pytest.approx([0, 0.8 - 0.016449], abs=1e-6)
    assert high == pytest.approx([0.2 + 0.328971, 0.8 + 0.016449], abs=1e-6)
    low, high = shares.interval(1)
    assert (low.tolist(), high.tolist()) == ([0, 0], [1, 1])


def test_a_level_must_be_a_probability():
    with refused(InvalidArgument, "level_out_of_range", level=0):
        share_interval(np.zeros(1), np.ones(1), np.zeros(1), 0)
