"""Regions of a grid: who belongs where, and which are within a step."""

import numpy as np
import pytest
from worlds import scattered

from nomadp.geometry import haversine_km
from nomadp.locations import LocationSet
from nomadp.mechanisms.ngram.mechanism import grid_regions


@pytest.fixture
def five():
    """Two locations south-west, one south-east, two north-west; the north-east is empty."""
    return LocationSet.from_columns(
        list("abcde"), [0.0, 0.02, 0.0, 0.1, 0.09], [0.0, 0.01, 0.1, 0.0, 0.04]
    )


def test_regions_are_the_cells_that_hold_a_location(five):
    regions = grid_regions(five, 2)
    assert regions.of.tolist() == [0, 0, 1, 2, 2]
    assert regions.sizes.tolist() == [2, 1, 2]
    assert regions.members.tolist() == [[0, 1], [2, 2], [3, 4]]


def test_a_region_is_represented_by_the_mean_of_its_locations(five):
    distances = grid_regions(five, 2).distances_km
    means = [(0.01, 0.005), (0.0, 0.1), (0.095, 0.02)]
    for a, one in enumerate(means):
        for b, other in enumerate(means):
            assert distances[a, b] == pytest.approx(float(haversine_km(*one, *other)), abs=1e-9)
    assert (distances == distances.T).all()


def test_one_cell_is_one_region(five):
    regions = grid_regions(five, 1)
    assert len(regions) == 1
    assert regions.distances_km.tolist() == [[0.0]]


@pytest.mark.parametrize("grid", [1, 2, 3, 6])
def test_members_sizes_and_regions_agree(grid):
    regions = grid_regions(scattered(40), grid)
    assert regions.sizes.sum() == 40
    for region, (size, members) in enumerate(zip(regions.sizes, regions.members, strict=True)):
        assert members[:size].tolist() == np.flatnonzero(regions.of == region).tolist()
        assert set(members) == set(members[:size])


def test_regions_are_within_reach_when_some_of_their_locations_are():
    locations = scattered(40)
    regions = grid_regions(locations, 3)
    for step_km in (1.0, 15.0, 40.0, 1000.0):
        reachable = regions.reachable(step_km)
        for a in range(len(regions)):
            for b in range(len(regions)):
                inside, others = (
                    np.flatnonzero(regions.of == a),
                    np.flatnonzero(regions.of == b),
                )
                nearest = locations.distances_between_km(inside[:, None], others).min()
                assert reachable[a, b] == (a == b or nearest <= step_km)
