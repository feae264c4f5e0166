"""``nomadp decode``: reports become estimates, with the law that made them and no other."""

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import PLACES, Run, as_json, assert_refused, write


@pytest.fixture
def decode(run: Run) -> Run:
    def invoke(*more: str, reports: str = "reports.csv"):
        return run(
            "decode",
            reports,
            "--locations",
            "places.csv",
            "--out",
            "where.csv",
            "--overwrite",
            *more,
        )

    return invoke


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", ["atlas", "exp", "brr", "l-srr"])
@pytest.mark.parametrize("prior", ["uniform", "fitted"])
def test_every_reported_point_gets_a_place_and_a_radius(
    name: str, prior: str, folder: Path, perturb: Run, decode: Run
) -> None:
    assert perturb("--mechanism", name).exit_code == 0
    content = as_json(decode("--prior", prior, "--json"))
    assert (content["reports"], content["points"], content["mechanism"]) == (3, 7, name)
    assert content["prior_converged"] is (None if prior == "uniform" else True)
    assert content["prior_effect_std"] is None  # three reports tell nothing
    estimates = rows(folder / "where.csv")
    columns = ["tid", "seq", "location_id", "lat", "lng", "radius_km"]
    assert list(estimates[0]) == columns
    reported = rows(folder / "reports.csv")
    assert [(row["tid"], row["seq"]) for row in estimates] == [
        (row["tid"], row["seq"]) for row in reported
    ]
    places = {row["location_id"]: row for row in rows(folder / "places.csv")}
    for row in estimates:
        assert float(row["lat"]) == float(places[row["location_id"]]["lat"])
        assert float(row["radius_km"]) >= 0
    mean = sum(float(row["radius_km"]) for row in estimates) / 7
    assert content["mean_radius_km"] == pytest.approx(mean)


def test_says_whether_reports_told_anything(folder: Path, perturb: Run, decode: Run) -> None:
    assert perturb("--epsilon", "20", "--mechanism", "brr").exit_code == 0
    assert as_json(decode("--prior", "fitted", "--json"))["prior_effect_std"] is None
    told_nothing, flat = decode("--prior", "fitted").stdout, decode("--prior", "uniform").stdout
    assert told_nothing.startswith(flat)
    assert told_nothing.count("\n") == flat.count("\n") + 1
    lines = [f"t{k},{seq},{PLACES[0]}" for k in range(300) for seq in range(2)]
    write(folder / "trips.csv", "tid,seq,location_id", *lines)
    assert perturb("--epsilon", "20", "--mechanism", "brr").exit_code == 0
    assert decode("--prior", "fitted").stdout.count("\n") == flat.count("\n")
    assert as_json(decode("--prior", "fitted", "--json"))["prior_effect_std"] > 0


def test_a_higher_level_has_a_wider_radius(perturb: Run, decode: Run) -> None:
    assert perturb("--epsilon", "1").exit_code == 0
    radii = [
        as_json(decode("--level", level, "--json"))["mean_radius_km"]
        for level in ("0.1", "0.5", "1")
    ]
    assert radii == sorted(radii)
    assert radii[0] < radii[2]


def test_large_epsilons_are_decoded_to_what_was_reported(
    folder: Path, perturb: Run, decode: Run
) -> None:
    assert perturb("--epsilon", "20").exit_code == 0
    assert decode().exit_code == 0
    names = [
        [row["location_id"] for row in rows(folder / f"{name}.csv")]
        for name in ("where", "reports")
    ]
    assert names[0] == names[1]


def test_estimates_can_be_evaluated(perturb: Run, decode: Run, run: Run) -> None:
    perturb("--keep-tids")
    decode()
    content = as_json(
        run("evaluate", "trips.csv", "where.csv", "--locations", "places.csv", "--json")
    )
    assert content["points"] == 7


def test_says_what_was_done_and_writes_it_into_the_file(
    folder: Path, perturb: Run, decode: Run, wording: Any
) -> None:
    perturb("--out", "reports.parquet", "--seed", "1")
    more = ("--prior", "fitted", "--out", "where.parquet")
    wording("cli", "decode", decode(*more, reports="reports.parquet").stdout)
    assert decode("--out", "where.parquet", reports="reports.parquet").exit_code == 0
    content = json.loads(pq.read_schema(folder / "where.parquet").metadata[b"nomadp"])
    assert (content["prior"], content["level"], content["epsilon"]) == ("uniform", 0.9, "4")


def test_reports_that_say_nothing_need_to_be_told_about(
    folder: Path, perturb: Run, decode: Run
) -> None:
    perturb()
    (folder / "reports.csv.meta.json").unlink()
    assert_refused(decode(), "option_missing", "--epsilon")
    content = as_json(decode("--epsilon", "4", "--json"))
    assert content["mechanism"] == "atlas"


MISMATCHES: dict[str, tuple[Any, ...]] = {
    "epsilon": ((), ("--epsilon", "2"), "reports_of_another_mechanism", "epsilon=4"),
    "mechanism": (
        (),
        ("--mechanism", "exp"),
        "reports_of_another_mechanism",
        "mechanism=atlas",
    ),
    "a variant": ((), ("--size", "60"), "reports_of_another_mechanism", "size=None"),
    "a variant left to its default": (
        ("--mechanism", "brr", "--near-count", "2"),
        ("--near-count", "3"),
        "reports_of_another_mechanism",
        "near_count=2",
    ),
    "not decodable": (("--mechanism", "tp"), (), "mechanism_not_decodable", "tp"),
    "level": ((), ("--level", "1.5"), "option_out_of_range", "'--level'", "1.5"),
    "level NaN": ((), ("--level", "nan"), "option_out_of_range", "'--level'", "nan"),
    "over the input": ((), ("--out", "reports.csv"), "output_is_an_input", "--out"),
    "of unknown kind": ((), ("--out", "where.xlsx"), "unknown_suffix", "where.xlsx"),
}


@pytest.mark.parametrize("name", MISMATCHES)
def test_refuses_what_does_not_fit_the_reports(
    name: str, folder: Path, perturb: Run, decode: Run
) -> None:
    made_with, options, *says = MISMATCHES[name]
    assert perturb(*made_with).exit_code == 0
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert_refused(decode(*options), *says)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_the_options_of_the_reports_are_taken_from_their_file(
    perturb: Run, decode: Run
) -> None:
    assert perturb("--size", "60", "--near-count", "7", "--epsilon", "1/3").exit_code == 0
    params = as_json(decode("--json"))["params"]
    assert params == {
        "epsilon": "1/3",
        "size": 60,
        "near_count": 7,
        "control_points": None,
    }


def test_reports_of_another_version_are_refused(
    folder: Path, perturb: Run, decode: Run
) -> None:
    perturb()
    beside = folder / "reports.csv.meta.json"
    content: dict[str, Any] = json.loads(beside.read_text())
    beside.write_text(json.dumps(content | {"mechanism_version": 99}))
    assert_refused(decode(), "reports_of_another_mechanism", "mechanism_version=99")


def test_reports_of_another_map_are_refused(folder: Path, perturb: Run, decode: Run) -> None:
    perturb()
    elsewhere = [f"{name},{k},1" for k, name in enumerate(PLACES)]
    write(folder / "others.csv", "location_id,lat,lng", *elsewhere)
    refused = decode("--locations", "others.csv")
    assert_refused(refused, "reports_of_other_locations", "reports.csv")


def test_estimates_are_not_decoded_again(perturb: Run, decode: Run) -> None:
    perturb("--mechanism", "exp")
    decode()
    result = decode("--out", "again.csv", reports="where.csv")
    assert_refused(result, "estimates_not_reports", "where.csv")


def test_reports_of_a_pinned_atlas_need_that_atlas(perturb: Run, decode: Run, run: Run) -> None:
    for size in ("5", "6"):
        run(
            *("codebook", "build", "--locations", "places.csv", "--length", "2", "3"),
            *("--epsilon", "4", "--size", size, "--out", f"{size}.parquet"),
        )
    assert perturb("--codebook", "5.parquet").exit_code == 0
    code = "reports_of_another_codebook"
    assert_refused(decode(), code, "--codebook")
    assert_refused(decode("--codebook", "6.parquet"), code)
    assert as_json(decode("--codebook", "5.parquet", "--json"))["points"] == 7
    assert perturb("--size", "5").exit_code == 0
    assert_refused(decode("--codebook", "5.parquet"), code)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["atlas", "exp"])
def test_single_points_and_long_tracks_come_back_at_their_length(
    mechanism: str, folder: Path, perturb: Run, decode: Run
) -> None:
    lengths = {"short": 1, "long": 30, "longest": 200}
    lines = [
        f"{tid},{seq},{PLACES[seq // 7 % 9]}" for tid, n in lengths.items() for seq in range(n)
    ]
    write(folder / "trips.csv", "tid,seq,location_id", *lines)
    smaller = ("--size", "500") if mechanism == "atlas" else ()
    assert perturb("--mechanism", mechanism, "--keep-tids", *smaller).exit_code == 0
    assert as_json(decode("--json"))["points"] == 231
    tids = [row["tid"] for row in rows(folder / "where.csv")]
    assert {tid: tids.count(tid) for tid in lengths} == lengths


def test_a_forged_report_is_left_out_and_this_is_said(
    folder: Path, perturb: Run, decode: Run
) -> None:
    assert perturb("--keep-tids", "--size", "40").exit_code == 0
    estimates = rows(folder / "reports.csv")
    for row in estimates:
        if row["tid"] == "t2":
            row["number"] = str((int(row["number"]) + 1) % 40)
    lines = [",".join(row.values()) for row in estimates]
    write(folder / "reports.csv", "tid,seq,location_id,number", *lines, "t9,0,nowhere,1")
    result = decode("--json")
    content = as_json(result)
    assert (content["reports"], content["points"]) == (2, 5)
    assert sorted(content["refused"].values()) == [1, 1]
    # One line, which names both reasons.
    (line,) = decode().stderr.splitlines()
    assert all(why in line for why in content["refused"])
    assert {row["tid"] for row in rows(folder / "where.csv")} == {"t1", "t3"}


def test_reports_of_which_none_can_be_are_refused_and_nothing_is_written(
    folder: Path, perturb: Run, decode: Run
) -> None:
    assert perturb("--keep-tids", "--size", "40").exit_code == 0
    reports = [row | {"number": "39999"} for row in rows(folder / "reports.csv")]
    lines = [",".join(row.values()) for row in reports]
    write(folder / "reports.csv", "tid,seq,location_id,number", *lines)
    assert_refused(decode(), "impossible_reports", "3")
    assert not (folder / "where.csv").exists()


def test_a_header_without_measure_is_refused_at_once(
    folder: Path, perturb: Run, decode: Run
) -> None:
    assert perturb().exit_code == 0
    beside = folder / "reports.csv.meta.json"
    content = json.loads(beside.read_text())
    content["params"]["size"] = 10**12
    beside.write_text(json.dumps(content))
    assert_refused(decode(), "header_field_out_of_range", "reports.csv", "size")


@pytest.mark.parametrize("mechanism", ["tp", "atp"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_transcripts_are_kept_when_asked_for_and_decoded(
    mechanism: str, suffix: str, perturb: Run, decode: Run, run: Run
) -> None:
    file = f"reports.{suffix}"
    assert perturb("--mechanism", mechanism, "--out", file).exit_code == 0
    assert_refused(decode(reports=file), "mechanism_not_decodable", mechanism)
    arguments = ("--transcript", "--keep-tids", "--out", file)
    assert perturb("--mechanism", mechanism, *arguments).exit_code == 0
    assert as_json(decode("--json", reports=file))["points"] == 7
    scores = run("evaluate", "trips.csv", "where.csv", "--locations", "places.csv", "--json")
    assert as_json(scores)["points"] == 7


def test_a_folder_as_a_cluster_writes_it_is_decoded(decode: Run) -> None:
    old = Path(__file__).parent.parent / "reports" / "old"
    places = ("--locations", str(old / "places.csv"), "--json")
    content = as_json(decode(*places, reports=str(old / "folder.parquet")))
    assert (content["reports"], content["mechanism"]) == (6, "brr")
