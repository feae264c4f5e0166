"""``nomadp perturb`` on Parquet with one row to a trajectory: it streams, and it goes on."""

import json
import os
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nomadp.engine import stream
from nomadp.engine.unfinished import Unfinished
from nomadp.formats import nested_files
from nomadp.formats.location_files import read_locations
from nomadp.reports import read_reports
from tests.cli.conftest import PLACES, Run, as_json, assert_refused

COUNT = 50


@pytest.fixture
def trips(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fifty journeys in five parts."""
    monkeypatch.setattr(nested_files, "ROWS_MAX", 5)
    monkeypatch.setattr(stream, "PIECES_PER_PART", 2)
    lists = [[PLACES[(k * j) % 9] for j in range(2 + k % 3)] for k in range(COUNT)]
    return write(folder / "trips.parquet", lists)


def write(path: Path, lists: list[list[str]], tids: list[str] | None = None) -> Path:
    names = [f"t{k}" for k in range(len(lists))] if tids is None else tids
    pq.write_table(pa.table({"tid": names, "location_ids": lists, "uid": names}), path)
    return path


@pytest.fixture
def streamed(run: Run, trips: Path) -> Run:
    def invoke(*more: str):
        return run(
            *("perturb", "trips.parquet", "--locations", "places.csv", "--mechanism", "exp"),
            *("--epsilon", "4", "--out", "reports.parquet", "--jobs", "1", "--overwrite"),
            *more,
        )

    return invoke


def test_one_row_per_trajectory_in_and_out(folder: Path, streamed: Run) -> None:
    assert (streamed().exit_code, streamed().stderr) == (0, "")
    ids = pq.read_table(folder / "reports.parquet")["tid"].to_pylist()
    assert ids == sorted(ids)
    assert {len(bytes.fromhex(each)) for each in ids} == {16}
    result = streamed("--keep-tids")
    assert result.stdout.startswith(f"{COUNT} ")
    table = pq.read_table(folder / "reports.parquet")
    assert table.column_names == ["tid", "location_ids"]
    assert table["tid"].to_pylist() == [f"t{k}" for k in range(COUNT)]
    assert [len(row) for row in table["location_ids"].to_pylist()] == [
        2 + k % 3 for k in range(COUNT)
    ]
    assert not (folder / "reports.parquet.partial").exists()


def test_the_metadata_is_that_of_any_reports(folder: Path, streamed: Run, perturb: Run) -> None:
    summary = as_json(streamed("--json"))
    metadata = json.loads(pq.read_schema(folder / "reports.parquet").metadata[b"nomadp"])
    assert metadata.items() <= summary.items()
    perturb("--mechanism", "exp")
    assert metadata == json.loads((folder / "reports.csv.meta.json").read_text())


def test_people_are_counted_before_the_first_draw(folder: Path, streamed: Run) -> None:
    summary = as_json(streamed("--json"))
    assert (summary["people"], summary["epsilon_per_person_max"]) == (COUNT, "4")
    table = pq.read_table(folder / "trips.parquet")
    nobody = pa.array([None] * COUNT, pa.string())
    pq.write_table(table.set_column(2, "uid", nobody), folder / "trips.parquet")
    (folder / "reports.parquet").unlink()
    assert_refused(streamed(), "value_missing", "uid")
    assert not list(folder.glob("reports*"))


def test_a_length_is_that_of_every_report(folder: Path, streamed: Run) -> None:
    assert as_json(streamed("--length", "4", "--json"))["points"] == 4 * COUNT
    lists = pq.read_table(folder / "reports.parquet")["location_ids"].to_pylist()
    assert [len(each) for each in lists] == [4] * COUNT


def test_the_reports_can_be_evaluated(streamed: Run, run: Run) -> None:
    assert streamed("--keep-tids").exit_code == 0
    scores = run(
        *("evaluate", "trips.parquet", "reports.parquet", "--locations", "places.csv", "--json")
    )
    assert as_json(scores)["trajectories"] == COUNT


def test_a_seed_repeats_the_reports_and_marks_them(folder: Path, streamed: Run) -> None:
    first, second = (
        (streamed("--seed", "7"), (folder / "reports.parquet").read_bytes()) for _ in range(2)
    )
    assert first[1] == second[1]
    assert "seed" in first[0].stderr
    metadata = json.loads(pq.read_schema(folder / "reports.parquet").metadata[b"nomadp"])
    assert (metadata["rng"], metadata["private"]) == ("simulated", False)


def test_the_same_seed_gives_the_same_reports_in_every_layout(
    folder: Path, streamed: Run, run: Run
) -> None:
    flat = pq.read_table(folder / "trips.parquet").to_pylist()
    points = [(t["tid"], k, p) for t in flat for k, p in enumerate(t["location_ids"])]
    columns = dict(zip(("tid", "seq", "location_id"), zip(*points, strict=True), strict=True))
    pq.write_table(pa.table({k: list(v) for k, v in columns.items()}), folder / "flat.parquet")
    lines = ["tid,seq,location_id", *(f"{tid},{k},{place}" for tid, k, place in points)]
    (folder / "flat.csv").write_text("\n".join(lines) + "\n")
    assert streamed("--seed", "3").exit_code == 0
    world = read_locations(folder / "places.csv")
    expected = read_reports(folder / "reports.parquet", world)
    for source, out in product(
        ("flat.csv", "flat.parquet", "trips.parquet"), ("csv", "parquet")
    ):
        done = run(
            *("perturb", source, "--locations", "places.csv", "--mechanism", "exp"),
            *("--epsilon", "4", "--seed", "3", "--out", f"other.{out}", "--overwrite"),
        )
        assert done.exit_code == 0, done.stderr
        assert read_reports(folder / f"other.{out}", world) == expected


def test_a_key_file_repeats_the_reports_in_private(folder: Path, streamed: Run) -> None:
    key = folder / "key"
    key.write_text(os.urandom(32).hex())
    key.chmod(0o600)
    first, second = (
        (streamed("--key-file", "key"), (folder / "reports.parquet").read_bytes())
        for _ in range(2)
    )
    assert first[0].exit_code == 0, first[0].stderr
    assert first[1] == second[1]
    assert key.read_text() not in first[0].output + first[0].stderr
    metadata = json.loads(pq.read_schema(folder / "reports.parquet").metadata[b"nomadp"])
    assert (metadata["rng"], metadata["private"]) == ("keyed", True)


def test_a_key_file_that_others_may_read_is_refused(folder: Path, streamed: Run) -> None:
    (folder / "key").write_bytes(bytes(32))
    (folder / "key").chmod(0o644)
    assert_refused(streamed("--key-file", "key"), "key_file_not_private", "key", "600")


def test_a_key_file_and_a_seed_exclude_each_other(streamed: Run) -> None:
    result = streamed("--key-file", "key", "--seed", "1")
    assert_refused(result, "options_exclude_each_other", "--key-file", "--seed")


@pytest.mark.parametrize("more", [("--transcript",), ("--out", "reports.csv")])
def test_a_key_file_is_for_streams_only(more: tuple[str, ...], streamed: Run) -> None:
    result = streamed("--key-file", "key", *more)
    assert_refused(result, "option_unsuitable", "--key-file")


def test_what_needs_all_reports_at_once_still_works(folder: Path, streamed: Run) -> None:
    assert streamed("--transcript", "--mechanism", "tp").exit_code == 0
    table = pq.read_table(folder / "reports.parquet")
    assert table.column_names == ["tid", "location_ids", "transcript"]
    assert as_json(streamed("--out", "reports.csv", "--json"))["trajectories"] == COUNT


def stopped(streamed: Run, monkeypatch: pytest.MonkeyPatch, *more: str):
    """A run that is interrupted in its third part."""
    write_part = Unfinished.write_part

    def interrupted(self: Unfinished, k: int, *rest: Any) -> None:
        if k == 2:
            raise KeyboardInterrupt
        write_part(self, k, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(Unfinished, "write_part", interrupted)
        return streamed(*more)


def test_an_interrupted_run_says_where_it_stopped_and_goes_on(
    folder: Path, streamed: Run, monkeypatch: pytest.MonkeyPatch, wording: Any
) -> None:
    result = stopped(streamed, monkeypatch)
    assert result.exit_code == 130
    wording("cli", "perturb, interrupted", result.stderr)
    assert not (folder / "reports.parquet").exists()
    again = streamed("--json")
    assert as_json(again)["resumed_from"] == 20
    wording("cli", "perturb, resumed", again.stderr)
    assert pq.read_metadata(folder / "reports.parquet").num_rows == COUNT


def test_another_epsilon_does_not_go_on_with_an_unfinished_run(
    streamed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(streamed, monkeypatch)
    assert_refused(streamed("--epsilon", "5"), "another_job_begun", "reports.parquet.partial")
    assert streamed().exit_code == 0


def test_single_points_have_to_be_accepted_before_anything_is_made(
    folder: Path, streamed: Run
) -> None:
    write(folder / "trips.parquet", [["place-a"], ["place-a", "place-b"]])
    assert_refused(streamed("--mechanism", "atp"), "single_points", "1 of 2")
    assert not list(folder.glob("reports*"))
    assert streamed("--mechanism", "atp", "--single-points").exit_code == 0


@pytest.mark.parametrize(
    ("lists", "tids", "code"),
    [
        ([["place-a", "SECRET"]], ["t"], "unknown_locations"),
        ([["place-a"], ["place-b"]], ["SECRET", "SECRET"], "tid_repeated"),
        ([["place-a"], []], ["SECRET", "b"], "empty_trajectories"),
    ],
)
def test_bad_trajectories_are_refused_unquoted_and_nothing_is_made(
    lists: list[list[str]], tids: list[str], code: str, folder: Path, streamed: Run
) -> None:
    write(folder / "trips.parquet", lists, tids)
    result = streamed()
    assert_refused(result, code, "1", "2")
    assert "SECRET" not in result.stderr
    assert not list(folder.glob("*reports*"))


def test_a_variant_that_is_not_private_has_to_be_accepted(folder: Path, streamed: Run) -> None:
    result = streamed("--mechanism", "tp-as-published-not-private")
    assert_refused(result, "mechanism_not_private", "--accept-not-private", exit_code=1)
    assert not list(folder.glob("*reports*"))
    accepted = streamed("--mechanism", "tp-as-published-not-private", "--accept-not-private")
    assert accepted.stderr.count("\n") == 1
    metadata = json.loads(pq.read_schema(folder / "reports.parquet").metadata[b"nomadp"])
    assert metadata["private"] is False
