"""``nomadp plan``: a mechanism for a query, or an epsilon for a goal."""

from typing import Any

import click

from nomadp.cli.exit_codes import BadUsage
from nomadp.cli.explain import USUAL_LENGTH
from nomadp.cli.options import (
    ManyNumbers,
    Whole,
    above_zero,
    file_option,
    kilometres,
    mechanism_option,
    variant_options,
)
from nomadp.cli.output import Answer, json_option

__all__ = ["plan"]


@click.command(cls=ManyNumbers)
@click.option(
    "--query",
    "query",
    type=click.Choice(["trajectories", "hotspots", "density", "flows"]),
    help="What you want to estimate: recommends a mechanism, and the commands to run.",
)
@click.option(
    "--people",
    type=Whole(1, 1_000_000_000),
    metavar="N",
    help="With --query: number of people who take part.",
)
@click.option("--epsilon", metavar="E", help="With --query: budget of a whole trajectory.")
@click.option(
    "--error-km", type=kilometres, metavar="KM", help="Find the epsilon for this mean error."
)
@click.option(
    "--percent",
    type=above_zero("a percentage must be above 0 and at most 100", 100),
    metavar="P",
    help="Find the epsilon at which P % of points are --within-km.",
)
@click.option(
    "--within-km",
    type=kilometres,
    multiple=True,
    metavar="KM",
    help="With --percent: the largest error of a point that counts.",
)
@file_option("--locations", "The public location set (default with --query: a generated city).")
@click.option(
    "--length",
    type=Whole(1, 100_000),
    metavar="N",
    help=f"With a goal: points of a trajectory (default: {USUAL_LENGTH}).",
)
@mechanism_option
@variant_options
@json_option
def plan(**options: Any) -> Answer:
    """Choose a mechanism for a query, or find the epsilon that reaches a goal.

    With --query, a frequency oracle is compared with ATLAS at the same epsilon for as many
    people. --areas sets the resolution; if it is not feasible, coarser areas that are feasible
    and a sufficient number of people are named. With --error-km or --percent, the smallest
    epsilon that reaches this goal is searched. Everything is simulated on public random-walk
    trajectories; no real trajectory is read.

    \b
    Example:
      nomadp plan --query flows --people 30000 --epsilon 4 --locations places.csv
      nomadp plan --query flows --people 3000 --epsilon 1 --areas grid:16
      nomadp plan --locations places.csv --error-km 1
      nomadp plan --locations places.csv --percent 80 --within-km 1
    """
    _check(options)
    if options["query"] is not None:
        from nomadp.cli.plan_advice import advice

        return advice(options)
    from nomadp.cli.plan_epsilon import smallest_epsilon

    options["length"] = options["length"] or USUAL_LENGTH
    return smallest_epsilon(options)


def _check(options: dict[str, Any]) -> None:
    goals = [name for name in ("query", "error_km", "percent") if options[name] is not None]
    if len(goals) != 1:
        raise BadUsage(
            f"exactly one of --query, --error-km and --percent must be given, got {len(goals)}",
            code="not_one_goal",
        )
    if options["query"] is not None:
        if options["within_km"] or options["length"] is not None:
            raise BadUsage(
                "--within-km and --length cannot be used with --query",
                code="options_exclude_each_other",
            )
        return
    if options["epsilon"] is not None or options["people"] is not None:
        raise BadUsage(
            "--epsilon and --people need --query; a goal searches for the epsilon",
            code="options_not_paired",
        )
    if options["locations"] is None:
        raise BadUsage("a goal in km needs a map; add --locations FILE", code="option_missing")
    if options["percent"] is not None and len(options["within_km"]) != 1:
        raise BadUsage("--percent needs one --within-km KM", code="options_not_paired")
    if options["error_km"] is not None and options["within_km"]:
        raise BadUsage(
            "--within-km cannot be used with --error-km", code="options_exclude_each_other"
        )
