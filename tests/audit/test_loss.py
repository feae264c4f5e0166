"""What the audit demands of a whole mechanism, each rule on a mechanism that breaks only it."""

from dataclasses import dataclass
from fractions import Fraction

import pytest
from worlds import small_map

from nomadp.audit import GALLERY, measure
from nomadp.laws import RandomizedResponse
from nomadp.mechanisms.points.exp import IndependentPoints


def answer(share, location, choose):
    return choose("point", RandomizedResponse(4, share), location)


@dataclass(frozen=True, kw_only=True)
class SometimesOnce(IndependentPoints):
    """Draws a second time only after one of the answers, so that paths differ in cost."""

    costs: tuple[Fraction, Fraction] = (Fraction(1, 2), Fraction(1, 2))

    def parts(self, trajectory):
        return [(self._maybe_twice, location) for location in trajectory]

    def _maybe_twice(self, location, choose):
        first, second = (self.epsilon * cost for cost in self.costs)
        told = answer(first, location, choose)
        return told if told else answer(second, location, choose)


@pytest.mark.parametrize(
    "costs", [(Fraction(1, 2), Fraction(1, 2)), (Fraction(1), Fraction(1))]
)
def test_paths_must_all_cost_epsilon_even_if_one_of_them_does(costs):
    found = measure(SometimesOnce(locations=small_map(4), epsilon=1, costs=costs), 1)
    assert Fraction(1) in found.spent
    assert len(found.spent) == 2
    assert "budget" in found.flags


def test_the_final_output_may_not_lose_more_than_the_transcript(monkeypatch):
    mechanism = IndependentPoints(locations=small_map(4), epsilon=1)
    assert measure(mechanism, 1).flags == ()
    monkeypatch.setattr("nomadp.audit.loss._largest_log_ratio", lambda law: 0.99)
    assert measure(mechanism, 1).flags == ("final",)


@pytest.mark.parametrize("name", ["squared-score", "stale-scale", "overspent-split"])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(4)])
def test_a_transcript_that_costs_less_than_twice_epsilon_is_flagged_too(name, epsilon):
    found = measure(GALLERY[name].build(epsilon), GALLERY[name].length)
    assert epsilon < found.transcript_loss < 2 * epsilon
    assert "transcript" in found.flags
