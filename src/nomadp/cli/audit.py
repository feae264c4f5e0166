"""``nomadp audit``: the exact loss of every mechanism, and tests of its fast paths."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from nomadp.cli.options import ManyNumbers, Whole, file_option
from nomadp.cli.output import Result, json_option, print_table, progress_bar, say

if TYPE_CHECKING:
    from nomadp.audit import AuditReport, AuditRequest

__all__ = ["audit"]

FEW_ROWS = 9
"""Up to this many rows (one mechanism by default), the steps of each are shown."""
DETECTION = "A path that exceeds these limits is detected with probability 0.99."


@click.command(cls=ManyNumbers)
@click.option(
    "--mechanism",
    "mechanisms",
    multiple=True,
    metavar="NAME",
    help="Audit only this mechanism; repeatable.",
)
@click.option(
    "--variant",
    "variants",
    multiple=True,
    metavar="NAME",
    help="Audit only this broken variant; repeatable.",
)
@click.option(
    "--epsilon",
    "epsilons",
    multiple=True,
    metavar="E...",
    help="Claimed privacy budgets (default: 0.1 1 4).",
)
@click.option(
    "--length",
    "lengths",
    type=Whole(1, 6),
    multiple=True,
    metavar="N...",
    help="Numbers of points of a trajectory (default: 1 2 3).",
)
@click.option(
    "--gallery/--no-gallery",
    default=None,
    help="Also audit, or skip, the broken variants, each of which must be detected.",
)
@file_option(
    "--locations",
    "Also bound the loss over these locations, for the 64-bit random words that are drawn.",
)
@click.option(
    "--thorough",
    is_flag=True,
    help="Test more maps, draws and directions, and the index of large sets (takes minutes).",
)
@click.option(
    "--seed",
    type=Whole(0, 2**64 - 1),
    metavar="N",
    help="Repeat the draws of an audit that printed this seed (default: a fresh seed).",
)
@json_option
def audit(**options: Any) -> Result:
    """Compute the exact privacy loss of each mechanism on small maps.

    The audit enumerates every choice of a mechanism's program for every input. It compares the
    probabilities as exact fractions of 64-bit random words; printed losses are rounded up.

    Code paths that perturb many trajectories at once are sampled and tested against the exact
    law at every length. Paths that must return the same reports as the reference program are
    compared with it over random sets and lengths. The output ends with the largest leak and
    the largest loss that could have gone undetected, and the paths that were not tested.

    Variants that are known to be broken are audited too, and each must be detected. Exits with
    1 if a claim does not hold.

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
    return Result(report.as_dict(), lambda: _print(report), report.ok)


def _request(options: dict[str, Any]) -> "AuditRequest":
    """Only what the options name; `AuditRequest` states the defaults."""
    from nomadp.audit import AuditRequest
    from nomadp.budget import as_epsilon
    from nomadp.mechanisms import PUBLISHED

    settings: dict[str, Any] = {"thorough": options["thorough"]}
    if options["locations"] is not None:
        from nomadp.formats.location_files import read_locations

        settings["locations"] = read_locations(options["locations"])
    if options["epsilons"]:
        settings["epsilons"] = tuple(map(as_epsilon, options["epsilons"]))
    if options["lengths"]:
        settings["lengths"] = options["lengths"]
    if options["seed"] is not None:
        settings["seed"] = options["seed"]
    names, variants = options["mechanisms"], options["variants"]
    if names or variants:
        settings["mechanisms"] = tuple(name for name in names if name not in PUBLISHED)
        settings["published"] = tuple(name for name in (*names, *variants) if name in PUBLISHED)
        settings["gallery"] = tuple(name for name in variants if name not in PUBLISHED)
        settings["draws"] = 0  # the samplers are tested with the whole audit only
    if options["gallery"] is not None and not variants:
        settings["gallery"] = None if options["gallery"] else ()
    return AuditRequest(**settings)


def _print(report: "AuditReport") -> None:
    parts = report.as_dict()
    with_steps = parts["mechanisms"] if len(report.rows) <= FEW_ROWS else []
    parts["steps"] = [row | step for row in with_steps for step in row["steps"]]
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
            say(f"{DETECTION}\n")
    say(_verdict(report))


def _verdict(report: "AuditReport") -> str:
    """The verdict, and the leak and the loss that sampling could have missed."""
    lines = ["every check passed" if report.ok else "A CHECK FAILED"]
    if report.leak_missed is not None and report.loss_missed is not None:
        loss, epsilon = report.loss_missed
        lines.append(
            f"A path could leak {100 * report.leak_missed:.2g} % of its reports, or lose "
            f"{loss:.3g} at epsilon {epsilon}, without being detected."
        )
    if report.unseen_paths:
        lines.append(f"Not tested: {', '.join(report.unseen_paths)}.")
    if report.seed is not None:
        lines.append(f"Repeat with --seed {report.seed}.")
    return "\n".join(lines)


def _cell(row: dict[str, Any], key: str) -> str:
    value = row.get(key, "-")
    return ", ".join(value) if isinstance(value, list) else str(value)


def _loss_verdict(row: dict[str, Any]) -> str:
    if not row["flags"]:
        return "holds" if row["private"] else "NOT DETECTED"
    reasons = ", ".join(row["flags"])
    return f"BROKEN ({reasons})" if row["private"] else f"not private, as stated ({reasons})"


def _test_verdict(row: dict[str, Any]) -> str:
    if "epsilon" not in row and "law" not in row:
        return "enumerated" if row["seen"] == "walked" else str(row["seen"])
    if "differing" in row:
        return "equals the reference" if row["ok"] else f"{row['differing']} DIFFER"
    return "consistent" if row["ok"] else "INCONSISTENT"


def _full_size_verdict(row: dict[str, Any]) -> str:
    if row["refused"]:
        return "refused before any draw"
    return "holds" if row["ok"] else "BROKEN (64-bit words)"


CLAIM = {"mechanism": "mechanism", "epsilon": "epsilon", "length": "length"}
LOSSES = {"transcript": "transcript_loss", "final output": "final_loss"}
TEST = {"draws": "draws", "chi-square": "chi_square", "limit": "limit"}
VERDICT = {"verdict": "verdict"}

SECTIONS: dict[str, tuple[str, dict[str, str], Callable[[dict[str, Any]], str]]] = {
    "mechanisms": (
        "Exact privacy loss (largest over all maps)",
        {**CLAIM, "budget used": "spent", **LOSSES, **VERDICT},
        _loss_verdict,
    ),
    "steps": (
        "Privacy loss per step (largest of a single draw)",
        {**CLAIM, "step": "step", "allowed": "share", "loss": "loss"},
        _loss_verdict,
    ),
    "gallery": (
        "Broken variants, each of which must be detected",
        {"variant": "name", "epsilon": "epsilon", **LOSSES, "detected by": "verdict"},
        lambda row: ", ".join(row["flagged_by"]) or "MISSED",
    ),
    "sampler": (
        "Samples tested against their exact law",
        {"law": "law", **TEST, **VERDICT},
        _test_verdict,
    ),
    "paths": (
        "Code paths (the reference is enumerated; bulk paths are compared with it or sampled)",
        {
            **{"mechanism": "mechanism", "path": "path", "epsilon": "epsilon"},
            **{"length": "length", "reports": "reports", "p-value": "p_value"},
            **{"undetected leak": "leak_missed", "undetected loss": "loss_missed", **VERDICT},
        },
        _test_verdict,
    ),
    "full_size": (
        "Full size (upper bound on the loss of a whole report, for the 64-bit words drawn)",
        {**CLAIM, "locations": "locations", "at most": "loss", **VERDICT},
        _full_size_verdict,
    ),
}
"""Per section of a report: its title, the key of each column, and the verdict on a row."""
