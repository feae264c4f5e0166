"""Which epsilon reaches a goal: found, not needed, or out of reach."""

from fractions import Fraction

import pytest
from refusals import refused
from worlds import scattered

from nomadp.analysis.utility import ROUNDS, STEP, STEPS, Goal, needed_epsilon, simulate_utility
from nomadp.errors import InvalidArgument
from nomadp.mechanisms import make_mechanism

LOCATIONS = scattered(30)


def brr():
    return make_mechanism("brr", LOCATIONS, 1)


@pytest.mark.parametrize("goal", [Goal(error_km=10), Goal(percent=70, within_km=8)])
def test_the_epsilon_found_reaches_the_goal_and_one_step_less_does_not(goal):
    told: list[int] = []
    needed = needed_epsilon(brr(), 1, goal, told.append)
    assert needed.verdict == "found"
    assert needed.epsilon is not None
    assert needed.epsilon % STEP == 0
    again, less = (
        simulate_utility(brr().with_params(epsilon=e), 1, goal.radii_km)
        for e in (needed.epsilon, needed.epsilon - STEP)
    )
    assert (needed.at, needed.below) == (again, less)
    assert goal.is_reached(again.best)
    assert not goal.is_reached(less.best)
    assert len(told) <= ROUNDS


def test_what_the_constant_reaches_needs_no_report():
    needed = needed_epsilon(brr(), 1, Goal(error_km=1000))
    assert (needed.verdict, needed.epsilon) == ("not needed", None)


@pytest.mark.slow
def test_says_when_no_epsilon_is_large_enough():
    mechanism = make_mechanism("atp", LOCATIONS, 1)
    needed = needed_epsilon(mechanism, 3, Goal(percent=100, within_km=0.001))
    assert (needed.verdict, needed.epsilon) == ("out of reach", None)


def test_the_smallest_step_has_none_below_it():
    # Decoded reports of a tenth are no worse than the constant, by less than any goal between.
    constant = simulate_utility(brr(), 1).answers["constant"].error_km
    decoded = simulate_utility(brr().with_params(epsilon=STEP), 1).best.error_km
    if decoded < constant:
        needed = needed_epsilon(brr(), 1, Goal(error_km=(decoded + constant) / 2))
        assert (needed.epsilon, needed.below) == (STEP, None)


def test_the_grid_ends_at_the_largest_epsilon():
    assert STEP * STEPS == 20
    assert Fraction(1, 10) == STEP


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({}, "ambiguous_goal"),
        ({"error_km": 1, "percent": 2, "within_km": 3}, "ambiguous_goal"),
        ({"percent": 5}, "goal_without_radius"),
    ],
)
def test_a_goal_is_one_thing(wrong, code):
    with refused(InvalidArgument, code):
        Goal(**wrong)
