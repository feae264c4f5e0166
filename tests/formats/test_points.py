"""Private raw points: grouped, split, filtered, and never printed."""

import numpy as np
import pytest
from refusals import refused

from nomadp.errors import DomainError, SchemaError
from nomadp.formats.columns import Table, Text
from nomadp.formats.points import People, Points
from nomadp.formats.table_points import points_of

HOUR = 3_600_000_000


def some(**change):
    columns = {
        "offsets": np.array([0, 3, 4]),
        "lat": np.array([41.5, 42.5, 43.5, 44.5]),
        "lng": np.array([1.0, 2.0, 3.0, 4.0]),
        "tids": ("a", "b"),
        "uids": ("ann", "bob"),
        "moment_us": np.array([0, 1, 6, 7]) * HOUR,
        "location_ids": ("w", "x", "y", "z"),
    }
    return Points(**{**columns, **change})


def test_nothing_is_printed():
    assert repr(some()) == "Points(4 in 2 trajectories, contents withheld)"


def test_points_are_equal_by_content():
    assert some() == some()
    assert some() != some(lat=np.array([41.5, 42.5, 43.5, 44.6]))
    assert some() != some(uids=None)
    assert some() != "points"


def table(**column):
    return Table("f", len(column["lat"]), column, lambda row: f"row {row + 1}")


def test_rows_in_any_order_become_trajectories_by_appearance():
    points = points_of(
        table(
            lat=np.array([1.0, 2.0, 3.0, 4.0]),
            lng=np.array([5.0, 6.0, 7.0, 8.0]),
            seq=np.array([9, 2, 1, 3]),
            tid=Text(np.array([0, 1, 0, 0]), ("t", "s")),
            uid=Text(np.array([0, 0, 0, 1]), ("u", "v")),
        )
    )
    assert points.lat.tolist() == [3.0, 1.0, 2.0, 4.0]
    assert (points.tids, points.uids) == (("t", "s", "t"), ("u", "u", "v"))
    assert points.offsets.tolist() == [0, 2, 3, 4]
    assert points.names() == ("1", "2", "3")


def test_without_a_tid_each_user_has_one_trajectory_with_a_number_for_a_name():
    whose = Text(np.array([1, 0, 1]), ("ann", "bob"))
    points = points_of(table(lat=np.zeros(3), lng=np.zeros(3), seq=np.arange(3), uid=whose))
    assert (points.tids, points.uids) == (("1", "2"), ("bob", "ann"))


def test_people_are_counted_and_never_named():
    assert some().people == People(2, 1)
    assert some(uids=("ann", "ann")).people == People(1, 2)
    assert some(uids=None).people is None


def test_equal_tids_of_two_files_are_two_trajectories_with_numbers():
    both = Points.joined([some(), some()])
    assert both.tids == ("1", "2", "3", "4")
    assert both.offsets.tolist() == [0, 3, 4, 7, 8]
    assert both.people == People(2, 2)
    assert both.location_ids == ("w", "x", "y", "z") * 2
    assert len(both.moment_us) == 8


def test_files_whose_tids_differ_keep_them():
    both = Points.joined([some(), some(tids=("c", "d"), moment_us=None)])
    assert both.tids == ("a", "b", "c", "d")
    assert both.moment_us is None


@pytest.mark.parametrize("column", ["uids", "location_ids"])
def test_files_of_which_only_some_name_people_or_places_are_not_joined(column):
    with refused(SchemaError, "partly_given", column=column, without=1, files=2):
        Points.joined([some(), some(**{column: None})])


def test_splits_at_gaps_and_keeps_users_apart():
    split = some().split(3)
    assert split.offsets.tolist() == [0, 2, 3, 4]
    assert (split.tids, split.uids) == (("1", "2", "3"), ("ann", "ann", "bob"))
    assert split.seq.tolist() == [0, 1, 0, 0]


def test_refuses_to_split_without_a_clock():
    with refused(DomainError, "times_required"):
        some(moment_us=None).split(3)


def test_a_trajectory_without_points_is_gone():
    selected = some().select(np.array([True, False, True, False]))
    assert (selected.tids, selected.uids) == (("a",), ("ann",))
    assert selected.location_ids == ("w", "y")
    assert selected.moment_us.tolist() == [0, 6 * HOUR]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"lat": np.zeros(3)}, "column_lengths_differ"),
        ({"uids": ("ann",)}, "column_lengths_differ"),
        ({"moment_us": np.zeros(2)}, "column_lengths_differ"),
        ({"location_ids": ("w",)}, "column_lengths_differ"),
        ({"offsets": np.array([0, 4, 4])}, "empty_trajectories"),
    ],
)
def test_refuses_columns_that_do_not_fit_together(change, code):
    with refused(DomainError, code):
        some(**change)
