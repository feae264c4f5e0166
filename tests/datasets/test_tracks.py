"""Tracks are described without a location set, and without a place."""

import numpy as np
import pytest

from nomadp.datasets.tracks import coarse_box, describe_tracks
from nomadp.formats.points import Points

HOUR = 3_600_000_000
WALKS = Points(
    np.array([0, 3, 4]),
    np.array([0.0, 1.0, 1.0, 5.0]),
    np.array([10.0, 10.0, 10.0, -20.04]),
    ("1", "2"),
    ("zoe", "zoe"),
    np.array([0, 1, 4, 50]) * HOUR,
)


def test_counts_lengths_intervals_and_gaps():
    description = describe_tracks(WALKS)
    assert (description.trajectories, description.points, description.users) == (2, 4, 1)
    assert (description.of_one_point, description.days, description.gaps) == (1, 3, 1)
    assert description.points_each["100%"] == 3
    assert description.way_km["100%"] == pytest.approx(111.195, abs=0.01)
    assert description.way_km["0%"] == 0
    assert description.hours["100%"] == 4
    assert description.interval_s["50%"] == 7200


def test_without_times_or_users_nothing_is_said_of_them():
    description = describe_tracks(Points(np.array([0, 1]), np.zeros(1), np.zeros(1), ("1",)))
    assert not description.timed
    assert description.users is description.days is description.hours is None
    assert description.interval_s is description.gaps is None


def test_a_box_is_coarse_and_outwards():
    assert coarse_box(WALKS) == "-20.1,0,10,5"
