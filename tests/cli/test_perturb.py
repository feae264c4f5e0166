"""``nomadp perturb``: what is written, what is said, and what never leaves."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from refusals import json_code, printed_code

from nomadp.formats.location_files import read_locations
from nomadp.mechanisms import EXPERIMENTAL
from tests.cli.conftest import PLACES, Run, as_json, assert_refused, write

NOT_PRIVATE = "tp-as-published-not-private"


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_writes_one_report_of_the_same_length_per_trajectory(
    folder: Path, perturb: Run, wording: Any
) -> None:
    result = perturb("--keep-tids")
    assert result.exit_code == 0
    wording("cli", "perturb", result.stdout + result.stderr)
    reports = rows(folder / "reports.csv")
    assert [row["tid"] for row in reports] == ["t1"] * 3 + ["t2"] * 2 + ["t3"] * 2
    assert [row["seq"] for row in reports] == ["0", "1", "2", "0", "1", "0", "1"]
    assert {row["location_id"] for row in reports} <= set(PLACES)


def test_users_times_and_tids_never_leave(folder: Path, perturb: Run) -> None:
    trips = (folder / "trips.csv").read_text()
    (folder / "trips.csv").write_text(trips.replace(",t1,", ",zoe@home-2012,"))
    assert perturb("--mechanism", "exp").exit_code == 0
    assert list(rows(folder / "reports.csv")[0]) == ["tid", "seq", "location_id"]
    content = (folder / "reports.csv").read_text() + (
        folder / "reports.csv.meta.json"
    ).read_text()
    assert not [word for word in ("zoe", "bob", "-2012", "2012-") if word in content]


def test_the_metadata_says_how_the_reports_were_made(folder: Path, perturb: Run) -> None:
    assert perturb("--epsilon", "0.1").exit_code == 0
    metadata = json.loads((folder / "reports.csv.meta.json").read_text())
    assert metadata["mechanism"] == "atlas"
    assert metadata["mechanism_version"] == 3
    assert metadata["epsilon"] == "1/10"
    assert metadata["rng"] == "system"
    assert metadata["private"] is True
    assert metadata["location_set_sha256"] == read_locations(folder / "places.csv").sha256


def test_parquet_carries_the_same_metadata_inside(folder: Path, perturb: Run) -> None:
    assert perturb("--out", "reports.parquet", "--seed", "1").exit_code == 0
    table = pq.read_table(folder / "reports.parquet")
    assert table.column_names == ["tid", "location_ids", "number"]
    assert json.loads(table.schema.metadata[b"nomadp"])["rng"] == "simulated"


def test_a_seed_repeats_the_reports_and_marks_them(
    folder: Path, perturb: Run, wording: Any
) -> None:
    first, second = (
        (perturb("--seed", "7"), (folder / "reports.csv").read_bytes()) for _ in range(2)
    )
    assert first[1] == second[1]
    wording("cli", "perturb, with a seed", first[0].stderr)
    metadata = json.loads((folder / "reports.csv.meta.json").read_text())
    assert (metadata["rng"], metadata["private"]) == ("simulated", False)


def test_without_a_seed_two_runs_differ_and_warn_of_nothing(folder: Path, perturb: Run) -> None:
    lines = ["tid,seq,location_id"]
    lines += [f"t{k},{seq},{PLACES[(k + seq) % 9]}" for k in range(30) for seq in range(3)]
    write(folder / "trips.csv", *lines)
    results = [(perturb(), (folder / "reports.csv").read_bytes()) for _ in range(2)]
    assert results[0][1] != results[1][1]
    assert len(results[0][0].stderr.splitlines()) == 1  # the columns


def test_json_tells_the_same_as_the_metadata(folder: Path, perturb: Run) -> None:
    options = ("--mechanism", "atp", "--merge", "direction", "--granularity", "6")
    summary = as_json(perturb("--json", *options))
    metadata = json.loads((folder / "reports.csv.meta.json").read_text())
    assert metadata.items() <= summary.items()
    assert summary["params"]["merge"] == "direction"
    assert summary["params"]["granularity"] == 6
    assert (summary["trajectories"], summary["points"]) == (3, 7)


def test_says_which_columns_it_read(perturb: Run) -> None:
    (line,) = perturb().stderr.splitlines()
    assert "uid, tid, seq, location_id" in line


def test_coordinates_are_moved_to_the_nearest_place_and_this_is_said(
    folder: Path, perturb: Run, wording: Any
) -> None:
    write(
        folder / "trips.csv",
        "uid,tid,datetime,lat,lng",
        "zoe,t1,2012-04-03T19:00:00Z,40.0001,-74.0",
        "zoe,t1,2012-04-03T18:00:00Z,40.3,-74.0",
    )
    result = perturb("--json")
    assert as_json(result)["snapped"]["points"] == 2
    wording("cli", "perturb, coordinates", result.stderr)


def test_reports_have_random_ids_in_their_own_order(folder: Path, perturb: Run) -> None:
    assert as_json(perturb("--json"))["linked"] is False
    reports = rows(folder / "reports.csv")
    ids = list(dict.fromkeys(row["tid"] for row in reports))
    assert ids == sorted(ids)
    assert [len(bytes.fromhex(one)) for one in ids] == [16, 16, 16]
    first_ids = ids
    perturb()
    assert not set(first_ids) & {row["tid"] for row in rows(folder / "reports.csv")}


def test_a_variant_that_is_not_private_has_to_be_accepted(folder: Path, perturb: Run) -> None:
    result = perturb("--mechanism", NOT_PRIVATE)
    code = "mechanism_not_private"
    assert_refused(result, code, NOT_PRIVATE, "--accept-not-private", exit_code=1)
    assert not list(folder.glob("*reports*"))


def test_an_accepted_variant_is_marked_and_its_loss_printed(
    folder: Path, perturb: Run, wording: Any
) -> None:
    result = perturb("--mechanism", NOT_PRIVATE, "--accept-not-private")
    assert result.exit_code == 0
    wording("cli", "perturb, not in private", result.stderr)
    assert json.loads((folder / "reports.csv.meta.json").read_text())["private"] is False


@pytest.mark.parametrize(
    ("mechanism", "options"),
    [
        ("brr", {"near_count": 2}),
        ("l-srr", {"groups": 3}),
        ("ngram", {"grid": 2, "max_step_km": 2.5}),
    ],
)
def test_the_baselines_and_their_options_are_at_hand(
    mechanism: str, options: dict[str, float], perturb: Run
) -> None:
    spelled = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    summary = as_json(perturb("--mechanism", mechanism, *spelled, "--json"))
    assert summary["private"] is True
    assert options.items() <= summary["params"].items()


@pytest.mark.parametrize("mechanism", EXPERIMENTAL)
def test_what_draws_floats_has_to_be_accepted_and_is_marked(
    mechanism: str, folder: Path, perturb: Run
) -> None:
    refused = perturb("--mechanism", mechanism)
    code = "mechanism_not_private"
    assert_refused(refused, code, mechanism, "--accept-not-private", exit_code=1)
    assert not list(folder.glob("*reports*"))
    accepted = perturb("--mechanism", mechanism, "--accept-not-private")
    assert accepted.exit_code == 0
    assert len(accepted.stderr.splitlines()) == 2  # the columns, and this
    assert json.loads((folder / "reports.csv.meta.json").read_text())["private"] is False


@pytest.mark.parametrize("mechanism", ["tp", "atp"])
def test_single_points_have_to_be_accepted(mechanism: str, folder: Path, perturb: Run) -> None:
    write(folder / "trips.csv", "tid,seq,location_id", "t,0,place-a")
    assert_refused(perturb("--mechanism", mechanism), "single_points", "--single-points")
    assert perturb("--mechanism", mechanism, "--single-points").exit_code == 0
    assert len(rows(folder / "reports.csv")) == 1


@pytest.mark.parametrize("mechanism", ["exp", "brr", "l-srr", "ngram", *EXPERIMENTAL])
def test_without_directions_single_points_are_taken_as_they_are(
    mechanism: str, folder: Path, perturb: Run
) -> None:
    write(folder / "trips.csv", "tid,seq,location_id", "t,0,place-a")
    assert perturb("--mechanism", mechanism, "--accept-not-private").exit_code == 0


def test_failing_randomness_means_no_output(
    folder: Path, perturb: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(count: int) -> bytes:
        raise OSError("no entropy")

    monkeypatch.setattr(os, "urandom", fails)
    assert_refused(perturb(), "randomness_failed", exit_code=1)
    assert not list(folder.glob("*reports*"))


def test_a_failure_while_writing_leaves_the_old_reports_and_nothing_else(
    folder: Path, perturb: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert perturb().exit_code == 0
    before = {path: path.read_bytes() for path in folder.iterdir()}

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    result = perturb("--json")
    assert (result.exit_code, json_code(result.stdout)) == (1, "file_unwritable")
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


MANY = [f"t{k},{seq},{PLACES[k * seq % 9]}" for k in range(150) for seq in range(2 + k % 3)]


@pytest.mark.parametrize(
    "mechanism",
    ["atp", *(pytest.param(name, marks=pytest.mark.slow) for name in ("exp", "tp"))],
)
def test_seeded_reports_are_the_same_in_every_process_and_on_any_number_of_cores(
    mechanism: str, folder: Path
) -> None:
    write(folder / "trips.csv", "tid,seq,location_id", *MANY)
    written = []
    for jobs, hash_seed in (("1", "0"), ("2", "1")):
        subprocess.run(
            [
                *(sys.executable, "-m", "nomadp", "perturb", "trips.csv"),
                *("--locations", "places.csv", "--mechanism", mechanism, "--epsilon", "2"),
                *("--seed", "11", "--jobs", jobs, "--out", f"{jobs}.csv"),
            ],
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            check=True,
            capture_output=True,
        )
        written.append((folder / f"{jobs}.csv").read_bytes())
    assert written[0] == written[1]


def test_many_trajectories_without_numba_hear_what_would_be_faster(
    perturb: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nomadp.mechanisms.dispatch.has_numba", lambda: False)
    assert "nomadp[fast]" not in perturb("--mechanism", "tp", "--single-points").stderr
    monkeypatch.setattr("nomadp.mechanisms.dispatch.FEW", 1)
    assert "nomadp[fast]" in perturb("--mechanism", "tp", "--single-points").stderr


def test_what_is_not_private_is_not_written_even_if_nothing_refused_it_before(
    folder: Path, perturb: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nomadp.cli.perturb.check_private", lambda *_, **__: None)
    result = perturb("--mechanism", "tp-as-published-not-private", "--single-points")
    assert (result.exit_code, printed_code(result.stderr)) == (1, "reports_not_private")
    assert not (folder / "reports.csv").exists()
