"""What was published is kept for measuring, marked, and known to leak."""

import math
from fractions import Fraction

import numpy as np
import pytest
from worlds import scattered

from nomadp.audit import measure
from nomadp.audit.maps import family_map
from nomadp.mechanisms import MECHANISMS, PUBLISHED, make_mechanism
from nomadp.mechanisms.pivot.published import WithTheTruth


@pytest.mark.parametrize("name", PUBLISHED)
def test_it_is_marked_as_not_private_and_says_why(name):
    assert name not in MECHANISMS
    assert name.endswith("not-private")
    assert not PUBLISHED[name].private
    assert PUBLISHED[name].warning


def test_the_truth_is_always_possible_and_that_is_the_leak():
    locations = scattered(6)
    channel = WithTheTruth(locations, np.array([1, 2]), locations.diameter_km, Fraction(1))
    assert np.flatnonzero(channel.weights(4)).tolist() == [1, 2, 4]
    assert np.flatnonzero(channel.weights(1)).tolist() == [1, 2]


def test_four_points_on_a_line_release_the_truth_with_certainty():
    # From one end all points lie in one sector: if another is reported, only {p_i} is left.
    locations = family_map("line", 4)
    mechanism = make_mechanism("tp-as-published-not-private", locations, 1, granularity=4)
    pivot = 0
    held = set(locations.sectors(pivot, 4).tolist())
    empty = next(d for d in range(4) if d not in held)
    region = mechanism._region({}, np.array([0, 1]), None)
    channel = mechanism._point(region, [pivot], [empty], mechanism.epsilon)
    for truth in range(4):
        assert np.flatnonzero(channel.weights(truth)).tolist() == [truth]


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
def test_its_exact_loss_is_far_above_what_it_claims(epsilon):
    mechanism = make_mechanism(
        "tp-as-published-not-private", family_map("line", 7), epsilon, granularity=12
    )
    found = measure(mechanism, 2)
    assert found.transcript_loss == math.inf
    assert found.final_loss > 3.5
    assert found.flags == ("support", "transcript")


def test_atp_as_published_leaks_too():
    options = {"granularity": 4, "resolution": 2}
    name = "atp-as-published-not-private"
    found = measure(make_mechanism(name, family_map("random", 4), 1, **options), 2)
    assert found.transcript_loss == math.inf
