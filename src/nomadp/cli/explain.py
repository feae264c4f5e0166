"""``nomadp explain``: what an epsilon promises, where every part of it goes, what it buys."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.options import (
    ManyNumbers,
    Whole,
    above_zero,
    chosen_options,
    file_option,
    kilometres,
    mechanism_option,
    variant_options,
)
from nomadp.cli.output import Answer, json_option, print_table, progress_bar

if TYPE_CHECKING:
    from nomadp.analysis.promise import Explanation
    from nomadp.analysis.worth import Goal
    from nomadp.budget import Split
    from nomadp.mechanisms import Mechanism

__all__ = ["explain"]

USUAL_LENGTH = 5
"""Where a map is given and no length."""


@click.command(cls=ManyNumbers)
@mechanism_option
@click.option("--epsilon", metavar="E", help="Budget of a whole trajectory.")
@click.option(
    "--length",
    type=Whole(1, 100_000),
    metavar="N",
    help=f"Number of points of the trajectory; it is public. {USUAL_LENGTH} if a map is given.",
)
@file_option(
    "--locations",
    "The public location set: what epsilon buys there is simulated on public walks.",
)
@click.option(
    "--within-km",
    type=kilometres,
    multiple=True,
    metavar="KM...",
    help="With a map: how many points are at most so far off; 0.5 1 2 5 by default.",
)
@click.option("--error-km", type=kilometres, metavar="KM", help="Find the epsilon for this.")
@click.option(
    "--percent",
    type=above_zero("a percentage must be above 0 and at most 100", 100),
    metavar="P",
    help="Find the epsilon for P % --within-km KM.",
)
@variant_options
@json_option
def explain(**options: Any) -> Answer:
    """Where epsilon goes, what it promises in words, and what it buys on a map.

    With --locations the error in km is simulated on walks of a public recipe, never on
    anybody's trajectories, beside the best answer without any information. With a goal instead
    of --epsilon, the smallest epsilon that reaches it is searched.

    \b
    Example:
      nomadp explain --epsilon 4 --length 5
      nomadp explain --epsilon 4 --locations places.csv --within-km 0.5 1
      nomadp explain --locations places.csv --error-km 1
      nomadp explain --locations places.csv --percent 80 --within-km 1
    """
    goal = _goal(options)
    if goal is not None:
        return _explain_goal(goal, options)
    return (_explain if options["locations"] is None else _explain_on_a_map)(options)


def _goal(options: dict[str, Any]) -> "Goal | None":
    """What is asked for instead of an epsilon; every contradiction is refused here."""
    error_km, percent, radii = (options[key] for key in ("error_km", "percent", "within_km"))
    asked = [name for name in ("error_km", "percent") if options[name] is not None]
    mapless = options["locations"] is None
    if mapless and (asked or radii or options["pinned"] is not None):
        raise click.UsageError("distances and atlases belong to a map; add --locations FILE")
    if mapless and options["length"] is None:
        raise click.UsageError("say how many points with --length N, or add --locations FILE")
    if len(asked) + (options["epsilon"] is not None) != 1:
        raise click.UsageError("give one of --epsilon, --error-km and --percent")
    if percent is not None and len(radii) != 1:
        raise click.UsageError("--percent needs one --within-km KM")
    if error_km is not None and radii:
        raise click.UsageError("--error-km needs no --within-km")
    if not asked:
        return None
    from nomadp.analysis.worth import Goal

    return Goal(error_km, percent, radii[0] if radii else None)


def _explain(options: dict[str, Any]) -> Answer:
    from nomadp.analysis.promise import explain

    subject = _on_any_map(options["mechanism"], options["epsilon"], chosen_options(options))
    told = explain(subject, options["length"])
    return Answer(told.as_dict(), lambda: _print(told))


def _explain_on_a_map(options: dict[str, Any]) -> Answer:
    from nomadp.analysis.promise import explain
    from nomadp.analysis.worth import WALKS, calibrate, default_radii_km
    from nomadp.cli.worth import print_worth

    subject = _on_this_map(options, options["epsilon"])
    length = options["length"] or USUAL_LENGTH
    radii_km = options["within_km"] or default_radii_km(subject.locations)
    with progress_bar("walking", WALKS) as bar:
        found = calibrate(subject, length, radii_km, progress=bar.advance)
    told = explain(subject, length)

    def show() -> None:
        _print(told)
        click.echo()
        print_worth(found, subject.epsilon)

    return Answer({**told.as_dict(), "calibration": found.as_dict()}, show)


def _explain_goal(goal: "Goal", options: dict[str, Any]) -> Answer:
    from nomadp.analysis.worth import ROUNDS, needed_epsilon
    from nomadp.cli.worth import needed_as_dict, print_needed

    subject = _on_this_map(options, "1")
    length = options["length"] or USUAL_LENGTH
    with progress_bar("simulating", ROUNDS) as bar:
        needed = needed_epsilon(subject, length, goal, bar.advance)
    names = {"mechanism": subject.name, "mechanism_version": subject.version}
    content = {**names, "length": length, **needed_as_dict(goal, needed)}
    return Answer(content, lambda: print_needed(goal, needed))


def _on_this_map(options: dict[str, Any], epsilon: str) -> "Mechanism":
    from nomadp.formats.tables import read_locations
    from nomadp.mechanisms import make_mechanism

    world = read_locations(options["locations"])
    return make_mechanism(options["mechanism"], world, epsilon, **chosen_options(options))


def _print(told: "Explanation") -> None:
    from nomadp.analysis.promise import NOT_COVERED

    subject = told.mechanism
    click.echo(
        f"{subject.name} version {subject.version} at epsilon {subject.epsilon}, "
        f"{told.length} point(s)\n"
    )
    _print_steps(told.split)
    click.echo(f"\nPromise: {told.promise}.")
    if told.suspicions is not None:
        click.echo(f"{_suspicion(told.suspicions)}.")
    click.echo("Not covered:")
    for item in NOT_COVERED:
        click.echo(f"  - {item}")


def _on_any_map(name: str, epsilon: str, options: dict[str, Any]) -> "Mechanism":
    """A split depends on epsilon, length and options but on no location: a few will do."""
    from nomadp.locations import LocationSet
    from nomadp.mechanisms import make_mechanism

    size = max(2, options.get("near_count", 0))  # among fewer locations it would be refused
    ids = [str(k) for k in range(size)]
    anywhere = LocationSet.from_columns(
        ids, [0.0] * size, [180 * k / size for k in range(size)]
    )
    return make_mechanism(name, anywhere, epsilon, **options)


def _print_steps(split: "Split") -> None:
    from nomadp.budget import format_epsilon

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


def _suspicion(suspicions: dict[str, str]) -> str:
    before, after = zip(*suspicions.items(), strict=True)
    return (
        "Whatever somebody knew before, no report can change their odds between two such "
        f"trajectories by more than this factor: a suspicion of {' %, '.join(before)} % can "
        f"grow to at most {' %, '.join(after)} %"
    )
