"""``nomadp explain``: what an epsilon promises, where every part of it goes, what it buys."""

from typing import Any

import click

from nomadp.cli.exit_codes import BadUsage
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
@click.option(
    "--wish",
    type=click.Choice(["journeys", "hotspots", "density", "flows"]),
    help="What you want to know: names the better mechanism for it, and what to run.",
)
@click.option(
    "--people",
    type=Whole(1, 1_000_000_000),
    metavar="N",
    help="With --wish: how many will answer.",
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
    of --epsilon, the smallest epsilon that reaches it is searched. With --wish, asking directly
    is compared with ATLAS for as many people, on public walks too; --areas says how fine, and
    larger ones are named where that is out of reach.

    \b
    Example:
      nomadp explain --epsilon 4 --length 5
      nomadp explain --epsilon 4 --locations places.csv --within-km 0.5 1
      nomadp explain --locations places.csv --error-km 1
      nomadp explain --locations places.csv --percent 80 --within-km 1
      nomadp explain --wish flows --people 30000 --epsilon 4 --locations places.csv
      nomadp explain --wish flows --people 3000 --epsilon 1 --areas grid:16
    """
    from nomadp.cli.explained import explained

    if options["wish"] is not None:
        from nomadp.cli.explained_wish import explained_wish

        return explained_wish(options)
    if options["people"] is not None:
        raise BadUsage(
            "--people belongs to a wish; add --wish hotspots, density or flows",
            code="options_not_paired",
        )
    if options["locations"] is not None:
        options["length"] = options["length"] or USUAL_LENGTH
    return explained(options)
