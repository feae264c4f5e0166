"""Private trajectories: columns that hold together, and contents that are never shown."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from nomadp.errors import DomainError, OutOfRange
from nomadp.mechanisms.atlas.long import control_positions
from nomadp.trajectory import TrajectorySet

lists = st.lists(st.lists(st.integers(0, 8), min_size=1, max_size=6), min_size=1, max_size=8)


@given(lists)
def test_lists_become_columns_and_come_back(rows):
    trajectories = TrajectorySet.from_lists(rows, size=9)
    assert [trajectories[k].tolist() for k in range(len(trajectories))] == rows
    assert trajectories.lengths.tolist() == [len(row) for row in rows]
    assert trajectories.offsets[-1] == len(trajectories.locations)
    assert trajectories.tids == tuple(str(k) for k in range(len(rows)))


@given(lists, st.data())
def test_a_selection_is_the_chosen_trajectories_in_the_chosen_order(rows, data):
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1)))
    trajectories = TrajectorySet.from_lists(rows, size=9)
    expected = TrajectorySet.from_lists(
        [rows[k] for k in chosen], [str(k) for k in chosen], size=9
    )
    assert trajectories.select(chosen) == expected


def test_holds_single_points_and_no_trajectories_at_all():
    assert TrajectorySet.from_lists([[3]], size=4).lengths.tolist() == [1]
    assert len(TrajectorySet.from_lists([], size=4)) == 0


def test_accepts_arrays_of_any_integer_type():
    trajectories = TrajectorySet.from_lists([np.array([1, 2], dtype=np.uint8)], size=3)
    assert trajectories[0].dtype == np.int64


@pytest.mark.parametrize(
    ("rows", "code", "facts"),
    [
        ([[1], []], "empty_trajectories", {"empty": 1, "trajectories": 2}),
        ([[7, 5412]], "unknown_locations", {"unknown": 1, "size": 100}),
        ([[-5412, 7], [5412]], "unknown_locations", {"unknown": 2, "size": 100}),
        ([[54.12]], "not_whole_numbers", {}),
        ([["5412"]], "not_whole_numbers", {}),
        ([[[5412]]], "not_whole_numbers", {}),
    ],
)
def test_refuses_what_does_not_fit_without_showing_it(rows, code, facts):
    with refused(DomainError, code, **facts) as refusal:
        TrajectorySet.from_lists(rows, size=100)
    assert "54" not in str(refusal.value)


def test_refuses_a_wrong_number_of_names():
    with refused(DomainError, "tid_count_differs", tids=1, trajectories=2):
        TrajectorySet.from_lists([[1], [2]], ["a"], size=3)


@pytest.mark.parametrize("offsets", [[0, 2], [1, 2, 3], [0, 2, 1, 3], [0, 1, 2]])
def test_refuses_offsets_that_do_not_cut_the_points_into_trajectories(offsets):
    with refused(DomainError, "offsets_mismatch"):
        TrajectorySet(np.array(offsets), np.array([5, 6, 7]), ("a", "b"))


@pytest.mark.parametrize("k", [-1, 2])
def test_refuses_a_trajectory_it_does_not_have(k):
    trajectories = TrajectorySet.from_lists([[1], [2]], size=3)
    with refused(OutOfRange, "trajectory_out_of_range", size=2):
        trajectories[k]
    with refused(OutOfRange, "trajectory_out_of_range", size=2):
        trajectories.select([k])


def test_contents_are_withheld_however_it_is_printed():
    trajectories = TrajectorySet.from_lists([[5412, 5413]], ["her-week"], size=9999)
    expected = "TrajectorySet(1 trajectories, contents withheld)"
    for shown in (
        repr(trajectories),
        str(trajectories),
        f"{trajectories}",
        f"{[trajectories]}",
    ):
        assert expected in shown
        assert "54" not in shown
        assert "her-week" not in shown


def test_cannot_be_changed():
    trajectories = TrajectorySet.from_lists([[1, 2]], size=3)
    with pytest.raises(ValueError, match="read-only"):
        trajectories[0][0] = 2
    with pytest.raises(AttributeError):
        trajectories.tids = ("x",)


def test_does_not_follow_the_caller_who_changes_his_array():
    points = np.array([1, 2])
    trajectories = TrajectorySet(np.array([0, 2]), points, ("a",))
    points[0] = 7
    assert trajectories[0].tolist() == [1, 2]


def test_equality_is_by_content():
    one = TrajectorySet.from_lists([[1, 2], [3]], size=4)
    assert one == TrajectorySet.from_lists([[1, 2], [3]], size=4)
    assert one != TrajectorySet.from_lists([[1], [2, 3]], size=4)
    assert one != TrajectorySet.from_lists([[1, 2], [0]], size=4)
    assert one != TrajectorySet.from_lists([[1, 2], [3]], ["a", "b"], size=4)
    assert one != [[1, 2], [3]]


def test_a_stretch_is_the_same_as_its_selection():
    rows = [[0], [1, 2], [3, 4, 5], [6], [7, 8]]
    some = TrajectorySet.from_lists(rows, ["a", "b", "c", "d", "e"], size=9)
    for start in range(6):
        for stop in range(start, 6):
            assert some.between(start, stop) == some.select(range(start, stop))
    for start, stop in ((-1, 2), (3, 2), (0, 6)):
        with refused(OutOfRange, "trajectory_out_of_range", size=5):
            some.between(start, stop)


@given(lists, st.integers(1, 12))
def test_resampled_trajectories_have_one_length_and_their_own_points_in_order(rows, length):
    trajectories = TrajectorySet.from_lists(rows, size=9)
    found = trajectories.resampled(length)
    assert (found.tids, set(found.lengths.tolist())) == (trajectories.tids, {length})
    for k, row in enumerate(rows):
        step = (len(row) - 1) / max(length - 1, 1)
        for j, place in enumerate(found[k].tolist()):
            # The nearest position, and of two equally near ones either.
            assert place in {row[int(j * step + 0.5)], row[round(j * step)]}


@given(st.integers(2, 400), st.integers(2, 20))
def test_longer_trajectories_are_resampled_at_control_points(size, length):
    if size >= length:
        found = TrajectorySet.from_lists([range(size)], size=size).resampled(length)
        assert found[0].tolist() == control_positions(size, length).tolist()


def test_resampling_keeps_what_has_the_length_and_repeats_what_is_shorter():
    trajectories = TrajectorySet.from_lists([[5, 6, 7], [1, 2], [3]], size=9)
    found = trajectories.resampled(3)
    assert [found[k].tolist() for k in range(3)] == [[5, 6, 7], [1, 1, 2], [3, 3, 3]]
    assert len(TrajectorySet.from_lists([], size=4).resampled(3)) == 0
    with refused(DomainError, "length_out_of_range", length=0):
        trajectories.resampled(0)


def test_hours_go_along_with_their_trajectories():
    week = TrajectorySet.from_lists([[0, 1], [2], [1, 1, 1]], size=3, hours=np.array([5, 0, 9]))
    assert week.select([2, 0]).hours.tolist() == [9, 5]
    assert week.between(1, 3).hours.tolist() == [0, 9]
    assert week.resampled(4).hours.tolist() == [5, 0, 9]
    assert week.select([]).hours.tolist() == []


def test_sets_with_other_hours_are_not_equal():
    rows = [[0, 1], [2]]
    known = TrajectorySet.from_lists(rows, size=3, hours=np.array([5, 167]))
    assert known == TrajectorySet.from_lists(rows, size=3, hours=np.array([5, 167]))
    assert known != TrajectorySet.from_lists(rows, size=3, hours=np.array([5, 0]))
    assert known != TrajectorySet.from_lists(rows, size=3)


@pytest.mark.parametrize("hours", [[5], [5, 168], [-1, 0], [[1, 2]]])
def test_refuses_hours_that_are_none_without_showing_them(hours):
    with refused(DomainError, "invalid_hours") as refusal:
        TrajectorySet.from_lists([[0], [1]], size=3, hours=np.array(hours))
    assert not re.search(r"\b(5|168|2)\b", str(refusal.value))


def test_hours_are_never_shown():
    known = TrajectorySet.from_lists([[0]], size=3, hours=np.array([113]))
    assert repr(known) == "TrajectorySet(1 trajectories, contents withheld)"
