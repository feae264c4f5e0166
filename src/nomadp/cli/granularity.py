"""``nomadp granularity``: the paper's Table 1, as printed and corrected."""

from typing import Any

import click

from nomadp.cli.options import ManyNumbers
from nomadp.cli.output import Result, json_option, print_table, say

__all__ = ["granularity"]

PAPER_EPSILONS = ("0.01", "0.05", "0.1", "0.5", "1", "2", "4", "8", "10")

RULES = {
    "table": "as printed in the paper's Table 1",
    "formula": "corrected, from the paper's own equation",
}
DIGITS = 8


@click.command(cls=ManyNumbers)
@click.option(
    "--epsilon",
    "epsilons",
    multiple=True,
    default=PAPER_EPSILONS,
    metavar="E...",
    help="Privacy budgets of a whole trajectory (default: the nine of the paper).",
)
@json_option
def granularity(*, epsilons: tuple[str, ...]) -> Result:
    """Show the probability of a correct direction with 2, 4, 6 and 12 sectors.

    The paper's table and its equation disagree: the table divides the probability of a wrong
    sector by (g - 1) once too often. The command shows both versions, with the number of
    sectors that each chooses; "nomadp perturb --granularity" offers both.

    \b
    Example:
      nomadp granularity --epsilon 1 4 10
    """
    table = [row for rule in RULES for row in _rows(epsilons, rule)]
    return Result({"rows": table}, lambda: _print(table))


def _rows(epsilons: tuple[str, ...], rule: str) -> list[dict[str, Any]]:
    from nomadp.budget import as_epsilon
    from nomadp.mechanisms.pivot.granularity import (
        CANDIDATES,
        choose_granularity,
        success_probability,
    )

    return [
        {
            "rule": rule,
            "epsilon": text,
            "probabilities": {
                g: round(success_probability(epsilon, g, rule), DIGITS) for g in CANDIDATES
            },
            "chosen": choose_granularity(epsilon, rule),
        }
        for text, epsilon in [(text, as_epsilon(text)) for text in epsilons]
    ]


def _print(table: list[dict[str, Any]]) -> None:
    header = ["epsilon", *(f"g={g} " for g in table[0]["probabilities"])]
    for rule, reading in RULES.items():
        say(f'Rule "{rule}": {reading} (chosen number of sectors marked with *)')
        print_table(header, [_cells(row) for row in table if row["rule"] == rule])
        say()


def _cells(row: dict[str, Any]) -> list[str]:
    cells = [
        f"{probability:.{DIGITS}f}{'*' if g == row['chosen'] else ' '}"
        for g, probability in row["probabilities"].items()
    ]
    return [row["epsilon"], *cells]
