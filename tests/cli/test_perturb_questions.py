"""``nomadp perturb`` asks directly: labels leave, and neither places nor times do."""

import csv
from pathlib import Path

import pytest

from nomadp.formats.location_files import read_locations
from nomadp.reports import read_reports
from tests.cli.conftest import Run, as_json, assert_refused, write


@pytest.mark.parametrize("name", ["trips", "starts", "ends", "visits"])
@pytest.mark.parametrize("when", [[], ["--when", "weekday"]], ids=["anytime", "weekday"])
def test_a_question_is_asked_of_every_trajectory(
    name: str, when: list[str], folder: Path, perturb: Run
) -> None:
    arguments = ["--mechanism", name, "--zones", "grid:3", *when]
    summary = as_json(perturb(*arguments, "--time-zone", "America/New_York", "--json"))
    assert (summary["trajectories"], summary["points"], summary["mechanism"]) == (3, 7, name)
    with (folder / "reports.csv").open(newline="", encoding="utf-8") as file:
        assert next(csv.reader(file)) == ["tid", "seq", "value"]
    reports = read_reports(folder / "reports.csv", read_locations(folder / "places.csv"))
    made = reports.header.mechanism_for(read_locations(folder / "places.csv"))
    assert len(reports) == 3
    assert made.label_count == 9 ** (1 + (name == "trips")) * (7 if when else 1)
    content = (folder / "reports.csv").read_text()
    content += (folder / "reports.csv.meta.json").read_text()
    assert not [word for word in ("zoe", "2012-", "place-") if word in content]


def test_answers_to_a_question_are_not_decoded(perturb: Run, run: Run) -> None:
    assert perturb("--mechanism", "starts").exit_code == 0
    result = run("decode", "reports.csv", "--locations", "places.csv", "--out", "decoded.csv")
    assert_refused(result, "frequency_oracle_unsupported", "starts", "nomadp query")


ABROAD = "--time-zone", "Asia/Tokyo"
NAIVE = "2024-06-03T07:30:00", ABROAD
OFFSET = "2024-06-03T07:30:00+09:00", ()


@pytest.mark.parametrize(("moment", "zone"), [NAIVE, OFFSET], ids=["option", "offset"])
@pytest.mark.parametrize("out", ["made.csv", "made.parquet", "made.geojson", "made"])
def test_converted_files_are_counted_by_the_clock(
    moment: str, zone: tuple[str, ...], out: str, folder: Path, run: Run
) -> None:
    rows = [f"t{k},{moment},40.0,-74.0" for k in range(40)]
    write(folder / "morning.csv", "tid,datetime,lat,lng", *rows)
    to = () if Path(out).suffix else ("--locations", "places.csv")
    assert run("data", "convert", "morning.csv", *zone, *to, "--out", out).exit_code == 0
    arguments = ("--mechanism", "starts", "--zones", "grid:1", "--when", "day-part")
    read = ("--locations", "places.csv", "--epsilon", "8", "--seed", "1")
    done = run("perturb", out, *arguments, *read, "--out", "reports.csv")
    assert done.exit_code == 0, done.stderr
    answer = ("--locations", "places.csv", "--json", "--out", "when.csv")
    top = as_json(run("query", "hotspots", "reports.csv", *answer))["top"]
    share = {row["when"]: row["share"] for row in top}
    assert share["6-12 h"] > 0.8  # in UTC it was 22.30 h


def test_times_in_utc_only_are_refused_where_hours_matter(folder: Path, perturb: Run) -> None:
    arguments = ("--mechanism", "starts", "--zones", "grid:1")
    assert perturb(*arguments).exit_code == 0
    assert_refused(perturb(*arguments, "--when", "day-part"), "hours_unknown", "--time-zone")
    assert perturb(*arguments, "--when", "day-part", "--time-zone", "UTC").exit_code == 0
