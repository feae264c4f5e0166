"""``nomadp explain``: the guarantee, the budget split and the utility of an epsilon."""

from typing import Any

import click

from nomadp.cli.options import (
    ManyNumbers,
    Whole,
    file_option,
    kilometres,
    mechanism_option,
    parameter_options,
)
from nomadp.cli.output import Result, json_option

__all__ = ["USUAL_LENGTH", "explain"]

USUAL_LENGTH = 5
"""Number of points of a trajectory, if --locations is given and --length is not."""


@click.command(cls=ManyNumbers)
@mechanism_option
@click.option(
    "--epsilon", required=True, metavar="E", help="Privacy budget of a whole trajectory."
)
@click.option(
    "--length",
    type=Whole(1, 100_000),
    metavar="N",
    help=f"Number of points of a trajectory (default with --locations: {USUAL_LENGTH}).",
)
@file_option(
    "--locations",
    "The public location set. With it, utility is simulated on public random walks.",
)
@click.option(
    "--within-km",
    type=kilometres,
    multiple=True,
    metavar="KM...",
    help="--locations: radii within which points are counted (default: four that fit).",
)
@parameter_options
@json_option
def explain(**options: Any) -> Result:
    """Show the guarantee, the budget split and the utility of an epsilon.

    The guarantee is stated as a bound on likelihood ratios, and as the certainty that an
    attacker can reach. The budget split lists how much of epsilon each random draw uses, in
    exact fractions. With --locations, the error in km is simulated on public random-walk
    trajectories and shown next to the best answer without any information. No real trajectory
    is read. To search for an epsilon, or to choose a mechanism for a query, use "nomadp plan".

    \b
    Example:
      nomadp explain --epsilon 4 --length 5
      nomadp explain --epsilon 4 --locations places.csv --within-km 0.5 1
    """
    from nomadp.cli.explain_report import explain_epsilon

    if options["locations"] is not None:
        options["length"] = options["length"] or USUAL_LENGTH
    return explain_epsilon(options)
