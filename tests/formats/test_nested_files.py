"""Parquet files with one row to a trajectory."""

import os
from errno import ENOENT
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refused

from nomadp.errors import DomainError, SchemaError
from nomadp.formats import nested_files
from nomadp.formats.nested_files import NestedFile, is_nested, read_nested
from nomadp.formats.point_files import ReadSummary, read_trajectories
from nomadp.formats.presets import Reading
from nomadp.locations import LocationSet

ROWS = 100


@pytest.fixture(scope="module")
def world() -> LocationSet:
    return LocationSet.from_columns([f"p{k}" for k in range(5)], np.arange(5) / 9, np.zeros(5))


def written(path: Path, lists: list[list[str]], tids: list[str] | None = None) -> Path:
    names = [f"t{k}" for k in range(len(lists))] if tids is None else tids
    pq.write_table(pa.table({"tid": names, "location_ids": lists}), path, row_group_size=30)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    lists = [[f"p{(k + j) % 5}" for j in range(1 + k % 3)] for k in range(ROWS)]
    return written(tmp_path / "trips.parquet", lists)


@pytest.mark.parametrize("rows_max", [1, 7, 30, 1000])
@pytest.mark.parametrize("first", [0, 1, 29, 30, 31, 95, 99, 100])
def test_every_row_from_the_first_comes_once_and_in_order(
    first: int, rows_max: int, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nested_files, "ROWS_MAX", rows_max)
    seen = []
    for row, batch in NestedFile(path).batches(first):
        assert 1 <= batch.num_rows <= rows_max
        assert batch.column("tid")[0].as_py() == f"t{row}"
        seen += batch.column("tid").to_pylist()
    assert seen == [f"t{k}" for k in range(first, ROWS)]


def test_long_trajectories_come_in_fewer_rows(tmp_path: Path) -> None:
    long = written(tmp_path / "long.parquet", [["p0"] * 100_000] * 40)
    assert NestedFile(long).piece_rows == 10
    assert {batch.num_rows for _, batch in NestedFile(long).batches()} == {10}


def test_a_whole_file_is_read_like_any_other(path: Path, world: LocationSet) -> None:
    trajectories, summary = read_trajectories(path, world)
    assert summary == ReadSummary(snapped=None, people=None)
    assert trajectories == read_nested(path, world)
    assert trajectories.tids == tuple(f"t{k}" for k in range(ROWS))
    assert trajectories[4].tolist() == [4, 0]


def test_a_map_of_columns_is_refused_since_names_are_fixed(
    path: Path, world: LocationSet
) -> None:
    with refused(SchemaError, "columns_missing", missing=("who",)):
        read_trajectories(path, world, Reading(columns={"who": "uid"}))


def test_only_files_of_this_layout_are_taken_for_one(tmp_path: Path, path: Path) -> None:
    other = tmp_path / "other.parquet"
    pq.write_table(pa.table({"tid": ["a"], "seq": [0], "location_id": ["p0"]}), other)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    names = [path, other, tmp_path / "broken.parquet", tmp_path / "missing.parquet"]
    assert [is_nested(each) for each in names] == [True, False, False, False]


def test_a_refusal_says_in_which_rows_to_look(
    tmp_path: Path, world: LocationSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nested_files, "ROWS_MAX", 10)
    bad = written(tmp_path / "bad.parquet", [["p0"]] * 14 + [["SECRET"]] + [["p1"]] * 9)
    with refused(DomainError, "unknown_locations", unknown=1, rows=(11, 20)) as refusal:
        read_nested(bad, world)
    assert "SECRET" not in str(refusal.value)
    assert refusal.value.__context__ is None


def test_a_tid_that_repeats_is_refused_unquoted(tmp_path: Path, world: LocationSet) -> None:
    twice = written(tmp_path / "twice.parquet", [["p0"]] * 3, ["SECRET", "b", "SECRET"])
    with refused(SchemaError, "tid_repeated", repeated=1) as refusal:
        read_nested(twice, world)
    assert "SECRET" not in str(refusal.value)


def test_a_damaged_file_is_refused(path: Path, tmp_path: Path, world: LocationSet) -> None:
    content = bytearray(path.read_bytes())
    content[40:400] = bytes(360)
    path.write_bytes(content)
    with refused(SchemaError, "not_parquet") as refusal:
        read_nested(path, world)
    assert refusal.value.__context__ is None
    with refused(SchemaError, "file_unreadable", errno=ENOENT):
        NestedFile(tmp_path / "missing.parquet")


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    with refused(SchemaError, "no_rows"):
        NestedFile(written(tmp_path / "none.parquet", []))


def test_a_file_that_changes_while_it_is_read_is_refused(path: Path) -> None:
    file = NestedFile(path)
    os.utime(path, ns=(0, 0))
    with refused(SchemaError, "file_changed"):
        next(file.batches())


def test_its_contents_are_withheld(path: Path) -> None:
    assert repr(NestedFile(path)) == "NestedFile(100 trajectories, contents withheld)"
