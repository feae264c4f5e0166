import re

import pytest

from nomadp.paper.claims import (
    ATP_ERROR,
    ATP_RANGE,
    CLAIMS,
    FAILS,
    HOLDS,
    PARTLY,
    _verdict,
    claims,
)
from nomadp.paper.findings import Tally
from nomadp.paper.results import Results
from nomadp.paper.specs import EXPERIMENTS

pytestmark = pytest.mark.slow  # CI runs it


def test_every_claim_is_judged_by_its_experiment(results: Results) -> None:
    found = claims(results, list(EXPERIMENTS))
    assert [claim.experiment for claim in found] == [name for name, _ in CLAIMS]
    assert {claim.verdict for claim in found} <= {HOLDS, PARTLY, FAILS}


def test_claims_of_experiments_that_did_not_run_are_left_out(results: Results) -> None:
    assert {claim.experiment for claim in claims(results, ["radius", "table1"])} == {"radius"}
    assert claims(results, []) == []


@pytest.mark.parametrize(
    ("tallies", "verdict"),
    [
        ([Tally(9, 10)], HOLDS),
        ([Tally(10, 10), Tally(8, 10)], PARTLY),
        ([Tally(1, 10), Tally(0, 10)], FAILS),
        ([Tally(5, 10)], PARTLY),
    ],
)
def test_a_verdict_follows_from_how_often_a_claim_holds(
    tallies: list[Tally], verdict: str
) -> None:
    assert _verdict(*tallies) == verdict


def test_places_are_counted_over_sets_budgets_and_ranges(results: Results) -> None:
    by_text = {claim.paper: claim for claim in claims(results, ["ne", "prq"])}
    places = {text: set(re.findall(r"\d+", claim.evidence)) for text, claim in by_text.items()}
    assert "4" in places[ATP_ERROR]  # two sets, two budgets
    assert "12" in places[ATP_RANGE]  # and three ranges
