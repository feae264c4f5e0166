"""``nomadp perturb`` asks directly: labels leave, and neither places nor times do."""

import csv
from pathlib import Path

import pytest

from nomadp.formats.location_files import read_locations
from nomadp.reports import read_reports
from tests.cli.conftest import Run


@pytest.mark.parametrize("name", ["trips", "starts", "ends", "visits"])
@pytest.mark.parametrize("when", [[], ["--when", "weekday"]], ids=["anytime", "weekday"])
def test_a_question_is_asked_of_every_trajectory(
    name: str, when: list[str], folder: Path, perturb: Run
) -> None:
    asked = ["--mechanism", name, "--zones", "grid:3", *when]
    result = perturb(*asked)
    assert result.exit_code == 0
    assert f"3 trajectories (7 points) perturbed by {name} at epsilon 4" in result.stdout
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
    told = run("decode", "reports.csv", "--locations", "places.csv", "--out", "decoded.csv")
    assert told.exit_code == 2
    assert 'use "nomadp ask"' in told.stderr
