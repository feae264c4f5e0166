"""``nomadp explain``: the guarantee, the budget split and the utility of an epsilon."""

from typing import Any

import click

from nomadp.cli.options import (
    ManyNumbers,
    Whole,
    file_option,
    kilometres,
    mechanism_option,
    variant_options,
)
from nomadp.cli.output import Answer, json_option

__all__ = ["USUAL_LENGTH", "explain"]

USUAL_LENGTH = 5
"""Points of a trajectory, where a map is given and no length."""


@click.command(cls=ManyNumbers)
@mechanism_option
@click.option("--epsilon", required=True, metavar="E", help="Budget of a whole trajectory.")
@click.option(
    "--length",
    type=Whole(1, 100_000),
    metavar="N",
    help=f"Points of a trajectory (default with --locations: {USUAL_LENGTH}).",
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
    help="With --locations: radii at which to count points (default: four that fit the map).",
)
@variant_options
@json_option
def explain(**options: Any) -> Answer:
    """Show the guarantee, the budget split and the utility of an epsilon.

    The guarantee is stated as a bound on likelihoods, and as how sure an attacker can become.
    The budget split lists what each random draw uses, in exact fractions. With --locations,
    the error in km is simulated on public random-walk trajectories and shown next to the best
    answer without any information. No real trajectory is read. To search for an epsilon, or to
    choose a mechanism for a query, use "nomadp plan".

    \b
    Example:
      nomadp explain --epsilon 4 --length 5
      nomadp explain --epsilon 4 --locations places.csv --within-km 0.5 1
    """
    from nomadp.cli.explain_report import explained

    if options["locations"] is not None:
        options["length"] = options["length"] or USUAL_LENGTH
    return explained(options)
