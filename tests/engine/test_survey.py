"""The look at all trajectories before the first draw."""

from pathlib import Path

import pytest
from refusals import refused

from nomadp.engine.batches import Survey, survey
from nomadp.errors import DomainError, SchemaError
from nomadp.formats import nested_files
from nomadp.formats.nested_files import NestedFile
from nomadp.locations import LocationSet
from tests.engine.conftest import COUNT, write_trips


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nested_files, "ROWS_MAX", 7)


def test_counts_what_is_there(trips: Path, square: LocationSet) -> None:
    seen: list[int] = []
    found = survey(NestedFile(trips), square, seen.append)
    assert found == Survey(COUNT, sum(2 + k % 4 for k in range(COUNT)), 0)
    assert sum(seen) == COUNT


def test_counts_trajectories_of_one_location(tmp_path: Path, square: LocationSet) -> None:
    path = write_trips(tmp_path / "some.parquet", [["p1"], ["p1", "p2"], ["p3"]])
    assert survey(NestedFile(path), square) == Survey(3, 4, 2)


@pytest.mark.parametrize("other", [1, 50, 99])
def test_a_tid_that_repeats_is_refused_wherever_it_stands(
    other: int, tmp_path: Path, square: LocationSet
) -> None:
    tids = [f"t{k}" for k in range(100)]
    tids[0] = tids[other] = "SECRET"
    path = write_trips(tmp_path / "twice.parquet", [["p1", "p2"]] * 100, tids)
    with refused(SchemaError, "tid_repeated", repeated=1, rows=100) as refusal:
        survey(NestedFile(path), square)
    assert "SECRET" not in str(refusal.value)


def test_different_tids_of_the_same_hash_are_not_taken_for_one(
    trips: Path, square: LocationSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nested_files, "_hash", lambda tid: hash(tid) % 10)
    assert survey(NestedFile(trips), square).trajectories == COUNT
    monkeypatch.setattr(nested_files, "SUSPECTS_MAX", 3)
    assert survey(NestedFile(trips), square).trajectories == COUNT


def test_a_repeated_tid_is_found_among_many_suspects(
    tmp_path: Path, square: LocationSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nested_files, "_hash", lambda tid: hash(tid) % 10)
    monkeypatch.setattr(nested_files, "SUSPECTS_MAX", 3)
    tids = [*(f"t{k}" for k in range(60)), "t59"]
    path = write_trips(tmp_path / "twice.parquet", [["p1", "p2"]] * 61, tids)
    with refused(SchemaError, "tid_repeated", rows=61):
        survey(NestedFile(path), square)


def test_an_unknown_location_is_refused_in_the_last_row(
    tmp_path: Path, square: LocationSet
) -> None:
    lists = [["p1", "p2"]] * 99 + [["p1", "SECRET"]]
    path = write_trips(tmp_path / "bad.parquet", lists)
    with refused(DomainError, "unknown_locations") as refusal:
        survey(NestedFile(path), square)
    assert "SECRET" not in str(refusal.value)
