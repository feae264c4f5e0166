"""``nomadp audit``: the exact loss of every mechanism, and whether what runs has its law."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.options import ManyNumbers, Whole, file_option
from nomadp.cli.output import Answer, json_option, print_table, progress_bar, say

if TYPE_CHECKING:
    from nomadp.audit import AuditReport, AuditRequest

__all__ = ["audit"]

FEW_ROWS = 9
"""Up to so many, one mechanism by default, each row is followed into its steps."""
MISSED = (
    "A path that leaks or loses more than could be missed is found with a probability of 0.99."
)


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
@file_option("--locations", "Also say what laws over these locations can lose, in words.")
@click.option(
    "--thorough",
    is_flag=True,
    help="More maps and draws, finer directions, the index of large sets: minutes.",
)
@click.option(
    "--seed",
    type=Whole(0, 2**64 - 1),
    metavar="N",
    help="Draw again what an audit drew that named this seed; a fresh one by default.",
)
@json_option
def audit(**options: Any) -> Answer:
    """Measure the exact loss of each mechanism on small maps; exit 1 if a claim does not hold.

    Every choice of a mechanism's program is walked for every input. Rational arithmetic, in the
    words that draw each output, decides; printed losses are rounded up. Paths that draw many
    trajectories at once are sampled against the exact law at every length and, where they must
    give the reference's own reports, compared with it over random sets and lengths. The verdict
    says what share of leaked reports and which loss could have been missed, and which paths
    were not seen.
    Variants known to be broken are walked too, and each must be caught; finding one broken is
    therefore a success.

    \b
    Example:
      nomadp audit --mechanism atp --epsilon 0.1 1 4 --length 1 2 3
    """
    from nomadp.audit import run_audit
    from nomadp.mechanisms import plugin_problems

    for problem in () if options["mechanisms"] else plugin_problems():
        say(f"nomadp: {problem}", err=True)
    with progress_bar("auditing") as bar:
        report = run_audit(_request(options), bar.reach)
    return Answer(report.as_dict(), lambda: _print(report), report.ok)


def _request(options: dict[str, Any]) -> "AuditRequest":
    """Naming a mechanism or a variant leaves the rest out; defaults stay with the audit."""
    from nomadp.audit import AuditRequest
    from nomadp.budget import as_epsilon
    from nomadp.mechanisms import PUBLISHED

    asked: dict[str, Any] = {"thorough": options["thorough"]}
    if options["locations"] is not None:
        from nomadp.formats.location_files import read_locations

        asked["locations"] = read_locations(options["locations"])
    if options["epsilons"]:
        asked["epsilons"] = tuple(map(as_epsilon, options["epsilons"]))
    if options["lengths"]:
        asked["lengths"] = options["lengths"]
    if options["seed"] is not None:
        asked["seed"] = options["seed"]
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
    parts = report.as_dict()
    few = parts["mechanisms"] if len(report.rows) <= FEW_ROWS else []
    parts["steps"] = [row | step for row in few for step in row["steps"]]
    for part, (title, columns, verdict) in SECTIONS.items():
        rows = [{**row, "verdict": verdict(row)} for row in parts[part]]
        if not rows:
            continue
        say(title)
        print_table(
            list(columns), [[_cell(row, key) for key in columns.values()] for row in rows]
        )
        say()
        if part == "paths" and report.leak_missed is not None:
            say(f"{MISSED}\n")
    say(_verdict(report))


def _verdict(report: "AuditReport") -> str:
    """With what it could have missed: no sampling finds every leak."""
    said = ["every check passed" if report.ok else "A CHECK FAILED"]
    if report.leak_missed is not None and report.loss_missed is not None:
        loss, epsilon = report.loss_missed
        said.append(
            f"A path could leak {100 * report.leak_missed:.2g} % of its reports, or lose "
            f"{loss:.3g} at epsilon {epsilon}, unseen."
        )
    if report.unseen_paths:
        said.append(f"Not seen at all: {', '.join(report.unseen_paths)}.")
    if report.seed is not None:
        said.append(f"Repeat with --seed {report.seed}.")
    return "\n".join(said)


def _cell(row: dict[str, Any], key: str) -> str:
    value = row.get(key, "-")
    return ", ".join(value) if isinstance(value, list) else str(value)


def _claim(row: dict[str, Any]) -> str:
    if not row["flags"]:
        return "holds" if row["private"] else "NOT CAUGHT"
    reasons = ", ".join(row["flags"])
    return f"BROKEN ({reasons})" if row["private"] else f"not private, as it says ({reasons})"


def _fit(row: dict[str, Any]) -> str:
    if "epsilon" not in row and "law" not in row:
        return str(row["seen"])
    if "differing" in row:
        return "equals the reference" if row["ok"] else f"{row['differing']} DIFFER"
    return "fits" if row["ok"] else "DOES NOT FIT"


def _words(row: dict[str, Any]) -> str:
    if row["refused"]:
        return "refused, so never drawn"
    return "holds" if row["ok"] else "BROKEN (words)"


CLAIM = {"mechanism": "mechanism", "epsilon": "epsilon", "length": "length"}
LOSSES = {"transcript": "transcript_loss", "final output": "final_loss"}
TEST = {"draws": "draws", "chi-square": "chi_square", "limit": "limit"}
VERDICT = {"verdict": "verdict"}

SECTIONS: dict[str, tuple[str, dict[str, str], Callable[[dict[str, Any]], str]]] = {
    "mechanisms": (
        "Exact loss, the worst over all maps walked",
        {**CLAIM, "spent": "spent", **LOSSES, **VERDICT},
        _claim,
    ),
    "steps": (
        "The worst single draw of each kind",
        {**CLAIM, "step": "step", "may cost": "share", "costs": "loss"},
        _claim,
    ),
    "gallery": (
        "Broken variants, each of which must be caught",
        {"variant": "name", "epsilon": "epsilon", **LOSSES, "caught by": "verdict"},
        lambda row: ", ".join(row["flagged_by"]) or "MISSED",
    ),
    "sampler": ("Draws against their law", {"law": "law", **TEST, **VERDICT}, _fit),
    "paths": (
        "What draws: programs are walked, paths for many trajectories compared or sampled",
        {
            **{"mechanism": "mechanism", "path": "path", "epsilon": "epsilon"},
            **{"length": "length", "reports": "reports", "p-value": "p_value"},
            **{"leak missed": "leak_missed", "loss missed": "loss_missed", **VERDICT},
        },
        _fit,
    ),
    "full_size": (
        "At full size: the most that all draws together can lose, in the words that draw them",
        {**CLAIM, "locations": "locations", "at most": "loss", **VERDICT},
        _words,
    ),
}
"""By part of a report: its title, its headings with the keys below them, and its verdict."""
