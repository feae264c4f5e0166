"""``nomadp evaluate``: scores of reports, matched by tid, beside the floors."""

import json
from pathlib import Path
from typing import Any

import pytest

from nomadp.analysis import constant_answer, uniform_answer
from nomadp.formats.location_files import read_locations
from nomadp.formats.point_files import read_trajectories
from tests.cli.conftest import Run, as_json, assert_refused, write

EVALUATE = ("evaluate", "trips.csv", "reports.csv", "--locations", "places.csv")


def test_the_truth_reported_in_another_order_has_no_error(folder: Path, run: Run) -> None:
    write(
        folder / "reports.csv",
        "tid,seq,location_id",
        *("t3,0,place-b", "t3,1,place-b", "t2,0,place-c", "t2,1,place-g"),
        *("t1,0,place-a", "t1,1,place-e", "t1,2,place-i"),
    )
    scores = as_json(run(*EVALUATE, "--json"))["scores"]
    assert scores["reported"]["normalised_error"] == 0
    assert scores["reported"]["range_query_percent"] == {"1": 100, "2": 100, "4": 100}


def test_the_floors_stand_beside_the_scores(folder: Path, perturb: Run, run: Run) -> None:
    assert perturb("--seed", "1", "--keep-tids").exit_code == 0
    scores = as_json(run(*EVALUATE, "--json", "--radius-km", "0.5", "3"))["scores"]
    world = read_locations(folder / "places.csv")
    true, _ = read_trajectories(folder / "trips.csv", world)
    for name, floor in (("constant", constant_answer), ("uniform", uniform_answer)):
        expected = floor(world, true, [0.5, 3])
        assert scores[name]["normalised_error"] == expected.normalised_error
        assert list(scores[name]["range_query_percent"].values()) == list(expected.range_query)


def test_the_table_names_both_floors_and_every_radius(
    perturb: Run, run: Run, wording: Any
) -> None:
    perturb("--seed", "1", "--keep-tids")
    result = run(*EVALUATE)
    assert result.exit_code == 0
    wording("cli", "evaluate", result.stdout)


def test_refuses_reports_made_with_other_locations(
    folder: Path, perturb: Run, run: Run
) -> None:
    perturb("--keep-tids")
    places = (folder / "places.csv").read_text()
    (folder / "places.csv").write_text(places.replace("40.0,", "40.001,"))
    assert_refused(run(*EVALUATE), "reports_of_other_locations", "reports.csv")


def test_reports_under_random_ids_are_refused_with_a_way_out(
    folder: Path, perturb: Run, run: Run
) -> None:
    perturb()
    assert_refused(run(*EVALUATE), "random_ids", "--keep-tids")
    (folder / "reports.csv.meta.json").unlink()
    assert_refused(run(*EVALUATE), "tids_differ", "3 of 3")


@pytest.mark.parametrize(
    "name", ["points.csv", "points.parquet", "lists.parquet", "folder.parquet"]
)
def test_files_of_before_are_evaluated(name: str, run: Run) -> None:
    old = Path(__file__).parent.parent / "reports" / "old"
    files = [str(old / each) for each in ("trips.csv", name, "places.csv")]
    content = as_json(run("evaluate", *files[:2], "--locations", files[2], "--json"))
    assert content["points"] == 18


def test_refuses_reports_of_another_length(folder: Path, perturb: Run, run: Run) -> None:
    perturb("--keep-tids")
    reports = (folder / "reports.csv").read_text().splitlines()
    write(folder / "reports.csv", *reports[:-1])
    assert_refused(run(*EVALUATE), "lengths_differ", "1 of 3")


def test_refuses_damaged_metadata(folder: Path, perturb: Run, run: Run) -> None:
    perturb("--keep-tids")
    (folder / "reports.csv.meta.json").write_text("{")
    assert_refused(run(*EVALUATE), "metadata_unreadable", "reports.csv")


def test_reports_without_metadata_can_be_evaluated(
    folder: Path, perturb: Run, run: Run
) -> None:
    perturb("--keep-tids")
    (folder / "reports.csv.meta.json").unlink()
    assert run(*EVALUATE).exit_code == 0


@pytest.mark.parametrize("radius", ["0", "-1", "nan", "inf", "wide"])
def test_refuses_a_radius_that_is_none(radius: str, perturb: Run, run: Run) -> None:
    perturb("--keep-tids")
    refused = run(*EVALUATE, "--radius-km", radius)
    assert_refused(refused, "option_out_of_range", "'--radius-km'", radius)


def test_json_is_strict(perturb: Run, run: Run) -> None:
    perturb("--keep-tids")
    content = run(*EVALUATE, "--json").stdout
    json.loads(content, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
