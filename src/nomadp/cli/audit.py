"""``nomadp audit``: the exact loss of every mechanism, and whether what runs has its law."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.options import EXISTING, ManyNumbers, Whole, json_option
from nomadp.cli.output import print_json, print_table
from nomadp.cli.progress import progress_bar

if TYPE_CHECKING:
    from nomadp.audit import AuditReport, AuditRequest

__all__ = ["audit"]

FEW_ROWS = 9
"""Up to so many, one mechanism by default, each row is followed into its steps."""


@click.command(cls=ManyNumbers)
@click.option(
    "--mechanism",
    "mechanisms",
    multiple=True,
    metavar="NAME",
    help="Only this one; repeatable.",
)
@click.option(
    "--variant", "variants", multiple=True, metavar="NAME", help="Only this broken variant."
)
@click.option(
    "--epsilon", "epsilons", multiple=True, metavar="E...", help="Claims; 0.1 1 4 by default."
)
@click.option(
    "--length",
    "lengths",
    type=Whole(1, 6),
    multiple=True,
    metavar="N...",
    help="Numbers of points; 1 2 3 by default.",
)
@click.option(
    "--gallery/--no-gallery",
    default=None,
    help="With or without the broken variants that must be caught.",
)
@click.option(
    "--locations",
    type=EXISTING,
    metavar="FILE",
    help="Also say what laws over these locations can lose, in words.",
)
@click.option(
    "--thorough",
    is_flag=True,
    help="More maps, finer directions, the index of large sets: minutes.",
)
@json_option
@click.pass_context
def audit(context: click.Context, /, *, as_json: bool, **options: Any) -> None:
    """Measure the exact loss of each mechanism on small maps; exit 1 if a claim does not hold.

    Every choice of a mechanism's program is walked for every input. Rational arithmetic, in the
    words that draw each output, decides; printed losses are rounded up. Paths that draw many
    trajectories at once are sampled against the exact law, with a fixed seed, and it is said
    which were not seen. Variants known to be broken are walked too, and each must be caught;
    finding one broken is therefore a success.

    \b
    Example:
      nomadp audit --mechanism atp --epsilon 0.1 1 4 --length 1 2 3
    """
    from nomadp.audit import run_audit
    from nomadp.mechanisms import plugin_problems

    for problem in () if options["mechanisms"] else plugin_problems():
        click.echo(f"nomadp: {problem}", err=True)
    with progress_bar("auditing") as bar:
        report = run_audit(_request(options), bar.reach)
    if as_json:
        print_json(report.as_dict())
    else:
        _print(report)
    if not report.ok:
        context.exit(1)


def _request(options: dict[str, Any]) -> "AuditRequest":
    """Naming a mechanism or a variant leaves the rest out; defaults stay with the audit."""
    from nomadp.audit import AuditRequest
    from nomadp.budget import as_epsilon
    from nomadp.mechanisms import PUBLISHED

    asked: dict[str, Any] = {"thorough": options["thorough"]}
    if options["locations"] is not None:
        from nomadp.formats.tables import read_locations

        asked["locations"] = read_locations(options["locations"])
    if options["epsilons"]:
        asked["epsilons"] = tuple(map(as_epsilon, options["epsilons"]))
    if options["lengths"]:
        asked["lengths"] = options["lengths"]
    named, variants = options["mechanisms"], options["variants"]
    if named or variants:
        asked["mechanisms"] = tuple(name for name in named if name not in PUBLISHED)
        asked["published"] = tuple(name for name in (*named, *variants) if name in PUBLISHED)
        asked["gallery"] = tuple(name for name in variants if name not in PUBLISHED)
        asked["draws"] = 0
    if options["gallery"] is not None and not variants:
        asked["gallery"] = None if options["gallery"] else ()
    return AuditRequest(**asked)


def _print(report: "AuditReport") -> None:
    _print_losses(report)
    if len(report.rows) <= FEW_ROWS:
        _print_steps(report)
    _print_gallery(report)
    _print_sampler(report)
    _print_paths(report)
    _print_full_size(report)
    click.echo("every check passed" if report.ok else "A CHECK FAILED")


def _print_losses(report: "AuditReport") -> None:
    _print_section(
        "Exact loss, the worst over all maps walked",
        ["mechanism", "epsilon", "length", "spent", "transcript", "final output", "verdict"],
        [
            [
                *(str(row[key]) for key in ("mechanism", "epsilon", "length")),
                ", ".join(row["spent"]),
                *(str(row[key]) for key in ("transcript_loss", "final_loss")),
                _verdict(row),
            ]
            for row in (row.as_dict() for row in report.rows)
        ],
    )


def _print_gallery(report: "AuditReport") -> None:
    shown = ("name", "epsilon", "transcript_loss", "final_loss")
    _print_section(
        "Broken variants, each of which must be caught",
        ["variant", "epsilon", "transcript", "final output", "caught by"],
        [
            [*(str(row[key]) for key in shown), ", ".join(row["flagged_by"]) or "MISSED"]
            for row in (row.as_dict() for row in report.gallery)
        ],
    )


def _print_sampler(report: "AuditReport") -> None:
    shown = ("law", "draws", "chi_square", "limit")
    _print_section(
        "Draws against their law",
        ["law", "draws", "chi-square", "limit", "verdict"],
        [
            [*(str(row[key]) for key in shown), "fits" if row["ok"] else "DOES NOT FIT"]
            for row in (row.as_dict() for row in report.sampler)
        ],
    )


def _print_paths(report: "AuditReport") -> None:
    shown = ("mechanism", "path", "epsilon", "draws", "chi_square", "limit", "loss_ruled_out")
    _print_section(
        "What draws: programs are walked, paths for many trajectories sampled on this machine",
        [
            "mechanism",
            "path",
            "epsilon",
            "draws",
            "chi-square",
            "limit",
            "rules out",
            "verdict",
        ],
        [
            [*(str(row.get(key, "-")) for key in shown), _fit(row)]
            for row in (row.as_dict() for row in report.paths)
        ],
    )
    if any(row.epsilon for row in report.paths):
        click.echo(
            "A path that loses more than it rules out is found with a probability of 0.99.\n"
        )


def _fit(row: dict[str, Any]) -> str:
    if "epsilon" not in row:
        return str(row["seen"])
    return "fits" if row["ok"] else "DOES NOT FIT"


def _print_full_size(report: "AuditReport") -> None:
    shown = ("mechanism", "epsilon", "length", "locations", "loss")
    _print_section(
        "At full size: the most that all draws together can lose, in the words that draw them",
        ["mechanism", "epsilon", "length", "locations", "at most", "verdict"],
        [
            [
                *(str(row[key]) for key in shown),
                "refused, so never drawn" if row["refused"] else _held(row),
            ]
            for row in (row.as_dict() for row in report.full_size)
        ],
    )


def _held(row: dict[str, Any]) -> str:
    return "holds" if row["ok"] else "BROKEN (words)"


def _print_steps(report: "AuditReport") -> None:
    _print_section(
        "The worst single draw of each kind",
        ["mechanism", "epsilon", "length", "step", "may cost", "costs"],
        [
            [
                *(str(row[key]) for key in ("mechanism", "epsilon", "length")),
                *(str(step[key]) for key in ("step", "share", "loss")),
            ]
            for row in (row.as_dict() for row in report.rows)
            for step in row["steps"]
        ],
    )


def _verdict(row: dict[str, Any]) -> str:
    if not row["flags"]:
        return "holds" if row["private"] else "NOT CAUGHT"
    reasons = ", ".join(row["flags"])
    return f"BROKEN ({reasons})" if row["private"] else f"not private, as it says ({reasons})"


def _print_section(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if rows:
        click.echo(title)
        print_table(header, rows)
        click.echo()
