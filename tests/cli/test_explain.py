"""``nomadp explain``: every share of epsilon, exactly, and the promise in words."""

from fractions import Fraction

import pytest

from nomadp.mechanisms import EXPERIMENTAL, MECHANISMS
from tests.cli.conftest import Run, as_json


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
    told = as_json(run("explain", "--epsilon", "4", "--length", "5", "--json"))
    shares = {(step["name"], step["copy"]): step["share"] for step in told["steps"]}
    assert shares["anchor", 1] == "1/8"  # epsilon / 32
    assert shares["radius", 2] == "3/8"
    assert shares["direction", 1] == "9/32"  # 9 epsilon / (32 (n - 1))
    assert shares["pivot", 1] == shares["point", 2] == "3/40"  # 3 epsilon / (32 n)


@pytest.mark.parametrize(
    ("epsilon", "odds"), [("0.1", "1.11"), ("1", "2.72"), ("4", "54.6"), ("10", "22026.47")]
)
def test_the_odds_are_rounded_up(epsilon: str, odds: str, run: Run) -> None:
    result = run("explain", "--epsilon", epsilon, "--length", "3")
    assert f"at most e^epsilon = {odds} times likelier" in result.stdout


def test_says_what_is_not_covered(run: Run) -> None:
    text = run("explain", "--epsilon", "1", "--length", "3").stdout
    assert "the number of points" in text
    assert "timestamps and user ids" in text
    assert "spends the same epsilon again" in text


def test_fewer_directions_change_the_split(run: Run) -> None:
    both, preceding = (
        as_json(run("explain", "--epsilon", "1", "--length", "4", "--json", *options))
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
    assert told["promise"].startswith("none; ")
    assert told["odds_at_most"] is None
