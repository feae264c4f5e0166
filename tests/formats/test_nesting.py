"""From one row per point to one row per trajectory."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refused

from nomadp.errors import SchemaError
from nomadp.formats import nested_files
from nomadp.formats.nested_files import NestedFile, nest_file, read_nested
from nomadp.formats.point_files import read_trajectories
from nomadp.formats.points import People
from nomadp.locations import LocationSet


@pytest.fixture
def world() -> LocationSet:
    return LocationSet.from_columns([f"p{k}" for k in range(9)], np.arange(9) / 9, np.zeros(9))


def written(path: Path, **column: Any) -> Path:
    pq.write_table(pa.table(column), path)
    return path


def points(path: Path, lengths: list[int], **more: Any) -> Path:
    tids = [f"t{k}" for k, length in enumerate(lengths) for _ in range(length)]
    seq = [j for length in lengths for j in range(length)]
    place = [f"p{(7 * k) % 9}" for k in range(len(tids))]
    return written(path, tid=tids, seq=seq, location_id=place, **more)


@pytest.mark.parametrize("at_a_time", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("lengths", [[1], [5], [2, 1, 3, 4, 1, 1, 6], [3] * 10])
def test_the_trajectories_stay_the_same_wherever_pieces_break(
    lengths: list[int], at_a_time: int, tmp_path: Path, world: LocationSet, monkeypatch: Any
) -> None:
    monkeypatch.setattr(nested_files, "POINTS_AT_A_TIME", at_a_time)
    long, nested = points(tmp_path / "long.parquet", lengths), tmp_path / "nested.parquet"
    assert nest_file(long, nested) == len(lengths)
    assert read_nested(nested, world) == read_trajectories(long, world)[0]


def test_a_tid_that_comes_back_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    place = [f"p{k}" for k in range(4)]
    for column in (
        {"tid": ["SECRET", "b", "SECRET", "c"]},
        {"tid": ["SECRET"] * 4, "uid": ["a", "a", "b", "b"]},
    ):
        long = written(tmp_path / "long.parquet", **column, seq=[0, 1, 2, 3], location_id=place)
        with refused(SchemaError, "tid_scattered", scattered=1) as refusal:
            nest_file(long, tmp_path / "nested.parquet")
        assert "SECRET" not in str(refusal.value)
        assert [path.name for path in tmp_path.iterdir()] == ["long.parquet"]


def test_users_stay_beside_their_trajectories(tmp_path: Path, world: LocationSet) -> None:
    whose = ["ann", "ann", "bob", "bob", "ann"]
    long = points(tmp_path / "long.parquet", [2, 2, 1], uid=whose)
    assert nest_file(long, tmp_path / "nested.parquet") == 3
    assert list(NestedFile(tmp_path / "nested.parquet").uids() or ()) == ["ann", "bob", "ann"]
    assert read_trajectories(tmp_path / "nested.parquet", world)[1].people == People(2, 2)


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    nest_file(points(tmp_path / "long.parquet", [2]), tmp_path / "nested.parquet")
    assert (tmp_path / "nested.parquet").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("seq", [[0, 2, 1], [0, 1, 1]])
@pytest.mark.parametrize("at_a_time", [1, 2, 1000])
def test_points_out_of_order_are_refused_by_row(
    seq: list[int], at_a_time: int, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(nested_files, "POINTS_AT_A_TIME", at_a_time)
    place = ["p0", "SECRET", "p2"]
    long = written(tmp_path / "long.parquet", tid=["a"] * 3, seq=seq, location_id=place)
    with refused(SchemaError, "seq_not_increasing", row=3) as refusal:
        nest_file(long, tmp_path / "nested.parquet")
    assert "SECRET" not in str(refusal.value)
    assert [path.name for path in tmp_path.iterdir()] == ["long.parquet"]


def test_what_cannot_be_nested_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "nested.parquet"
    with refused(SchemaError, "not_parquet"):
        nest_file(tmp_path / "trips.csv", out)
    (tmp_path / "torn.parquet").write_bytes(b"PAR1")
    with refused(SchemaError, "not_parquet"):
        nest_file(tmp_path / "torn.parquet", out)
    with refused(SchemaError, "columns_missing", missing=("location_id",)):
        nest_file(written(tmp_path / "a.parquet", tid=["a"], seq=[0]), out)
    with refused(SchemaError, "value_missing", missing=1):
        nest_file(written(tmp_path / "b.parquet", tid=["a"], seq=[0], location_id=[None]), out)
    with refused(SchemaError, "wrong_column_type", column="seq", expected="whole numbers"):
        nest_file(written(tmp_path / "c.parquet", tid=["a"], seq=[0.5], location_id=["p"]), out)
    with refused(SchemaError, "no_rows"):
        nest_file(points(tmp_path / "d.parquet", []), out)
    assert not out.exists()
