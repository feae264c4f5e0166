"""``nomadp plan``: the better mechanism for a query, and the smallest epsilon for a goal."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, as_json, assert_refused

MAP = ("--locations", "places.csv")


def test_finds_the_smallest_epsilon_for_an_error(run: Run, wording: Any) -> None:
    arguments = ("plan", "--mechanism", "exp", "--length", "1", *MAP, "--error-km", "0.5")
    content = as_json(run(*arguments, "--json"))
    assert content["verdict"] == "found"
    assert content["at"]["answers"]["decoded"]["error_km"] <= 0.5
    assert content["below"]["answers"]["decoded"]["error_km"] > 0.5
    wording("cli", "plan, a goal", run(*arguments).stdout)
    less = ("--epsilon", content["epsilon"], "--length", "1", *MAP, "--json")
    there = as_json(run("explain", "--mechanism", "exp", *less))["utility"]["answers"]
    assert there["decoded"]["error_km"] == content["at"]["answers"]["decoded"]["error_km"]


def test_finds_the_smallest_epsilon_for_a_percentage(run: Run) -> None:
    arguments = ("--mechanism", "exp", "--length", "1", *MAP, "--percent", "80")
    content = as_json(run("plan", *arguments, "--within-km", "1", "--json"))
    assert (content["verdict"], content["goal"]["percent"]) == ("found", 80)
    assert content["at"]["answers"]["decoded"]["within_percent"][0] >= 80


@pytest.mark.slow
def test_says_when_no_report_is_needed_and_when_none_is_enough(run: Run, wording: Any) -> None:
    easy = ("--mechanism", "exp", "--error-km", "100")
    hard = ("--mechanism", "exp", "--percent", "100", "--within-km", "0.1")
    for asked, verdict in ((easy, "not needed"), (hard, "out of reach")):
        assert as_json(run("plan", *MAP, *asked, "--json"))["verdict"] == verdict
        wording("cli", f"plan, a goal that is {verdict}", run("plan", *MAP, *asked).stdout)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((*MAP,), ("not_one_goal", "--query", "--error-km", "--percent")),
        ((*MAP, "--percent", "1", "--error-km", "1"), ("not_one_goal",)),
        (("--error-km", "1", "--length", "3"), ("option_missing", "--locations")),
        ((*MAP, "--percent", "50"), ("options_not_paired", "--percent", "--within-km")),
        ((*MAP, "--percent", "50", "--within-km", "1", "2"), ("options_not_paired",)),
        ((*MAP, "--error-km", "1", "--within-km", "1"), ("options_exclude_each_other",)),
        (
            ("--query", "flows", "--people", "9", "--epsilon", "1", "--within-km", "1"),
            ("options_exclude_each_other", "--within-km"),
        ),
        ((*MAP, "--percent", "0", "--within-km", "1"), ("option_out_of_range", "'--percent'")),
        (
            (*MAP, "--percent", "nan", "--within-km", "1"),
            ("option_out_of_range", "'--percent'", "nan"),
        ),
        ((*MAP, "--error-km", "-1"), ("option_out_of_range", "'--error-km'", "-1")),
    ],
)
def test_refuses_goals_that_make_no_sense(
    arguments: tuple[str, ...], says: tuple[str, ...], run: Run
) -> None:
    assert_refused(run("plan", *arguments), *says)


def test_names_the_better_mechanism_for_a_query_and_what_to_run(run: Run, wording: Any) -> None:
    arguments = ("plan", "--query", "flows", "--people", "3000", "--epsilon", "4", *MAP)
    content = as_json(run(*arguments, "--zones", "grid:2", "--json"))
    errors = content["errors"]
    best = "trips" if errors["oracle"] <= errors["atlas"] else "atlas"
    assert content["better"] == best
    assert f"--mechanism {best}" in content["run"][0] or best == "atlas"
    text = run(*arguments, "--zones", "grid:2").stdout
    assert f"{100 * errors['baseline']:.2f}" in text
    assert all(command in text for command in content["run"])
    wording("cli", "plan, a query", text)


def test_trajectories_are_what_atlas_is_for(run: Run, wording: Any) -> None:
    content = as_json(run("plan", "--query", "trajectories", "--epsilon", "4", "--json"))
    assert content["better"] == "atlas"
    assert any("nomadp decode" in command for command in content["run"])
    text = run("plan", "--query", "trajectories", "--epsilon", "4").stdout
    wording("cli", "plan, trajectories", text)


@pytest.mark.parametrize(
    ("arguments", "code", "missing"),
    [
        (("--query", "flows", "--epsilon", "4"), "option_missing", "--people"),
        (("--query", "hotspots", "--people", "10"), "option_missing", "--epsilon"),
        ((*MAP, "--error-km", "1", "--people", "10"), "options_not_paired", "--query"),
        ((*MAP, "--error-km", "1", "--epsilon", "1"), "options_not_paired", "--query"),
    ],
)
def test_a_query_needs_people_and_epsilon_and_a_goal_neither(
    run: Run, arguments: tuple[str, ...], code: str, missing: str
) -> None:
    assert_refused(run("plan", *arguments), code, missing)


def test_areas_that_are_too_fine_come_with_larger_ones_and_commands_for_those(
    run: Run, wording: Any
) -> None:
    arguments = ("plan", "--query", "density", "--people", "300", "--epsilon", "1", *MAP)
    content = as_json(run(*arguments, "--areas", "grid:3", "--json"))
    assert not content["feasible"]
    text = run(*arguments, "--areas", "grid:3").stdout
    (enough,) = (
        each
        for number in re.findall(r"[\d,]{4,}", text)
        if content["people_needed"]
        <= (each := int(number.replace(",", "")))
        < 1.1 * content["people_needed"] + 1
    )
    assert enough % 100 == 0
    wording("cli", "plan, a query that is not feasible", text)


def test_areas_of_ones_own_are_called_by_their_file_and_not_by_a_hash(
    run: Run, tmp_path: Path
) -> None:
    ring = [[-75, 39], [-73.99, 39], [-73.99, 41], [-75, 41], [-75, 39]]
    west = {"type": "Polygon", "coordinates": [ring]}
    areas = {"type": "Feature", "geometry": west, "properties": {"name": "west"}}
    (tmp_path / "districts.geojson").write_text(json.dumps(areas))
    arguments = ("plan", "--query", "hotspots", "--people", "300", "--epsilon", "4", *MAP)
    result = run(*arguments, "--areas", "districts.geojson")
    assert "districts.geojson" in result.stdout
    assert "polygons:" not in result.stdout
    content = as_json(run(*arguments, "--areas", "districts.geojson", "--json"))
    assert content["zones"].startswith("polygons:")


@pytest.mark.parametrize("query", ["trajectories", "hotspots", "density", "flows"])
def test_the_commands_that_are_named_can_be_run(run: Run, query: str) -> None:
    arguments = ("plan", "--query", query, "--people", "3000", "--epsilon", "4", *MAP)
    content = as_json(run(*arguments, "--zones", "grid:2", "--json"))
    for command in content["run"]:
        result = run(*shlex.split(command)[1:])
        assert result.exit_code == 0, result.stderr
