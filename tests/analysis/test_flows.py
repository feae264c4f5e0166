"""Trips and steps on a line and on four cells, by hand; floors against brute force."""

import math
from itertools import product

import numpy as np
import pytest
from refusals import refused

from nomadp.analysis.hotspots import (
    flow_error,
    step_error_km,
    steps_km,
    uniform_flow_error,
    uniform_step_error_km,
)
from nomadp.errors import DomainError
from nomadp.geometry import EARTH_RADIUS_KM
from nomadp.locations import LocationSet
from nomadp.trajectory import TrajectorySet

DEGREE_KM = EARTH_RADIUS_KM * math.pi / 180
A, B, C = 0, 1, 2


@pytest.fixture
def line() -> LocationSet:
    """Three places on the equator, at 0, 1 and 3 degrees."""
    return LocationSet.from_columns(["a", "b", "c"], [0.0, 0.0, 0.0], [0.0, 1.0, 3.0])


def journeys(*lists: list[int]) -> TrajectorySet:
    return TrajectorySet.from_lists(list(lists), size=3)


def test_steps_stay_within_their_trajectory(line: LocationSet) -> None:
    found = steps_km(line, journeys([A, B, C], [C, A], [B])) / DEGREE_KM
    assert found.tolist() == pytest.approx([1, 2, 3])


def test_step_error_compares_distributions_not_steps(line: LocationSet) -> None:
    true = journeys([A, B], [B, C])  # steps of 1 and 2 degrees
    swapped = journeys([C, B], [B, A])  # of 2 and 1
    assert step_error_km(line, true, swapped) == pytest.approx(0)
    still = journeys([A, A], [B, B])
    assert step_error_km(line, true, still) == pytest.approx(1.5 * DEGREE_KM)


def test_uniform_steps_agree_with_every_pair(line: LocationSet) -> None:
    from scipy.stats import wasserstein_distance

    true = journeys([A, B, B], [B, C])
    every_km = [float(line.distances_km(i)[j]) for i, j in product(range(3), repeat=2)]
    exact_km = wasserstein_distance(steps_km(line, true), every_km)
    # Counted to a twenty-thousandth of three degrees.
    assert uniform_step_error_km(line, true) == pytest.approx(exact_km, abs=0.02)


def test_flows_are_between_the_ends_of_a_trip(line: LocationSet) -> None:
    true = journeys([A, C, A], [A, C])  # in two halves: west to west, west to east
    over_the_middle = journeys([A, B, B], [B, C])
    assert flow_error(line, true, over_the_middle, 2) == 0
    reversed_one = journeys([A, C, A], [C, A])
    assert flow_error(line, true, reversed_one, 2) == pytest.approx(0.5 + 0.5)


def test_flows_that_never_meet_are_at_distance_two(line: LocationSet) -> None:
    assert flow_error(line, journeys([A, A]), journeys([C, C]), 2) == 2


def test_trajectories_of_one_point_make_no_trip(line: LocationSet) -> None:
    true, reported = journeys([A, C], [A]), journeys([A, C], [C])
    assert flow_error(line, true, reported, 2) == 0


def test_uniform_flows_agree_with_every_possible_answer(line: LocationSet) -> None:
    true = journeys([A, C], [A, B])
    every = [
        flow_error(line, true, journeys(list(answer[:2]), list(answer[2:])), 2)
        for answer in product(range(3), repeat=4)
    ]
    assert uniform_flow_error(line, true, 2) == pytest.approx(np.mean(every))


def test_refuses_sets_in_which_nobody_moves(line: LocationSet) -> None:
    with refused(DomainError, "trajectories_of_one_point"):
        step_error_km(line, journeys([A]), journeys([B]))


def test_places_that_coincide_have_steps_of_nothing() -> None:
    world = LocationSet.from_columns(["a", "b"], [1.0, 1.0], [2.0, 2.0])
    there = TrajectorySet.from_lists([[0, 1]], size=2)
    assert uniform_step_error_km(world, there) == 0
    assert flow_error(world, there, there, 3) == 0
