"""Trajectories as Arrow batches: the same ones as in any other form, and no quoted refusal."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

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
    found = trajectories_of(batch(pa.array([3, 4]), pa.array([[8], [7, 8]])), numbered)
    assert found.tids == ("3", "4")
    assert found.locations.tolist() == [1, 0, 1]


@pytest.mark.parametrize("first", [0, 1, 2])
def test_a_slice_is_read_as_what_it_shows(
    first: int, world: LocationSet, journeys: TrajectorySet
) -> None:
    shown = batch().slice(first, 2)
    assert trajectories_of(shown, world) == journeys.select(range(first, min(first + 2, 3)))


def test_a_batch_without_rows_holds_nobody(world: LocationSet) -> None:
    assert len(trajectories_of(batch().slice(0, 0), world)) == 0


BAD: dict[str, tuple[dict[str, Any], type[NomadpError], str]] = {
    "an unknown id": ({"lists": [["p0"], ["SECRET", "p1"], ["p2"]]}, DomainError, "1 unknown"),
    "an empty list": ({"lists": [["p0"], [], ["p2"]]}, DomainError, "1 empty of 3"),
    "no list": ({"lists": [["p0"], None, ["p2"]]}, SchemaError, "1 missing of 3"),
    "a gap in a list": ({"lists": [["p0"], [None], ["p2"]]}, SchemaError, "missing values"),
    "no tid": ({"tids": ["SECRET", None, "b"]}, SchemaError, "tid must not be missing"),
    "an empty tid": ({"tids": ["SECRET", "", ""]}, SchemaError, "2 empty of 3"),
    "tids in decimals": ({"tids": [1.5, 2.5, 3.5]}, SchemaError, "tid must hold text"),
    "text for a list": ({"lists": ["p0", "p1", "p2"]}, SchemaError, "lists of ids, got string"),
    "lists of decimals": ({"lists": [[0.5]] * 3}, SchemaError, "location_ids must hold text"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_counted_and_never_quoted(name: str, world: LocationSet) -> None:
    columns, kind, sentence = BAD[name]
    with pytest.raises(kind, match=sentence) as refused:
        trajectories_of(batch(**{key: pa.array(v) for key, v in columns.items()}), world)
    assert "SECRET" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_both_columns_must_be_there_once(world: LocationSet) -> None:
    with pytest.raises(SchemaError, match="one column location_ids, got 0"):
        trajectories_of(batch().select(["tid"]), world)
    twice = pa.RecordBatch.from_arrays(
        [*batch().columns, pa.array(TIDS)], names=["tid", "location_ids", "tid"]
    )
    with pytest.raises(SchemaError, match="one column tid, got 2"):
        trajectories_of(twice, world)
