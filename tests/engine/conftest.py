"""A small world in a Parquet file, one row to a trajectory."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nomadp.engine import stream
from nomadp.formats import nested_files
from nomadp.locations import LocationSet

COUNT = 103
PART = 20
"""Reports per part, so that there are six of them, the last one short."""


@pytest.fixture(scope="session")
def square() -> LocationSet:
    lat, lng = np.divmod(np.arange(36), 6)
    return LocationSet.from_columns([f"p{k}" for k in range(36)], lat / 100, lng / 100)


@pytest.fixture
def trips(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    lists = [[f"p{p}" for p in rng.integers(36, size=2 + k % 4)] for k in range(COUNT)]
    return write_trips(tmp_path / "trips.parquet", lists)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nested_files, "ROWS_MAX", 5)
    monkeypatch.setattr(stream, "PIECES_PER_PART", PART // 5)


def write_trips(
    path: Path, lists: Sequence[Sequence[str]], tids: Sequence[str] | None = None
) -> Path:
    names = [f"journey {k}" for k in range(len(lists))] if tids is None else tids
    table = pa.table({"tid": names, "location_ids": lists})
    pq.write_table(table, path, row_group_size=33)
    return path
