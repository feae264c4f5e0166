"""The page's tables, which need no JavaScript."""

import math
from collections.abc import Callable, Sequence
from itertools import groupby

from nomadp.analysis.metrics import Scores
from nomadp.audit import AuditReport, AuditRow, GalleryRow
from nomadp.budget import format_epsilon
from nomadp.demo.experiment import Findings, Run
from nomadp.demo.payload import LABELS
from nomadp.page import Cell, listed, number, table

__all__ = ["audit_details", "audit_table", "curve_tables", "gallery_table"]

LOSS_DIGITS = 4
SLACK_WIDTH = 120
AS_PRINTED = "the published algorithm as printed, on a"
LOSSES = [number("Transcript loss"), number("Final loss")]
AUDIT_COLUMNS = [
    *(Cell("Mechanism"), number("ε claimed"), *LOSSES),
    *(Cell("Losses compared with ε"), number("ε used"), Cell("Verdict")),
]
GALLERY_COLUMNS = [
    *(Cell("Broken variant"), Cell("What is wrong with it"), *LOSSES),
    *(Cell("Caught by"), Cell("Verdict")),
]


def curve_tables(findings: Findings) -> str:
    """The numbers in the charts, including the baselines."""
    baselines = findings.baselines
    error = _scores_table(
        findings,
        f"Normalised error over {baselines.trajectories} journeys, with 95 % confidence "
        "intervals: the mean error divided by the city diameter, "
        f"{baselines.diameter_km:.1f} km.",
        lambda scores: f"{scores.normalised_error:.4f}",
        lambda run: f" ± {run.error_half_width:.4f}",
    )
    return error + "".join(
        _range_table(findings, k, radius_km)
        for k, radius_km in enumerate(findings.study.plan.radii_km)
    )


def _range_table(findings: Findings, k: int, radius_km: float) -> str:
    return _scores_table(
        findings,
        f"Percentage of points within {radius_km:g} km of the truth, with 95 % confidence "
        "intervals.",
        lambda scores: f"{scores.range_query[k]:.2f}",
        lambda run: f" ± {run.range_half_width[k]:.2f}",
    )


def _scores_table(
    findings: Findings,
    caption: str,
    show: Callable[[Scores], str],
    interval: Callable[[Run], str],
) -> str:
    plan, runs, baselines = findings.study.plan, findings.runs, findings.baselines
    rows = []
    for name in plan.mechanisms:
        row = [runs[name, epsilon] for epsilon in plan.epsilons]
        cells = [number(show(run.evaluation.measured) + interval(run)) for run in row]
        rows.append([Cell(LABELS[name]), *cells])
    for label, scores in (
        ("constant baseline", baselines.constant),
        ("uniform baseline", baselines.uniform),
    ):
        rows.append([Cell(label), *[number(show(scores))] * len(plan.epsilons)])
    columns = [Cell("Answer"), *(number(f"ε = {epsilon}") for epsilon in plan.epsilons)]
    return table(caption, columns, rows)


def audit_table(report: AuditReport) -> str:
    """The largest privacy loss of each mechanism at each epsilon, over all lengths."""
    claims = [row for row in report.rows if row.private]
    groups = groupby(claims, key=lambda row: (row.mechanism, row.epsilon))
    lengths = listed([str(length) for length in sorted({row.length for row in claims})])
    caption = f"The largest loss over journeys of {lengths} points, rounded up."
    caption += " Pale bars show the transcript loss, dark bars the final loss, and the mark ε."
    return table(caption, AUDIT_COLUMNS, [_audited(list(rows)) for _, rows in groups])


def audit_details(report: AuditReport) -> str:
    """The privacy losses for each length separately."""
    rows = [_detailed(_audited([row]), str(row.length)) for row in report.rows if row.private]
    return table("Losses for each length.", _detailed(AUDIT_COLUMNS, "Points"), rows)


def _audited(rows: Sequence[AuditRow]) -> list[Cell]:
    """One row of the table: the largest losses of rows that differ only in length."""
    first = rows[0]
    transcript = max(row.transcript_loss for row in rows)
    final = max(row.final_loss for row in rows)
    epsilon_used = sorted({value for row in rows for value in row.spent})
    return [
        Cell(LABELS.get(first.mechanism, first.mechanism)),
        number(format_epsilon(first.epsilon)),
        _loss(transcript),
        _loss(final),
        Cell(drawing=_slack(final, transcript, float(first.epsilon))),
        number(", ".join(map(format_epsilon, epsilon_used))),
        _verdict("holds" if all(row.ok for row in rows) else "broken"),
    ]


def _detailed(cells: Sequence[Cell], length: str) -> list[Cell]:
    """The same columns with the length instead of the bars."""
    return [cells[0], number(length), *cells[1:4], *cells[5:]]


def gallery_table(report: AuditReport) -> str:
    """Mechanisms that are broken on purpose, and the check that caught each."""
    published = [
        (row.mechanism, f"{AS_PRINTED} {row.worst_map}", _losses(row), row.flags)
        for row in report.rows
        if not row.private
    ]
    broken = [
        (row.name, row.explanation, _losses(row), row.flagged_by) for row in report.gallery
    ]
    rows = [
        [
            *(Cell(name.replace("-", " ")), Cell(explanation, "soft"), *losses),
            *(Cell(", ".join(flags)), _verdict("flagged" if flags else "missed")),
        ]
        for name, explanation, losses, flags in published + broken
    ]
    caption = "The audit fails unless it flags every one of these."
    return table(caption, GALLERY_COLUMNS, rows)


def _verdict(verdict: str) -> Cell:
    is_good = verdict in ("holds", "flagged")
    mark, style = ("✓", "good") if is_good else ("✗", "bad")
    return Cell(f"{mark} {verdict}", f"verdict {style}")


def _slack(final: float, transcript: float, epsilon: float) -> str:
    """Bars of both losses; a loss above epsilon extends beyond the mark."""
    widths = [min(1.2, loss / epsilon) * SLACK_WIDTH for loss in (transcript, final)]
    return (
        f'<svg class="slack" width="{1.2 * SLACK_WIDTH:.0f}" height="12" aria-hidden="true">'
        f'<rect class="slack-transcript" y="2" width="{widths[0]:.1f}" height="8"/>'
        f'<rect class="slack-final" y="4" width="{widths[1]:.1f}" height="4"/>'
        f'<path class="slack-limit" d="M{SLACK_WIDTH} 0v12"/></svg>'
    )


def _losses(row: AuditRow | GalleryRow) -> tuple[Cell, Cell]:
    return _loss(row.transcript_loss), _loss(row.final_loss)


def _loss(loss: float) -> Cell:
    return number("∞" if loss == math.inf else format_epsilon(loss, LOSS_DIGITS))
