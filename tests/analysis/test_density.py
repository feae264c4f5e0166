"""Densities on a grid of four cells, by hand."""

import math

import numpy as np
import pytest

from nomadp.analysis.hotspots import (
    density_distance,
    jensen_shannon,
    uniform_density_distance,
)
from nomadp.locations import LocationSet
from nomadp.trajectory import TrajectorySet

SOUTH_WEST, ALSO_SOUTH_WEST, SOUTH_EAST, NORTH_EAST = range(4)


@pytest.fixture
def corners() -> LocationSet:
    """Two places in one corner of the box, one in each of two others."""
    return LocationSet.from_columns("abcd", [0.0, 0.1, 0.0, 1.0], [0.0, 0.1, 1.0, 1.0])


def journeys(*lists: list[int]) -> TrajectorySet:
    return TrajectorySet.from_lists(list(lists), size=4)


def test_equal_densities_are_at_distance_zero(corners: LocationSet) -> None:
    true = journeys([SOUTH_WEST, SOUTH_EAST])
    within_the_cell = journeys([ALSO_SOUTH_WEST, SOUTH_EAST])
    assert density_distance(corners, true, within_the_cell, 2) == 0.0


def test_densities_that_never_meet_are_at_distance_one(corners: LocationSet) -> None:
    true, reported = journeys([SOUTH_WEST] * 2), journeys([SOUTH_EAST, NORTH_EAST])
    assert density_distance(corners, true, reported, 2) == pytest.approx(1.0)


def test_half_of_the_points_elsewhere_by_hand(corners: LocationSet) -> None:
    true, reported = journeys([SOUTH_WEST] * 2), journeys([SOUTH_WEST, NORTH_EAST])
    # (1, 0) against (1/2, 1/2); the middle is (3/4, 1/4).
    divergence = (math.log2(4 / 3) + (math.log2(2 / 3) + math.log2(2)) / 2) / 2
    found = density_distance(corners, true, reported, 2)
    assert found == pytest.approx(math.sqrt(divergence))


def test_uniform_answers_are_as_dense_as_the_public_set(corners: LocationSet) -> None:
    true = journeys([SOUTH_WEST, NORTH_EAST])
    expected = jensen_shannon(np.array([0.5, 0, 0, 0.5]), np.array([0.5, 0.25, 0, 0.25]))
    assert uniform_density_distance(corners, true, 2) == pytest.approx(expected)
    everywhere = journeys([SOUTH_WEST, ALSO_SOUTH_WEST, SOUTH_EAST, NORTH_EAST])
    assert uniform_density_distance(corners, everywhere, 2) == 0.0


def test_the_distance_is_a_metric() -> None:
    rng = np.random.default_rng(3)
    first, second, third = rng.dirichlet(np.full(6, 0.3), size=3)
    assert jensen_shannon(first, second) == pytest.approx(jensen_shannon(second, first))
    detour = jensen_shannon(first, third) + jensen_shannon(third, second)
    assert jensen_shannon(first, second) <= detour


def test_agrees_with_an_independent_implementation() -> None:
    from scipy.spatial.distance import jensenshannon

    rng = np.random.default_rng(4)
    first, second = rng.dirichlet(np.full(9, 0.5), size=2)
    assert jensen_shannon(first, second) == pytest.approx(jensenshannon(first, second, base=2))
