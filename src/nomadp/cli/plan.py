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
    parameter_options,
)
from nomadp.cli.output import Result, json_option

__all__ = ["plan"]


@click.command(cls=ManyNumbers)
@click.option(
    "--query",
    "query",
    type=click.Choice(["trajectories", "hotspots", "density", "flows"]),
    help="What to estimate: recommends a mechanism and prints the commands to run.",
)
@click.option(
    "--people",
    type=Whole(1, 1_000_000_000),
    metavar="N",
    help="--query: number of people who take part.",
)
@click.option("--epsilon", metavar="E", help="--query: privacy budget of a whole trajectory.")
@click.option(
    "--error-km", type=kilometres, metavar="KM", help="Find the epsilon for this mean error."
)
@click.option(
    "--percent",
    type=above_zero("a percentage must be above 0 and at most 100", 100),
    metavar="P",
    help="Find the epsilon at which P % of points have an error of at most --within-km.",
)
@click.option(
    "--within-km",
    type=kilometres,
    multiple=True,
    metavar="KM",
    help="--percent: maximum error of these points.",
)
@file_option("--locations", "The public location set (default with --query: a simulated city).")
@click.option(
    "--length",
    type=Whole(1, 100_000),
    metavar="N",
    help=f"--error-km, --percent: number of points of a trajectory (default: {USUAL_LENGTH}).",
)
@mechanism_option
@parameter_options
@json_option
def plan(**options: Any) -> Result:
    """Choose a mechanism for a query, or find the epsilon that reaches a goal.

    With --query, the command compares a frequency oracle with ATLAS at the same epsilon and for
    the same number of people. --areas sets the resolution. If it is not feasible, the output
    names coarser areas that are feasible, and a sufficient number of people. With --error-km or
    --percent, the command searches for the smallest epsilon that reaches this goal. Everything
    is simulated on public random-walk trajectories; no real trajectory is read.

    \b
    Example:
      nomadp plan --query flows --people 30000 --epsilon 4 --locations places.csv
      nomadp plan --query flows --people 3000 --epsilon 1 --areas grid:16
      nomadp plan --locations places.csv --error-km 1
      nomadp plan --locations places.csv --percent 80 --within-km 1
    """
    _check_options(options)
    if options["query"] is not None:
        from nomadp.cli.plan_advice import recommend

        return recommend(options)
    from nomadp.cli.plan_epsilon import smallest_epsilon

    options["length"] = options["length"] or USUAL_LENGTH
    return smallest_epsilon(options)


def _check_options(options: dict[str, Any]) -> None:
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
            "--epsilon and --people need --query; --error-km and --percent search for an "
            "epsilon",
            code="options_not_paired",
        )
    if options["locations"] is None:
        raise BadUsage(
            "a goal in km needs a location set; add --locations FILE", code="option_missing"
        )
    if options["percent"] is not None and len(options["within_km"]) != 1:
        raise BadUsage("--percent needs one --within-km KM", code="options_not_paired")
    if options["error_km"] is not None and options["within_km"]:
        raise BadUsage(
            "--within-km cannot be used with --error-km", code="options_exclude_each_other"
        )
