"""What ``nomadp explain`` prints about a map: what an epsilon buys there, or which one."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.output import print_table

if TYPE_CHECKING:
    from nomadp.analysis.worth import Calibration, Goal, Needed

__all__ = ["needed_as_dict", "print_needed", "print_worth", "said_of_walks"]

ANSWERS = {
    "decoded": "decoded (nomadp decode)",
    "reported": "reported",
    "without noise": "control points, without noise",
    "constant": "best constant (no information)",
}


def print_worth(found: "Calibration", epsilon: "Fraction | int") -> None:
    """One row per answer: its error, and how many of its points are nearly right."""
    click.echo(
        f"What epsilon {float(epsilon):g} buys on this map, whose largest distance is "
        f"{found.diameter_km:.3g} km, on {found.walks} public walks of {found.length} point(s):"
    )
    print_table(
        ["answer", "error km", "+-", "NE", *(f"% in {r:g} km" for r in found.radii_km)],
        [
            [
                ANSWERS[name],
                f"{quality.error_km:.3f}",
                f"{quality.error_deviation_km:.3f}",
                f"{quality.normalised_error:.4f}",
                *(f"{percent:.1f}" for percent in quality.within_percent),
            ]
            for name, quality in found.answers.items()
        ],
    )
    click.echo(said_of_walks(found))


def said_of_walks(found: "Calibration") -> str:
    """What such numbers are, and what they are not."""
    words = (
        "Public walks are not people: what real reports are worth depends on where people go. "
        "No trajectory was read. +- is the standard error of simulating."
    )
    if "without noise" in found.answers:
        words += (
            " A long walk turns at 16 points; the fewer turns a track has, the less its "
            "control points miss."
        )
    return words


def print_needed(goal: "Goal", needed: "Needed") -> None:
    """The answer in a sentence, then the table of where it was found."""
    from nomadp.analysis.worth import STEP
    from nomadp.budget import MAX_EPSILON

    click.echo(f"Goal: {_goal(goal)}.")
    best, constant = needed.at.best, needed.at.answers["constant"]
    if needed.verdict == "not needed":
        click.echo(
            "No report is needed for that: always answering the middle of the map gets "
            f"{_measured(goal, constant)}.\n"
        )
    elif needed.verdict == "out of reach":
        click.echo(
            f"Out of reach: even epsilon {MAX_EPSILON} gets only {_measured(goal, best)}.\n"
        )
    else:
        click.echo(
            f"Smallest epsilon, in steps of {float(STEP):g} up to {MAX_EPSILON}: "
            f"{float(needed.epsilon or 0):g}, which gets {_measured(goal, best)}"
            f"{_one_step_less(goal, needed)}.\n"
        )
    print_worth(needed.at, needed.epsilon or MAX_EPSILON)


def _one_step_less(goal: "Goal", needed: "Needed") -> str:
    if needed.below is None:
        return ""
    return f"; one step less gets {_measured(goal, needed.below.best)}"


def needed_as_dict(goal: "Goal", needed: "Needed") -> dict[str, Any]:
    from nomadp.analysis.worth import STEP
    from nomadp.budget import MAX_EPSILON

    return {
        "goal": goal.as_dict(),
        "verdict": needed.verdict,
        "epsilon": needed.epsilon,
        "grid": {"step": STEP, "largest": MAX_EPSILON},
        "at": needed.at.as_dict(),
        "below": None if needed.below is None else needed.below.as_dict(),
    }


def _goal(goal: "Goal") -> str:
    if goal.error_km is not None:
        return f"an error of at most {goal.error_km:g} km on average"
    return f"at least {goal.percent:g} % of points within {goal.within_km:g} km"


def _measured(goal: "Goal", quality: Any) -> str:
    if goal.error_km is not None:
        return f"{quality.error_km:.3f} km"
    return f"{quality.within_percent[0]:.1f} %"
