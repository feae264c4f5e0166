"""Trajectories as Arrow batches: the same ones as in any other form, and no quoted refusal."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from refusals import refused

from nomadp.errors import DomainError, NomadpError, SchemaError
from nomadp.formats.trajectory_batches import trajectories_of
from nomadp.locations import LocationSet
from nomadp.trajectory import TrajectorySet

TIDS = ["one", "two", "drei"]
LISTS = [["p3", "p1"], ["p0"], ["p2", "p2", "p4"]]


@pytest.fixture(scope="module")
def world() -> LocationSet:
    return LocationSet.from_columns([f"p{k}" for k in range(5)], np.arange(5) / 9, np.zeros(5))


def batch(tids: Any = None, lists: Any = None) -> pa.RecordBatch:
    tids = pa.array(TIDS) if tids is None else tids
    lists = pa.array(LISTS) if lists is None else lists
    return pa.RecordBatch.from_arrays([tids, lists], names=["tid", "location_ids"])


@pytest.fixture
def journeys(world: LocationSet) -> TrajectorySet:
    return TrajectorySet.from_lists([[3, 1], [0], [2, 2, 4]], TIDS, size=len(world))


def test_a_batch_holds_the_trajectories_of_its_rows(
    world: LocationSet, journeys: TrajectorySet
) -> None:
    assert trajectories_of(batch(), world) == journeys


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.string()),
        pa.list_(pa.large_string()),
        pa.large_list(pa.string()),
        pa.list_(pa.dictionary(pa.int32(), pa.string())),
    ],
    ids=str,
)
def test_every_kind_of_list_is_read_alike(
    kind: pa.DataType, world: LocationSet, journeys: TrajectorySet
) -> None:
    assert trajectories_of(batch(lists=pa.array(LISTS, kind)), world) == journeys


def test_lists_of_one_size_are_read_as_well(world: LocationSet) -> None:
    lists = pa.array([["p3", "p1"]] * 3, pa.list_(pa.string(), 2))
    assert trajectories_of(batch(lists=lists), world).locations.tolist() == [3, 1] * 3


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())], ids=str
)
def test_every_kind_of_text_names_a_trajectory(kind: pa.DataType, world: LocationSet) -> None:
    assert trajectories_of(batch(pa.array(TIDS, kind)), world).tids == tuple(TIDS)


def test_whole_numbers_are_read_as_text() -> None:
    numbered = LocationSet.from_columns(["7", "8"], [0, 1], [0, 1])
    trajectories = trajectories_of(batch(pa.array([3, 4]), pa.array([[8], [7, 8]])), numbered)
    assert trajectories.tids == ("3", "4")
    assert trajectories.locations.tolist() == [1, 0, 1]


@pytest.mark.parametrize("first", [0, 1, 2])
def test_a_slice_is_read_as_what_it_shows(
    first: int, world: LocationSet, journeys: TrajectorySet
) -> None:
    shown = batch().slice(first, 2)
    assert trajectories_of(shown, world) == journeys.select(range(first, min(first + 2, 3)))


def test_a_batch_without_rows_holds_nobody(world: LocationSet) -> None:
    assert len(trajectories_of(batch().slice(0, 0), world)) == 0


IDS = {"column": "location_ids"}
BAD: dict[str, tuple[dict[str, Any], type[NomadpError], str, dict[str, Any]]] = {
    "an unknown id": (
        {"lists": [["p0"], ["SECRET", "p1"], ["p2"]]},
        DomainError,
        "unknown_locations",
        {"unknown": 1, "points": 4},
    ),
    "an empty list": (
        {"lists": [["p0"], [], ["p2"]]},
        DomainError,
        "empty_trajectories",
        {"empty": 1, "trajectories": 3},
    ),
    "no list": (
        {"lists": [["p0"], None, ["p2"]]},
        SchemaError,
        "value_missing",
        {**IDS, "missing": 1},
    ),
    "a gap in a list": (
        {"lists": [["p0"], [None], ["p2"]]},
        SchemaError,
        "value_missing",
        {**IDS, "missing": 1},
    ),
    "no tid": (
        {"tids": ["SECRET", None, "b"]},
        SchemaError,
        "value_missing",
        {"column": "tid", "missing": 1},
    ),
    "an empty tid": (
        {"tids": ["SECRET", "", ""]},
        SchemaError,
        "value_empty",
        {"column": "tid", "empty": 2},
    ),
    "tids in decimals": (
        {"tids": [1.5, 2.5, 3.5]},
        SchemaError,
        "wrong_column_type",
        {"column": "tid"},
    ),
    "text for a list": ({"lists": ["p0", "p1", "p2"]}, SchemaError, "wrong_column_type", IDS),
    "lists of decimals": ({"lists": [[0.5]] * 3}, SchemaError, "wrong_column_type", IDS),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_counted_and_never_quoted(name: str, world: LocationSet) -> None:
    columns, kind, code, facts = BAD[name]
    with refused(kind, code, **facts) as refusal:
        trajectories_of(batch(**{key: pa.array(v) for key, v in columns.items()}), world)
    assert "SECRET" not in str(refusal.value)
    assert refusal.value.__cause__ is None


def test_both_columns_must_be_there_once(world: LocationSet) -> None:
    with refused(SchemaError, "columns_missing", column="location_ids"):
        trajectories_of(batch().select(["tid"]), world)
    twice = pa.RecordBatch.from_arrays(
        [*batch().columns, pa.array(TIDS)], names=["tid", "location_ids", "tid"]
    )
    with refused(SchemaError, "column_repeated", column="tid"):
        trajectories_of(twice, world)
