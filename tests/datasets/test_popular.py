"""The most visited part of a set."""

import numpy as np
import pytest
from refusals import refused

from nomadp.datasets.city import synthetic_city
from nomadp.datasets.popular import most_popular
from nomadp.errors import DomainError, InvalidArgument
from nomadp.locations import LocationSet
from nomadp.trajectory import TrajectorySet

WORLD = LocationSet.from_columns(list("abcd"), [0.0, 1.0, 2.0, 3.0], [0.0] * 4)
TRIPS = TrajectorySet.from_lists(
    [[3, 1, 3], [1, 0], [1, 3, 2], [0, 2]], ["t1", "t2", "t3", "t4"], size=4
)


def test_keeps_the_most_visited_and_drops_points_and_trajectories_without_them():
    locations, trips = most_popular(WORLD, TRIPS, 0.5)
    assert locations.ids == ("b", "d")
    assert [trips[k].tolist() for k in range(len(trips))] == [[1, 0, 1], [0, 1]]
    assert trips.tids == ("t1", "t3")


def test_everything_is_kept_at_a_share_of_one():
    assert most_popular(WORLD, TRIPS, 1) == (WORLD, TRIPS)


def test_of_equally_visited_places_the_first_are_kept():
    even = TrajectorySet.from_lists([[3, 2, 1, 0]], size=4)
    assert most_popular(WORLD, even, 0.5)[0].ids == ("a", "b")


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.07])
def test_the_share_is_that_of_the_places(share):
    city = synthetic_city(1, places=200, trips=500)
    locations, trips = most_popular(city.locations, city.trajectories, share)
    assert len(locations) == round(200 * share)
    assert trips.lengths.min() >= 2
    chosen = set(locations.ids)
    whole = [city.locations.ids[k] for k in city.trajectories.locations]
    assert sum(each in chosen for each in whole) >= len(trips.locations)
    assert np.isin(trips.locations, np.arange(len(locations))).all()


@pytest.mark.parametrize("share", [0, -1, 1.5, float("nan")])
def test_refuses_a_share_that_is_none(share):
    with refused(InvalidArgument, "share_out_of_range"):
        most_popular(WORLD, TRIPS, share)


def test_refuses_when_no_trajectory_is_left():
    apart = TrajectorySet.from_lists([[0, 1], [2, 3], [0], [2]], size=4)
    with refused(DomainError, "no_trajectories"):
        most_popular(WORLD, apart, 0.01)
