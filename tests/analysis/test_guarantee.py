"""What a mechanism promises is told without promising too much."""

from fractions import Fraction
from math import exp
from typing import Any

import pytest
from refusals import refused
from worlds import scattered

from nomadp.analysis import explain
from nomadp.errors import DomainError
from nomadp.mechanisms import EXPERIMENTAL, MECHANISMS, PUBLISHED, make_mechanism


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_parts_add_up_to_epsilon(name):
    told = explain(make_mechanism(name, scattered(9), "1.5"), 3).as_dict()
    assert told["total"] == Fraction(3, 2)
    assert sum(step["total"] for step in told["steps"]) == Fraction(3, 2)


@pytest.mark.parametrize("epsilon", ["0.001", "1", "20"])
def test_odds_and_suspicions_are_rounded_up(epsilon):
    told = explain(make_mechanism("exp", scattered(9), epsilon), 2)
    odds = exp(float(epsilon))
    assert odds <= float(told.odds_at_most) <= odds + 0.01
    for before, after in told.posterior_bounds.items():
        p = float(before) / 100
        grown = 100 * p * odds / (p * odds + 1 - p)
        assert grown * (1 - 1e-12) <= float(after) <= min(100, grown + 0.1)


@pytest.mark.parametrize("name", [*PUBLISHED, *EXPERIMENTAL])
def test_what_is_not_private_promises_nothing(name):
    mechanism = make_mechanism(name, scattered(9), 1)
    told = explain(mechanism, 2)
    assert (told.odds_at_most, told.posterior_bounds) == (None, None)
    assert mechanism.warning.rstrip(".") in told.guarantee


def test_a_guarantee_is_said_and_so_is_what_it_does_not_cover(wording):
    options = {"visits": {"zones": "grid:2", "when": "day-part"}}
    said = []
    for name in ("exp", "visits", "cgm", *PUBLISHED):
        told = explain(make_mechanism(name, scattered(9), 1, **options.get(name, {})), 2)
        said += [name, f"  {told.guarantee}"]
        said += [f"  not covered: {each}" for each in told.as_dict()["not_covered"]]
    wording("answers", "privacy guarantees", "\n".join(said))


def test_refuses_a_length_that_no_trajectory_has():
    with refused(DomainError, "length_out_of_range", length=0):
        explain(make_mechanism("exp", scattered(9), 1), 0)


def test_printing_an_explanation_shows_its_split_its_guarantee_and_what_it_leaves_out() -> None:
    explanation = explain(make_mechanism("tp", scattered(9), 1), 3)
    lines = str(explanation).splitlines()
    assert {step.name for step in explanation.split.steps} <= {
        line.split()[0] for line in lines if line
    }
    assert any(explanation.guarantee in line for line in lines)
    assert [line[4:] for line in lines if line.startswith("  - ")] == [*explanation.not_covered]


@pytest.mark.parametrize(
    ("name", "options", "shown"),
    [
        ("atlas", {}, "ATLAS(epsilon=4, locations=9)"),
        ("trips", {"zones": "grid:2"}, "TRIPS(epsilon=4, locations=9, zones='grid:2')"),
        ("brr", {"near_count": 3}, "BRR(epsilon=4, locations=9, near_count=3)"),
    ],
)
def test_a_mechanism_shows_what_was_chosen(name: str, options: Any, shown: str) -> None:
    assert repr(make_mechanism(name, scattered(9), 4, **options)) == shown
