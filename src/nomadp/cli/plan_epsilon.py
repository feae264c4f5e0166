"""The search of ``nomadp plan`` for the smallest epsilon that reaches a goal."""

from typing import Any

from nomadp.analysis.utility import ROUNDS, STEP, Goal, Needed, Quality, needed_epsilon
from nomadp.budget import MAX_EPSILON
from nomadp.cli.options import chosen_options
from nomadp.cli.output import Result, progress_bar, say
from nomadp.cli.utility_table import print_utility
from nomadp.formats.location_files import read_locations
from nomadp.mechanisms import make_mechanism

__all__ = ["smallest_epsilon"]


def smallest_epsilon(options: dict[str, Any]) -> Result:
    radii_km = options["within_km"]
    goal = Goal(options["error_km"], options["percent"], radii_km[0] if radii_km else None)
    world = read_locations(options["locations"])
    chosen = chosen_options(options, world)
    # The search replaces the epsilon of this mechanism.
    mechanism = make_mechanism(options["mechanism"], world, "1", **chosen)
    length = options["length"]
    with progress_bar("simulating", ROUNDS) as bar:
        needed = needed_epsilon(mechanism, length, goal, bar.advance)
    identity = {"mechanism": mechanism.name, "mechanism_version": mechanism.version}
    content = {**identity, "length": length, **_as_dict(goal, needed)}
    return Result(content, lambda: _print(goal, needed))


def _as_dict(goal: Goal, needed: Needed) -> dict[str, Any]:
    return {
        "goal": goal.as_dict(),
        "verdict": needed.verdict,
        "epsilon": needed.epsilon,
        "grid": {"step": STEP, "largest": MAX_EPSILON},
        "at": needed.at.as_dict(),
        "below": None if needed.below is None else needed.below.as_dict(),
    }


def _print(goal: Goal, needed: Needed) -> None:
    say(f"Goal: {_goal_text(goal)}.")
    best, constant = needed.at.best, needed.at.answers["constant"]
    if needed.verdict == "not needed":
        say(
            "No report is needed: always guessing the centre of the map reaches "
            f"{_measured(goal, constant)}.\n"
        )
    elif needed.verdict == "out of reach":
        say(f"Not reached: even epsilon {MAX_EPSILON} gives only {_measured(goal, best)}.\n")
    else:
        say(
            f"Smallest epsilon, in steps of {float(STEP):g} up to {MAX_EPSILON}: "
            f"{float(needed.epsilon or 0):g}, which gives {_measured(goal, best)}"
            f"{_one_step_less(goal, needed)}.\n"
        )
    print_utility(needed.at, needed.epsilon or MAX_EPSILON)


def _one_step_less(goal: Goal, needed: Needed) -> str:
    if needed.below is None:
        return ""
    return f" (one step less: {_measured(goal, needed.below.best)})"


def _goal_text(goal: Goal) -> str:
    if goal.error_km is not None:
        return f"a mean error of at most {goal.error_km:g} km"
    return f"at least {goal.percent:g} % of points within {goal.within_km:g} km"


def _measured(goal: Goal, quality: Quality) -> str:
    if goal.error_km is not None:
        return f"{quality.error_km:.3f} km"
    return f"{quality.within_percent[0]:.1f} %"
