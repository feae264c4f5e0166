"""The laws' integer weights keep their promise exactly, with no tolerance."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nomadp.audit.certificate import worst_ratio
from nomadp.budget import as_epsilon, exp_lower
from nomadp.errors import BudgetError
from nomadp.laws import (
    Disc,
    Exponential,
    FairCoin,
    RandomizedResponse,
    SquareWave,
    Subset,
    clamped,
    probabilities,
    square_wave_half_width,
)
from nomadp.locations import LocationSet

SHARES = [as_epsilon(text) for text in ("0.01", "0.1", "1", "4", "10")]


def scattered(size: int, seed: int = 0) -> LocationSet:
    rng = np.random.default_rng(seed)
    ids = [f"p{k}" for k in range(size)]
    return LocationSet.from_columns(ids, rng.uniform(41, 42, size), rng.uniform(-88, -87, size))


def exactly_worst(channel, secrets) -> Fraction:
    """The largest probability ratio by plain rational arithmetic, one pair at a time."""
    weight = channel.weights(np.asarray(secrets))
    law = [[Fraction(int(w), int(row.sum())) for w in row] for row in weight]
    return max(
        max(a / b, b / a) for x, y in combinations(law, 2) for a, b in zip(x, y, strict=True)
    )


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("size", [2, 4, 6, 12])
def test_randomised_response_spends_its_share_and_not_more(share, size):
    channel = RandomizedResponse(size, share)
    ratio = exactly_worst(channel, range(size))
    assert ratio == channel.bound <= exp_lower(share)
    assert math.log(ratio) == pytest.approx(float(share), rel=1e-6)
    assert len(set(channel.weights(np.arange(size)).sum(axis=1).tolist())) == 1


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("resolution", [1, 4, 64])
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


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("size", [2, 50, 2000])
def test_the_exponential_law_is_certified_up_to_two_thousand_locations(share, size):
    locations = scattered(size)
    channel = Exponential(locations, np.arange(size), locations.diameter_km, share)
    assert channel.bound <= exp_lower(share)
    weight = channel.weights(np.arange(size) if size < 100 else np.arange(0, size, 40))
    low, high = int(weight.min()), int(weight.max())
    assert Fraction(high, low) ** 2 <= channel.bound
    totals = weight.sum(axis=1)
    assert size * low <= totals.min()
    assert totals.max() <= size * high < 2**63


@pytest.mark.parametrize("share", SHARES)
def test_a_restricted_domain_costs_the_same_for_inputs_outside_it(share):
    locations = scattered(40)
    anchor, radius_km = 3, 25.0
    domain = locations.within(anchor, radius_km)[::2]
    channel = Exponential(locations, domain, 2 * radius_km, share, Disc(anchor, radius_km))
    assert worst_ratio(channel.weights(np.arange(40))) <= channel.bound <= exp_lower(share)


@pytest.mark.parametrize("share", SHARES)
def test_every_input_gives_some_location_of_a_disc_nearly_the_largest_weight(share):
    locations = scattered(40)
    disc = Disc(3, 25.0)
    channel = Exponential(locations, np.arange(40), 50.0, share, disc)
    ceiling = channel.weights(3).max()
    far = int(locations.distances_km(3).argmax())
    nearest_km = locations.distances_km(far).min() - (locations.distances_km(far)[3] - 25.0)
    assert nearest_km <= 0  # the input itself: clamped, not above
    assert channel.weights(far).max() == ceiling


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("near", [1, 3, 10])
def test_the_subset_law_spends_its_share_and_not_more(share, near):
    locations = scattered(10)

    def nearest(x):
        return np.argsort(locations.distances_km(int(x)), kind="stable")[:near]

    channel = Subset(10, near, nearest, share)
    ratio = exactly_worst(channel, range(10))
    assert ratio == (channel.bound if near < 10 else 1)
    assert channel.bound <= exp_lower(share)


def test_the_subset_law_refuses_a_rule_that_names_too_few():
    with pytest.raises(ValueError, match="exactly 2 distinct"):
        Subset(5, 2, lambda x: np.array([1, 1]), Fraction(1)).weights(0)


def test_nearer_locations_are_likelier():
    locations = scattered(30)
    channel = Exponential(locations, np.arange(30), locations.diameter_km, Fraction(4))
    order = np.argsort(locations.distances_km(7))
    assert (np.diff(channel.weights(7)[order]) <= 0).all()
    assert channel.weights(7).argmax() == 7


def test_float_accidents_cost_accuracy_and_never_privacy():
    wild = np.array([math.nan, math.inf, -math.inf, -1.0, 0.0, 1e300, 20.0])
    assert clamped(wild, 16, 64).tolist() == [16, 64, 16, 16, 16, 64, 20]


def test_a_domain_without_width_is_uniform():
    locations = LocationSet.from_columns(["a", "b", "c"], [1, 1, 1], [2, 2, 2])
    channel = Exponential(locations, np.arange(3), 0.0, Fraction(1))
    assert probabilities(channel, 1) == pytest.approx([1 / 3] * 3)


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


def test_weights_of_many_secrets_are_the_weights_of_each():
    locations = scattered(12)
    channels = [
        RandomizedResponse(12, Fraction(1)),
        SquareWave(12, Fraction(1)),
        Exponential(locations, np.arange(5), 10.0, Fraction(2), Disc(0, 5.0)),
        Subset(12, 3, lambda x: (np.arange(3) + int(x)) % 12, Fraction(1)),
        FairCoin(),
    ]
    for channel in channels:
        together = channel.weights(np.arange(12))
        assert together.tolist() == [channel.weights(x).tolist() for x in range(12)]


def test_refuses_a_free_draw_of_a_secret():
    with pytest.raises(BudgetError, match="must be positive"):
        RandomizedResponse(4, Fraction(0))


def test_an_input_out_of_range_is_refused_without_being_shown():
    with pytest.raises(IndexError, match="withheld") as refusal:
        RandomizedResponse(4, Fraction(1)).weights(77)
    assert "77" not in str(refusal.value)
