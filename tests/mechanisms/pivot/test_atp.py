"""ATP: the region, its budget, and what stays public."""

from fractions import Fraction

import numpy as np
import pytest
from refusals import refused
from worlds import scattered, small_map

from nomadp.audit import measure
from nomadp.drawing import draw
from nomadp.errors import InvalidArgument
from nomadp.laws import Disc, SquareWave, heaviest
from nomadp.laws.channel import UNIT
from nomadp.locations import LocationSet
from nomadp.mechanisms import AnchoredPivotSampling
from nomadp.mechanisms.fast.arrays import square_wave
from nomadp.mechanisms.pivot.atp import RESOLUTION_MAX


@pytest.mark.parametrize("length", [2, 3, 7])
def test_splits_epsilon_as_section_6_1_2_of_the_paper(length):
    split = AnchoredPivotSampling(locations=scattered(5), epsilon=1).split(length)
    for copy in (1, 2):
        assert split.shares(copy) == {
            "anchor": Fraction(1, 32),
            "radius": Fraction(3, 32),
            "pivot": Fraction(3, 32 * length),
            "direction": Fraction(9, 32 * (length - 1)),
            "point": Fraction(3, 32 * length),
        }


def test_a_single_location_gets_three_eighths_in_each_copy():
    split = AnchoredPivotSampling(locations=scattered(5), epsilon=1).split(1)
    assert split.shares(1)["pivot"] == split.shares(2)["point"] == Fraction(3, 8)


def test_a_fixed_radius_leaves_its_budget_to_the_anchor():
    split = AnchoredPivotSampling(locations=scattered(5), epsilon=1, radius_km=5).split(3)
    assert split.shares(1)["anchor"] == Fraction(1, 8)
    assert "radius" not in split.shares(1)


@pytest.mark.parametrize("radius_km", [0.0, 3.0, 20_016])
def test_a_fixed_radius_keeps_epsilon(radius_km):
    mechanism = AnchoredPivotSampling(locations=small_map(4), epsilon=1, radius_km=radius_km)
    for length in (1, 2):
        assert measure(mechanism, length).ok


@pytest.mark.parametrize("resolution", [1, 2, 5])
def test_any_resolution_of_the_radius_keeps_epsilon(resolution):
    mechanism = AnchoredPivotSampling(locations=small_map(4), epsilon=2, resolution=resolution)
    assert measure(mechanism, 2).ok


def test_the_region_is_the_disc_and_its_width_the_scale():
    locations = scattered(50)
    mechanism = AnchoredPivotSampling(locations=locations, epsilon=1)
    region = mechanism._disc(Disc(7, 10.0))
    assert region.domain.tolist() == np.flatnonzero(locations.distances_km(7) <= 10).tolist()
    assert region.span_km == 20.0
    assert mechanism._disc(Disc(7, 1e5)).span_km == locations.diameter_km
    assert mechanism._disc(Disc(7, 0.0)).domain.tolist() == [7]


def test_the_anchor_of_a_journey_across_the_date_line_lies_on_it():
    locations = LocationSet.from_columns(
        ["east", "west", "line", "far"], [0.0, 0.0, 0.0, 0.0], [179.9, -179.9, 180.0, 0.0]
    )
    mechanism = AnchoredPivotSampling(locations=locations, epsilon=1)
    assert int(mechanism._mean_location(np.array([0, 1]))) == 2


def test_coincident_locations_have_a_region_without_width():
    locations = LocationSet.from_columns(["a", "b"], [1.0, 1.0], [2.0, 2.0])
    found = measure(AnchoredPivotSampling(locations=locations, epsilon=1, resolution=2), 2)
    assert found.ok
    assert found.final_loss == pytest.approx(0, abs=2e-9)


@pytest.mark.parametrize("radius_km", [-1.0, 20_016.1, float("nan"), float("inf")])
def test_refuses_a_radius_that_is_none(radius_km):
    with refused(InvalidArgument, "anchor_radius_out_of_range", most=20_016):
        AnchoredPivotSampling(locations=scattered(5), epsilon=1, radius_km=radius_km)


@pytest.mark.parametrize("resolution", [0, 2**20 + 1, 2**39])
def test_refuses_no_cells_at_all_and_more_than_64_bits_hold(resolution):
    with refused(InvalidArgument, "resolution_out_of_range", most=2**20):
        AnchoredPivotSampling(locations=scattered(5), epsilon=1, resolution=resolution)


def test_the_finest_radius_is_drawn_within_64_bits():
    share = AnchoredPivotSampling(locations=scattered(5), epsilon=20).split(2).shares(1)
    channel = SquareWave(RESOLUTION_MAX, share["radius"])
    total = int(channel.weights(0)[0]) * (2 * channel.reach + 1) + (2**20 - 1) * UNIT
    assert total == channel.weights(0).sum() < 2**48
    wave = RESOLUTION_MAX, channel.reach, heaviest(UNIT, channel.share)
    words = np.array([0, 2**40, 2**63, 2**64 - 1], dtype=np.uint64)
    for cell in (0, 777_777, 2**20 - 1):
        drawn = square_wave(words, np.full(4, cell), wave)
        assert drawn.tolist() == [draw(channel, cell, word) for word in words.tolist()]
