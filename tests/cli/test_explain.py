"""``nomadp explain``: every share of epsilon, exactly, and the guarantee in words."""

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
    content = as_json(
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
    shares = [Fraction(step["share"]) * step["count"] for step in content["steps"]]
    assert sum(shares) == Fraction(content["total"]) == Fraction(epsilon)
    for step in content["steps"]:
        assert Fraction(step["share"]) <= Fraction(step["share_at_most"])


def test_atp_spends_what_section_6_of_the_paper_says(run: Run) -> None:
    content = as_json(
        run("explain", "--mechanism", "atp", "--epsilon", "4", "--length", "5", "--json")
    )
    shares = {(step["name"], step["copy"]): step["share"] for step in content["steps"]}
    assert shares["anchor", 1] == "1/8"  # epsilon / 32
    assert shares["radius", 2] == "3/8"
    assert shares["direction", 1] == "9/32"  # 9 epsilon / (32 (n - 1))
    assert shares["pivot", 1] == shares["point", 2] == "3/40"  # 3 epsilon / (32 n)


@pytest.mark.parametrize(
    ("epsilon", "odds"), [("0.1", "1.11"), ("1", "2.72"), ("4", "54.6"), ("10", "22026.47")]
)
def test_the_odds_are_rounded_up(epsilon: str, odds: str, run: Run) -> None:
    arguments = ("explain", "--epsilon", epsilon, "--length", "3")
    assert as_json(run(*arguments, "--json"))["odds_at_most"] == odds
    assert f" {odds} " in run(*arguments).stdout


def test_says_what_is_not_covered(run: Run, wording: Any) -> None:
    arguments = ("explain", "--mechanism", "tp", "--epsilon", "1", "--length", "3")
    assert len(as_json(run(*arguments, "--json"))["not_covered"]) == 3
    wording("cli", "explain", run(*arguments).stdout)


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
    content = as_json(
        run("explain", "--mechanism", name, "--epsilon", "1", "--length", "3", "--json")
    )
    assert content["private"] is False
    assert content["odds_at_most"] is None


MAP = ("--locations", "places.csv")


@pytest.mark.parametrize(
    ("epsilon", "grown"),
    [("1", ["2.7", "23.2", "73.2"]), ("4", ["35.6", "85.9", "98.3"]), ("20", ["100"] * 3)],
)
def test_bounds_how_sure_an_attacker_can_become_and_rounds_up(
    epsilon: str, grown: list[str], run: Run
) -> None:
    content = as_json(run("explain", "--epsilon", epsilon, "--length", "3", "--json"))
    assert list(content["posterior_bounds"].values()) == grown
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
    summary = as_json(run(*arguments, *MAP, "--within-km", "1", "2", "--json"))
    content = summary["utility"]
    assert content["radii_km"] == [1, 2]
    assert content["length"] == int(length)
    assert {"reported", "constant"} <= content["answers"].keys()
    assert ("decoded" in content["answers"]) == (mechanism in ("atlas", "exp", "brr", "l-srr"))


def test_the_table_says_what_walks_are_not(run: Run, wording: Any) -> None:
    wording("cli", "explain, on a map", run("explain", "--epsilon", "4", *MAP).stdout)


@pytest.mark.slow
def test_long_tracks_are_shown_without_noise_too(run: Run, wording: Any) -> None:
    arguments = ("explain", "--epsilon", "4", *MAP, "--length", "60", "--size", "300")
    assert "without noise" in as_json(run(*arguments, "--json"))["utility"]["answers"]
    wording("cli", "explain, a long track", run(*arguments).stdout)


def test_never_reads_a_trajectory(run: Run, folder: Path) -> None:
    before = run("explain", "--epsilon", "4", *MAP).stdout
    (folder / "trips.csv").unlink()
    assert run("explain", "--epsilon", "4", *MAP).stdout == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--epsilon", "4"), ("option_missing", "--length", "--locations")),
        (("--length", "3"), ("usage", "--epsilon")),
        (
            ("--epsilon", "1", "--length", "3", "--within-km", "1"),
            ("option_missing", "--locations"),
        ),
        (("--locations", "none.csv", "--epsilon", "1"), ("file_unreadable", "none.csv")),
    ],
)
def test_refuses_options_that_make_no_sense(
    arguments: tuple[str, ...], says: tuple[str, ...], run: Run
) -> None:
    assert_refused(run("explain", *arguments), *says)
