"""Exponential laws keep their share whatever the floats were."""

import math
from fractions import Fraction

import numpy as np
import pytest
from refusals import refused
from worlds import scattered

from nomadp.audit.certificate import StepWitness, worst_ratio
from nomadp.budget import as_epsilon, exp_lower
from nomadp.errors import InvalidArgument, OutOfRange
from nomadp.laws import (
    Disc,
    Exponential,
    TableExponential,
    distance_rows_km,
    heaviest,
    probabilities,
)
from nomadp.locations import LocationSet

SHARES = [as_epsilon(text) for text in ("0.01", "0.1", "1", "4", "10")]


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


def test_nearer_locations_are_likelier():
    locations = scattered(30)
    channel = Exponential(locations, np.arange(30), locations.diameter_km, Fraction(4))
    order = np.argsort(locations.distances_km(7))
    assert (np.diff(channel.weights(7)[order]) <= 0).all()
    assert channel.weights(7).argmax() == 7


def test_a_domain_without_width_is_uniform():
    locations = LocationSet.from_columns(["a", "b", "c"], [1, 1, 1], [2, 2, 2])
    channel = Exponential(locations, np.arange(3), 0.0, Fraction(1))
    assert probabilities(channel, 1) == pytest.approx([1 / 3] * 3)


def test_a_table_of_the_locations_own_distances_is_the_law_over_locations():
    locations = scattered(12)
    everywhere, span_km = np.arange(12), locations.diameter_km
    table_km = distance_rows_km(locations, everywhere)
    by_table = TableExponential(table_km, everywhere, span_km, Fraction(2))
    by_place = Exponential(locations, everywhere, span_km, Fraction(2))
    assert by_table.weights(everywhere).tolist() == by_place.weights(everywhere).tolist()
    assert by_table.bound == by_place.bound


def test_the_weights_of_a_table_by_hand():
    table_km = np.array([[0.0, 3.0], [1.0, 0.0], [9.0, 9.0]])
    channel = TableExponential(table_km, np.array([5, 8]), 3.0, Fraction(2))
    high = heaviest(2**24, Fraction(1))
    assert channel.outputs.tolist() == [5, 8]
    assert channel.weights(0).tolist() == [high, 2**24]  # e^-1 of the ceiling is the floor
    assert channel.weights(1).tolist() == [int(high * math.exp(-1 / 3)), high]
    assert channel.weights(2).tolist() == [2**24, 2**24]  # beyond the span: clamped


@pytest.mark.parametrize("share", SHARES)
def test_a_table_keeps_its_share_even_when_it_is_no_metric(share):
    table_km = np.random.default_rng(0).exponential(10.0, (8, 5))
    table_km[0, 0] = math.nan
    channel = TableExponential(table_km, np.arange(5), 2.0, share)
    assert worst_ratio(channel.weights(np.arange(8))) <= channel.bound <= exp_lower(share)


def test_the_auditor_looks_at_the_table_itself():
    class Steeper(TableExponential):
        def distances_km(self, secret):
            return 2 * super().distances_km(secret)

    table_km = distance_rows_km(scattered(4), np.arange(4))
    for kind, flags in ((TableExponential, set()), (Steeper, {"scale"})):
        witness = StepWitness()
        channel = kind(table_km, np.arange(4), 10 * table_km.max(), Fraction(1))
        witness("step", channel, np.arange(4))
        assert witness.flags == flags


def test_equal_tables_are_equal_laws():
    table_km = np.array([[0.0, 1.0], [1.0, 0.0]])
    one, same = (TableExponential(table_km, np.arange(2), 1.0, Fraction(1)) for _ in "ab")
    other = TableExponential(2 * table_km, np.arange(2), 1.0, Fraction(1))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other


@pytest.mark.parametrize("shape", [(3, 2), (3, 0)])
def test_refuses_a_table_without_a_column_for_each_output(shape):
    with refused(InvalidArgument, "table_shape_mismatch", shape=shape):
        TableExponential(np.zeros(shape), np.arange(shape[1] and 3), 1.0, Fraction(1))


def test_an_input_outside_the_table_is_refused_without_being_shown():
    channel = TableExponential(np.zeros((4, 4)), np.arange(4), 1.0, Fraction(1))
    for outside in (-7, 77):
        with refused(OutOfRange, "input_out_of_range", size=4) as refusal:
            channel.weights(outside)
        assert "7" not in str(refusal.value)
