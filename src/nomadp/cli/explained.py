"""What ``nomadp explain`` finds and prints: a promise, what it buys on a map, or its price."""

from fractions import Fraction
from typing import Any

from nomadp.analysis.guarantee import Explanation, explain
from nomadp.analysis.utility import (
    ROUNDS,
    STEP,
    WALKS,
    Goal,
    Needed,
    Utility,
    default_radii_km,
    needed_epsilon,
    simulate_utility,
)
from nomadp.budget import MAX_EPSILON, Split, format_epsilon
from nomadp.cli.exit_codes import BadUsage
from nomadp.cli.options import chosen_options
from nomadp.cli.output import Answer, print_table, progress_bar, say
from nomadp.formats.location_files import read_locations
from nomadp.locations import LocationSet
from nomadp.mechanisms import Mechanism, make_mechanism

__all__ = ["explained"]

ANSWERS = {
    "decoded": "decoded (nomadp decode)",
    "reported": "reported",
    "without noise": "control points, without noise",
    "constant": "best constant (no information)",
}


def explained(options: dict[str, Any]) -> Answer:
    """What was asked for: the way to a goal, or what an epsilon is, on a map or on any."""
    goal = _goal(options)
    if goal is not None:
        return _explain_goal(goal, options)
    return (_explain if options["locations"] is None else _explain_on_a_map)(options)


def _goal(options: dict[str, Any]) -> Goal | None:
    """What is asked for instead of an epsilon; every contradiction is refused here."""
    error_km, percent, radii = (options[key] for key in ("error_km", "percent", "within_km"))
    asked = [name for name in ("error_km", "percent") if options[name] is not None]
    mapless = options["locations"] is None
    if mapless and (asked or radii or options["pinned"] is not None):
        raise BadUsage(
            "distances and atlases belong to a map; add --locations FILE", code="option_missing"
        )
    if mapless and options["length"] is None:
        raise BadUsage(
            "say how many points with --length N, or add --locations FILE",
            code="option_missing",
        )
    if len(asked) + (options["epsilon"] is not None) != 1:
        raise BadUsage("give one of --epsilon, --error-km and --percent", code="not_one_goal")
    if percent is not None and len(radii) != 1:
        raise BadUsage("--percent needs one --within-km KM", code="options_not_paired")
    if error_km is not None and radii:
        raise BadUsage("--error-km needs no --within-km", code="options_exclude_each_other")
    return Goal(error_km, percent, radii[0] if radii else None) if asked else None


def _explain(options: dict[str, Any]) -> Answer:
    subject = _on_any_map(options["mechanism"], options["epsilon"], chosen_options(options))
    told = explain(subject, options["length"])
    return Answer(told.as_dict(), lambda: _print(told))


def _explain_on_a_map(options: dict[str, Any]) -> Answer:
    subject = _on_this_map(options, options["epsilon"])
    length = options["length"]
    radii_km = options["within_km"] or default_radii_km(subject.locations)
    with progress_bar("walking", WALKS) as bar:
        found = simulate_utility(subject, length, radii_km, progress=bar.advance)
    told = explain(subject, length)

    def show() -> None:
        _print(told)
        say()
        _print_worth(found, subject.epsilon)

    return Answer({**told.as_dict(), "calibration": found.as_dict()}, show)


def _explain_goal(goal: Goal, options: dict[str, Any]) -> Answer:
    subject = _on_this_map(options, "1")
    length = options["length"]
    with progress_bar("simulating", ROUNDS) as bar:
        needed = needed_epsilon(subject, length, goal, bar.advance)
    names = {"mechanism": subject.name, "mechanism_version": subject.version}
    content = {**names, "length": length, **_needed_as_dict(goal, needed)}
    return Answer(content, lambda: _print_needed(goal, needed))


def _on_this_map(options: dict[str, Any], epsilon: str) -> Mechanism:
    world = read_locations(options["locations"])
    chosen = chosen_options(options, world)
    return make_mechanism(options["mechanism"], world, epsilon, **chosen)


def _print(told: Explanation) -> None:
    subject = told.mechanism
    say(
        f"{subject.name} version {subject.version} at epsilon {subject.epsilon}, "
        f"{told.length} point(s)\n"
    )
    _print_steps(told.split)
    say(f"\nPromise: {told.guarantee}.")
    if told.posterior_bounds is not None:
        say(f"{_suspicion(told.posterior_bounds)}.")
    say("Not covered:")
    for item in told.not_covered:
        say(f"  - {item}")


def _on_any_map(name: str, epsilon: str, options: dict[str, Any]) -> Mechanism:
    """A split depends on epsilon, length and options but on no location: a few will do."""
    size = max(2, options.get("near_count", 0))  # among fewer locations it would be refused
    ids = [str(k) for k in range(size)]
    anywhere = LocationSet.from_columns(
        ids, [0.0] * size, [180 * k / size for k in range(size)]
    )
    return make_mechanism(name, anywhere, epsilon, **options)


def _print_steps(split: Split) -> None:
    rows = [
        [
            step.name,
            str(step.copy or "-"),
            str(step.count),
            str(step.share),
            format_epsilon(step.share),
            str(step.total),
            format_epsilon(step.total),
        ]
        for step in split.steps
    ]
    total = sum((step.total for step in split.steps), Fraction())
    count = str(sum(step.count for step in split.steps))
    print_table(
        ["step", "copy", "draws", "each", "(at most)", "together", "(at most)"],
        [*rows, ["total", "", count, "", "", str(total), format_epsilon(total)]],
    )


def _suspicion(posterior_bounds: dict[str, str]) -> str:
    before, after = zip(*posterior_bounds.items(), strict=True)
    return (
        "Whatever somebody knew before, no report can change their odds between two such "
        f"trajectories by more than this factor: a suspicion of {' %, '.join(before)} % can "
        f"grow to at most {' %, '.join(after)} %"
    )


def _print_worth(found: Utility, epsilon: Fraction | int) -> None:
    """One row per answer: its error, and how many of its points are nearly right."""
    say(
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
    say(_said_of_walks(found))


def _said_of_walks(found: Utility) -> str:
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


def _print_needed(goal: Goal, needed: Needed) -> None:
    """The answer in a sentence, then the table of where it was found."""
    say(f"Goal: {_wish(goal)}.")
    best, constant = needed.at.best, needed.at.answers["constant"]
    if needed.verdict == "not needed":
        say(
            "No report is needed for that: always answering the middle of the map gets "
            f"{_measured(goal, constant)}.\n"
        )
    elif needed.verdict == "out of reach":
        say(f"Out of reach: even epsilon {MAX_EPSILON} gets only {_measured(goal, best)}.\n")
    else:
        say(
            f"Smallest epsilon, in steps of {float(STEP):g} up to {MAX_EPSILON}: "
            f"{float(needed.epsilon or 0):g}, which gets {_measured(goal, best)}"
            f"{_one_step_less(goal, needed)}.\n"
        )
    _print_worth(needed.at, needed.epsilon or MAX_EPSILON)


def _one_step_less(goal: Goal, needed: Needed) -> str:
    if needed.below is None:
        return ""
    return f"; one step less gets {_measured(goal, needed.below.best)}"


def _needed_as_dict(goal: Goal, needed: Needed) -> dict[str, Any]:
    return {
        "goal": goal.as_dict(),
        "verdict": needed.verdict,
        "epsilon": needed.epsilon,
        "grid": {"step": STEP, "largest": MAX_EPSILON},
        "at": needed.at.as_dict(),
        "below": None if needed.below is None else needed.below.as_dict(),
    }


def _wish(goal: Goal) -> str:
    if goal.error_km is not None:
        return f"an error of at most {goal.error_km:g} km on average"
    return f"at least {goal.percent:g} % of points within {goal.within_km:g} km"


def _measured(goal: Goal, quality: Any) -> str:
    if goal.error_km is not None:
        return f"{quality.error_km:.3f} km"
    return f"{quality.within_percent[0]:.1f} %"
