"""The statistics of a set, on worlds small enough to compute by hand."""

import numpy as np
import pytest
from refusals import refused

from nomadp.datasets.statistics import describe
from nomadp.errors import DomainError
from nomadp.locations import LocationSet
from nomadp.trajectory import TrajectorySet

# On the equator, one degree apart: distances are whole multiples of one degree.
LINE = LocationSet.from_columns(list("abcde"), [0.0] * 5, [0.0, 1.0, 2.0, 3.0, 4.0])


def described(*trips):
    return describe(LINE, TrajectorySet.from_lists(list(trips), size=5))


def test_steps_are_measured_in_diameters():
    description = described([0, 1], [0, 4], [2, 2])
    assert description.diameter_km == pytest.approx(4 * 111.195, abs=0.01)
    assert description.step["50%"] == pytest.approx(1 / 4)
    assert description.step["100%"] == pytest.approx(1.0)
    assert description.stay_share == pytest.approx(1 / 3)


def test_steps_do_not_lead_from_one_trajectory_to_the_next():
    assert described([0, 1], [4, 3]).step["100%"] == pytest.approx(1 / 4)


def test_the_radius_of_gyration_of_two_points_is_half_their_distance():
    description = described([0, 2])
    assert description.gyration["50%"] == pytest.approx(1 / 4, rel=1e-6)
    # Of 0, 0, 0 and 4 degrees: a middle at 1, squares 1, 1, 1, 9, whose mean is 3.
    assert described([0, 0, 0, 4]).gyration["50%"] == pytest.approx(3**0.5 / 4, rel=1e-3)


def test_shares_of_visits_count_the_most_visited_first():
    description = described([0, 0, 0], [0, 1], [2, 0])
    assert description.points == 7
    assert description.top_visits["1%"] == pytest.approx(5 / 7)
    assert description.top_visits["25%"] == pytest.approx(5 / 7)
    assert description.visited_share == pytest.approx(3 / 5)


def test_lengths_are_shares_and_long_ones_are_one_class():
    description = described([0], [0, 1], [0, 1], [0] * 9, [0] * 30)
    length = description.length
    assert (length["1"], length["2"], length["over 8"]) == (0.2, 0.4, 0.4)
    assert sum(length.values()) == pytest.approx(1)


def test_single_points_have_no_steps():
    description = described([3], [1])
    assert (description.step, description.stay_share) == (None, None)
    assert description.gyration["100%"] == pytest.approx(0, abs=1e-9)


def test_the_date_line_is_no_longer_than_any_other():
    near = LocationSet.from_columns(["w", "e", "x"], [0.0] * 3, [179.5, -179.5, 178.5])
    description = describe(near, TrajectorySet.from_lists([[0, 1]], size=3))
    assert description.gyration["50%"] == pytest.approx(1 / 4, rel=1e-6)


def test_refuses_nothing_at_all():
    with refused(DomainError, "no_trajectories"):
        describe(LINE, TrajectorySet(np.zeros(1, dtype=np.int64), np.empty(0), ()))
