"""The square wave keeps its share at any resolution, and its width is stable."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import exactly_worst

from nomadp.budget import as_epsilon, exp_lower
from nomadp.laws import SquareWave, square_wave_half_width

SHARES = [as_epsilon(text) for text in ("0.01", "0.1", "1", "4", "10")]


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("resolution", [1, 4, pytest.param(64, marks=pytest.mark.slow)])
def test_the_square_wave_keeps_its_share_at_any_resolution(share, resolution):
    channel = SquareWave(resolution, share)
    if resolution > 1:
        assert exactly_worst(channel, range(resolution)) <= channel.bound
    assert channel.bound <= exp_lower(share)
    assert len(set(channel.weights(np.arange(resolution)).sum(axis=1).tolist())) == 1


@pytest.mark.parametrize("share", SHARES)
def test_the_square_wave_of_full_resolution_has_a_constant_total(share):
    channel = SquareWave(1024, share)
    weight = channel.weights(np.arange(1024))
    assert len(set(weight.sum(axis=1).tolist())) == 1
    assert weight.max() / weight.min() <= exp_lower(share)


@pytest.mark.parametrize(
    ("share", "width"), [(1e-12, 0.5), (1e-6, 0.5), (1.0, 0.2561), (50.0, 0.0), (1000.0, 0.0)]
)
def test_the_square_waves_width_is_stable_at_both_ends(share, width):
    assert square_wave_half_width(share) == pytest.approx(width, abs=1e-4)


@given(st.floats(min_value=0.1, max_value=19.9))
def test_the_stable_width_agrees_with_the_printed_formula(share):
    e = math.exp(share)
    printed = (share * e - e + 1) / (2 * e * (e - 1 - share))
    assert square_wave_half_width(share) == pytest.approx(printed, rel=1e-9)


def test_the_two_branches_of_the_width_meet():
    assert square_wave_half_width(20.0) == pytest.approx(square_wave_half_width(20.0 + 1e-9))


@given(st.floats(min_value=0, max_value=1), st.integers(min_value=1, max_value=2000))
def test_every_number_between_0_and_1_has_a_cell(value, resolution):
    assert 0 <= int(SquareWave(resolution, Fraction(1)).cell(value)) < resolution
