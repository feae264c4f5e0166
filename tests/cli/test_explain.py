"""``nomadp explain``: every share of epsilon, exactly, and the promise in words."""

import json
import re
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from worlds import JOURNEYS

from nomadp.mechanisms import EXPERIMENTAL, MECHANISMS
from tests.cli.conftest import Run, as_json, assert_refused


@pytest.mark.parametrize("mechanism", [*MECHANISMS, *EXPERIMENTAL])
@pytest.mark.parametrize("length", ["1", "2", "5", "100"])
@pytest.mark.parametrize("epsilon", ["0.1", "1/3", "4"])
def test_the_shares_add_up_to_epsilon_exactly(
    mechanism: str, length: str, epsilon: str, run: Run
) -> None:
    told = as_json(
        run(
            "explain",
            "--mechanism",
            mechanism,
            "--epsilon",
            epsilon,
            "--length",
            length,
            "--json",
        )
    )
    shares = [Fraction(step["share"]) * step["count"] for step in told["steps"]]
    assert sum(shares) == Fraction(told["total"]) == Fraction(epsilon)
    for step in told["steps"]:
        assert Fraction(step["share"]) <= Fraction(step["share_at_most"])


def test_atp_spends_what_section_6_of_the_paper_says(run: Run) -> None:
    told = as_json(
        run("explain", "--mechanism", "atp", "--epsilon", "4", "--length", "5", "--json")
    )
    shares = {(step["name"], step["copy"]): step["share"] for step in told["steps"]}
    assert shares["anchor", 1] == "1/8"  # epsilon / 32
    assert shares["radius", 2] == "3/8"
    assert shares["direction", 1] == "9/32"  # 9 epsilon / (32 (n - 1))
    assert shares["pivot", 1] == shares["point", 2] == "3/40"  # 3 epsilon / (32 n)


@pytest.mark.parametrize(
    ("epsilon", "odds"), [("0.1", "1.11"), ("1", "2.72"), ("4", "54.6"), ("10", "22026.47")]
)
def test_the_odds_are_rounded_up(epsilon: str, odds: str, run: Run) -> None:
    asked = ("explain", "--epsilon", epsilon, "--length", "3")
    assert as_json(run(*asked, "--json"))["odds_at_most"] == odds
    assert f" {odds} " in run(*asked).stdout


def test_says_what_is_not_covered(run: Run, wording: Any) -> None:
    asked = ("explain", "--mechanism", "tp", "--epsilon", "1", "--length", "3")
    assert len(as_json(run(*asked, "--json"))["not_covered"]) == 3
    wording("cli", "explain", run(*asked).stdout)


def test_fewer_directions_change_the_split(run: Run) -> None:
    arguments = ("--mechanism", "atp", "--epsilon", "1", "--length", "4", "--json")
    both, preceding = (
        as_json(run("explain", *arguments, *options))
        for options in ((), ("--directions", "preceding"))
    )
    draws = [sum(step["count"] for step in told["steps"]) for told in (both, preceding)]
    assert draws[0] > draws[1]
    assert both["total"] == preceding["total"] == "1"


def test_a_number_of_locations_needs_no_map(run: Run) -> None:
    arguments = ("--mechanism", "brr", "--near-count", "50", "--epsilon", "1", "--length", "3")
    assert as_json(run("explain", *arguments, "--json"))["params"]["near_count"] == 50


@pytest.mark.parametrize("name", ["atp-as-published-not-private", *EXPERIMENTAL])
def test_promises_nothing_for_what_is_not_private(run: Run, name: str) -> None:
    told = as_json(
        run("explain", "--mechanism", name, "--epsilon", "1", "--length", "3", "--json")
    )
    assert told["private"] is False
    assert told["odds_at_most"] is None


MAP = ("--locations", "places.csv")


@pytest.mark.parametrize(
    ("epsilon", "grown"),
    [("1", ["2.7", "23.2", "73.2"]), ("4", ["35.6", "85.9", "98.3"]), ("20", ["100"] * 3)],
)
def test_says_how_far_a_suspicion_can_grow_and_rounds_up(
    epsilon: str, grown: list[str], run: Run
) -> None:
    told = as_json(run("explain", "--epsilon", epsilon, "--length", "3", "--json"))
    assert list(told["posterior_bounds"].values()) == grown
    text = run("explain", "--epsilon", epsilon, "--length", "3").stdout
    assert all(f"{percent} %" in text for percent in grown)


@pytest.mark.parametrize(
    ("length", "mechanism"),
    [
        ("1", "exp"),
        ("3", "atlas"),
        *(
            pytest.param(length, name, marks=pytest.mark.slow)
            for name in (*JOURNEYS, *EXPERIMENTAL)
            for length in ("1", "3")
            if (length, name) not in (("1", "exp"), ("3", "atlas"))
        ),
    ],
)
def test_tells_the_error_on_a_map_beside_the_constant(
    mechanism: str, length: str, run: Run
) -> None:
    arguments = ("explain", "--mechanism", mechanism, "--epsilon", "4", "--length", length)
    told = as_json(run(*arguments, *MAP, "--within-km", "1", "2", "--json"))
    found = told["calibration"]
    assert found["radii_km"] == [1, 2]
    assert found["length"] == int(length)
    assert {"reported", "constant"} <= found["answers"].keys()
    assert ("decoded" in found["answers"]) == (mechanism in ("atlas", "exp", "brr", "l-srr"))


def test_the_table_says_what_walks_are_not(run: Run, wording: Any) -> None:
    wording("cli", "explain, on a map", run("explain", "--epsilon", "4", *MAP).stdout)


@pytest.mark.slow
def test_long_tracks_are_shown_without_noise_too(run: Run, wording: Any) -> None:
    asked = ("explain", "--epsilon", "4", *MAP, "--length", "60", "--size", "300")
    assert "without noise" in as_json(run(*asked, "--json"))["calibration"]["answers"]
    wording("cli", "explain, a long track", run(*asked).stdout)


def test_never_reads_a_trajectory(run: Run, folder: Path) -> None:
    before = run("explain", "--epsilon", "4", *MAP).stdout
    (folder / "trips.csv").unlink()
    assert run("explain", "--epsilon", "4", *MAP).stdout == before


def test_finds_the_smallest_epsilon_for_an_error(run: Run, wording: Any) -> None:
    arguments = ("explain", "--mechanism", "exp", "--length", "1", *MAP, "--error-km", "0.5")
    told = as_json(run(*arguments, "--json"))
    assert told["verdict"] == "found"
    assert told["at"]["answers"]["decoded"]["error_km"] <= 0.5
    assert told["below"]["answers"]["decoded"]["error_km"] > 0.5
    wording("cli", "explain, a goal", run(*arguments).stdout)
    less = ("--epsilon", told["epsilon"], "--length", "1", *MAP, "--json")
    there = as_json(run("explain", "--mechanism", "exp", *less))["calibration"]["answers"]
    assert there["decoded"]["error_km"] == told["at"]["answers"]["decoded"]["error_km"]


def test_finds_the_smallest_epsilon_for_a_percentage(run: Run) -> None:
    arguments = ("--mechanism", "exp", "--length", "1", *MAP, "--percent", "80")
    told = as_json(run("explain", *arguments, "--within-km", "1", "--json"))
    assert (told["verdict"], told["goal"]["percent"]) == ("found", 80)
    assert told["at"]["answers"]["decoded"]["within_percent"][0] >= 80


@pytest.mark.slow
def test_says_when_no_report_is_needed_and_when_none_is_enough(run: Run, wording: Any) -> None:
    easy = ("--mechanism", "exp", "--error-km", "100")
    hard = ("--mechanism", "exp", "--percent", "100", "--within-km", "0.1")
    for asked, verdict in ((easy, "not needed"), (hard, "out of reach")):
        assert as_json(run("explain", *MAP, *asked, "--json"))["verdict"] == verdict
        wording(
            "cli", f"explain, a goal that is {verdict}", run("explain", *MAP, *asked).stdout
        )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--epsilon", "4"), ("option_missing", "--length", "--locations")),
        (("--error-km", "1", "--length", "3"), ("option_missing", "--locations")),
        (
            ("--epsilon", "1", "--length", "3", "--within-km", "1"),
            ("option_missing", "--locations"),
        ),
        ((*MAP,), ("not_one_goal", "--epsilon", "--error-km", "--percent")),
        ((*MAP, "--epsilon", "1", "--error-km", "1"), ("not_one_goal",)),
        ((*MAP, "--percent", "50"), ("options_not_paired", "--percent", "--within-km")),
        ((*MAP, "--percent", "50", "--within-km", "1", "2"), ("options_not_paired",)),
        ((*MAP, "--error-km", "1", "--within-km", "1"), ("options_exclude_each_other",)),
        ((*MAP, "--percent", "0", "--within-km", "1"), ("option_out_of_range", "'--percent'")),
        (
            (*MAP, "--percent", "nan", "--within-km", "1"),
            ("option_out_of_range", "'--percent'", "nan"),
        ),
        ((*MAP, "--error-km", "-1"), ("option_out_of_range", "'--error-km'", "-1")),
        (("--locations", "none.csv", "--epsilon", "1"), ("file_unreadable", "none.csv")),
    ],
)
def test_refuses_questions_that_make_no_sense(
    arguments: tuple[str, ...], says: tuple[str, ...], run: Run
) -> None:
    assert_refused(run("explain", *arguments), *says)


def test_names_the_better_mechanism_for_a_wish_and_what_to_run(run: Run, wording: Any) -> None:
    asked = ("explain", "--wish", "flows", "--people", "3000", "--epsilon", "4", *MAP)
    told = as_json(run(*asked, "--zones", "grid:2", "--json"))
    errors = told["errors"]
    best = "trips" if errors["direct"] <= errors["atlas"] else "atlas"
    assert told["better"] == best
    assert f"--mechanism {best}" in told["run"][0] or best == "atlas"
    text = run(*asked, "--zones", "grid:2").stdout
    assert f"{100 * errors['flat']:.2f}" in text
    assert all(command in text for command in told["run"])
    wording("cli", "explain, a wish", text)


def test_journeys_are_what_atlas_is_for(run: Run, wording: Any) -> None:
    told = as_json(run("explain", "--wish", "journeys", "--epsilon", "4", "--json"))
    assert told["better"] == "atlas"
    assert any("nomadp decode" in command for command in told["run"])
    text = run("explain", "--wish", "journeys", "--epsilon", "4").stdout
    wording("cli", "explain, a wish for journeys", text)


@pytest.mark.parametrize(
    ("said", "code", "missing"),
    [
        (("--wish", "flows", "--epsilon", "4"), "option_missing", "--people"),
        (("--wish", "hotspots", "--people", "10"), "option_missing", "--epsilon"),
        (
            ("--people", "10", "--epsilon", "4", "--length", "2"),
            "options_not_paired",
            "--wish",
        ),
    ],
)
def test_a_wish_needs_people_and_epsilon(
    run: Run, said: tuple[str, ...], code: str, missing: str
) -> None:
    assert_refused(run("explain", *said), code, missing)


def test_areas_that_are_too_fine_come_with_larger_ones_and_commands_for_those(
    run: Run, wording: Any
) -> None:
    asked = ("explain", "--wish", "density", "--people", "300", "--epsilon", "1", *MAP)
    told = as_json(run(*asked, "--areas", "grid:3", "--json"))
    assert not told["in_reach"]
    text = run(*asked, "--areas", "grid:3").stdout
    (enough,) = (
        each
        for number in re.findall(r"[\d,]{4,}", text)
        if told["enough"] <= (each := int(number.replace(",", ""))) < 1.1 * told["enough"] + 1
    )
    assert enough % 100 == 0
    wording("cli", "explain, a wish out of reach", text)


def test_areas_of_ones_own_are_called_by_their_file_and_not_by_a_hash(
    run: Run, tmp_path: Path
) -> None:
    ring = [[-75, 39], [-73.99, 39], [-73.99, 41], [-75, 41], [-75, 39]]
    west = {"type": "Polygon", "coordinates": [ring]}
    areas = {"type": "Feature", "geometry": west, "properties": {"name": "west"}}
    (tmp_path / "districts.geojson").write_text(json.dumps(areas))
    asked = ("explain", "--wish", "hotspots", "--people", "300", "--epsilon", "4", *MAP)
    told = run(*asked, "--areas", "districts.geojson")
    assert "districts.geojson" in told.stdout
    assert "polygons:" not in told.stdout
    found = as_json(run(*asked, "--areas", "districts.geojson", "--json"))
    assert found["zones"].startswith("polygons:")


@pytest.mark.parametrize("wish", ["journeys", "hotspots", "density", "flows"])
def test_the_commands_that_are_named_can_be_run(run: Run, wish: str) -> None:
    asked = ("explain", "--wish", wish, "--people", "3000", "--epsilon", "4", *MAP)
    told = as_json(run(*asked, "--zones", "grid:2", "--json"))
    for command in told["run"]:
        result = run(*shlex.split(command)[1:])
        assert result.exit_code == 0, result.stderr
