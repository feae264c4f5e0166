"""``nomadp explain``: what an epsilon promises, and where every part of it goes."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.options import chosen_options, json_option, mechanism_option, variant_options
from nomadp.cli.output import print_json, print_table

if TYPE_CHECKING:
    from nomadp.budget import Split
    from nomadp.mechanisms import Mechanism

__all__ = ["explain"]

NOT_COVERED = (
    "the number of points: a report has as many as the trajectory it was made from",
    "timestamps and user ids: no report carries them, and no epsilon here pays for them",
    "repetition: perturbing the same trajectory again spends the same epsilon again",
)


@click.command()
@mechanism_option
@click.option("--epsilon", required=True, metavar="E", help="Budget of a whole trajectory.")
@click.option(
    "--length",
    type=click.IntRange(1, 100_000),
    required=True,
    metavar="N",
    help="Number of points of the trajectory; it is public.",
)
@variant_options
@json_option
def explain(
    *, mechanism: str, epsilon: str, length: int, as_json: bool, **options: Any
) -> None:
    """Where epsilon goes, step by step, and what it promises in words.

    \b
    Example:
      nomadp explain --mechanism atp --epsilon 4 --length 5
    """
    subject = _on_any_map(mechanism, epsilon, chosen_options(options))
    split = subject.split(length)
    if as_json:
        print_json(_as_dict(subject, split, length))
        return
    click.echo(
        f"{subject.name} version {subject.version} at epsilon {epsilon}, {length} point(s)\n"
    )
    _print_steps(split)
    click.echo(f"\nPromise: {_promise(subject)}.")
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


def _as_dict(subject: "Mechanism", split: "Split", length: int) -> dict[str, Any]:
    return {
        "mechanism": subject.name,
        "mechanism_version": subject.version,
        "params": subject.get_params(),
        "private": subject.private,
        "length": length,
        "steps": [
            {
                "name": step.name,
                "copy": step.copy,
                "count": step.count,
                "share": step.share,
                "share_at_most": _decimal(step.share),
                "total": step.total,
            }
            for step in split.steps
        ],
        "total": sum((step.total for step in split.steps), Fraction()),
        "odds_at_most": _odds(subject) if subject.private else None,
        "promise": _promise(subject),
        "not_covered": list(NOT_COVERED),
    }


def _print_steps(split: "Split") -> None:
    rows = [
        [
            step.name,
            str(step.copy or "-"),
            str(step.count),
            str(step.share),
            _decimal(step.share),
            str(step.total),
            _decimal(step.total),
        ]
        for step in split.steps
    ]
    total = sum((step.total for step in split.steps), Fraction())
    count = str(sum(step.count for step in split.steps))
    print_table(
        ["step", "copy", "draws", "each", "(at most)", "together", "(at most)"],
        [*rows, ["total", "", count, "", "", str(total), _decimal(total)]],
    )


def _decimal(share: Fraction) -> str:
    from nomadp.budget import format_epsilon

    return format_epsilon(share)


def _odds(subject: "Mechanism") -> str:
    """e^epsilon, rounded up."""
    from nomadp.budget import exp_lower, format_epsilon

    above = exp_lower(subject.epsilon) * (1 + Fraction(1, 2**100))
    return format_epsilon(above, digits=2)


def _promise(subject: "Mechanism") -> str:
    if not subject.private:
        return f"none; {subject.warning.rstrip('.')}"
    return (
        "take any two trajectories of this length; whatever is reported is at most "
        f"e^epsilon = {_odds(subject)} times likelier under one than under the other"
    )
