"""Tables of the page as HTML: readable without scripts. Everything is escaped here."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from nomadp.analysis.metrics import Scores
from nomadp.audit import AuditReport, AuditRow
from nomadp.budget import format_epsilon
from nomadp.demo.experiment import Findings, Run
from nomadp.demo.payload import LABELS
from nomadp.demo.sentences import listed

__all__ = [
    "audit_details",
    "audit_table",
    "curve_tables",
    "gallery_table",
    "paragraphs",
    "table",
]


@dataclass(frozen=True)
class Cell:
    """Text and a class for its looks; a drawing is made of numbers only, never of text."""

    text: str = ""
    kind: str = ""
    drawing: str = ""


LOSS_DIGITS = 4
SLACK_WIDTH = 120
AUDIT_COLUMNS = [
    Cell("Mechanism"),
    Cell("ε claimed", "number"),
    Cell("Transcript loss", "number"),
    Cell("Final loss", "number"),
    Cell("Losses against ε"),
    Cell("ε spent", "number"),
    Cell("Verdict"),
]
GALLERY_COLUMNS = [
    Cell("Broken variant"),
    Cell("What is wrong with it"),
    Cell("Transcript loss", "number"),
    Cell("Final loss", "number"),
    Cell("Caught by"),
    Cell("Verdict"),
]
COLUMN, ROW = 'scope="col"', 'scope="row"'


def paragraphs(sentences: Iterable[str]) -> str:
    return "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)


def table(caption: str, columns: Sequence[Cell], rows: Iterable[Sequence[Cell]]) -> str:
    """A table whose first column names its rows."""
    head = "".join(_element("th", column, COLUMN) for column in columns)
    body = "".join(
        f"<tr>{_element('th', name, ROW)}{''.join(_element('td', cell) for cell in cells)}</tr>"
        for name, *cells in rows
    )
    return (
        f"<table><caption>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _element(tag: str, cell: Cell, attributes: str = "") -> str:
    inside = escape(cell.text) + cell.drawing
    return f'<{tag} {attributes} class="{escape(cell.kind)}">{inside}</{tag}>'


def curve_tables(findings: Findings) -> str:
    """The numbers behind the charts, floors included."""
    floors = findings.floors
    error = _scores_table(
        findings,
        f"Normalised error over {floors.trajectories} journeys, with 95 % intervals: the mean "
        f"error as a share of the city's largest distance, {floors.diameter_km:.1f} km.",
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
        f"Percent of points within {radius_km:g} km of the truth, with 95 % intervals.",
        lambda scores: f"{scores.range_query[k]:.2f}",
        lambda run: f" ± {run.range_half_width[k]:.2f}",
    )


def _scores_table(
    findings: Findings,
    caption: str,
    show: Callable[[Scores], str],
    interval: Callable[[Run], str],
) -> str:
    plan, runs, floors = findings.study.plan, findings.runs, findings.floors
    rows = []
    for name in plan.mechanisms:
        row = [runs[name, epsilon] for epsilon in plan.epsilons]
        cells = [show(run.evaluation.measured) + interval(run) for run in row]
        rows.append([Cell(LABELS[name]), *(Cell(text, "number") for text in cells)])
    for label, scores in ("best constant", floors.constant), ("uniform", floors.uniform):
        rows.append([Cell(label), *[Cell(show(scores), "number")] * len(plan.epsilons)])
    columns = [Cell("Answer"), *(Cell(f"ε = {epsilon}", "number") for epsilon in plan.epsilons)]
    return table(caption, columns, rows)


def audit_table(report: AuditReport) -> str:
    """The worst that each mechanism was found to lose at each epsilon, over all lengths."""
    rows = []
    claims = [row for row in report.rows if row.private]
    for _, group in groupby(claims, key=lambda row: (row.mechanism, row.epsilon)):
        alike = list(group)
        transcript = max(row.transcript_loss for row in alike)
        final = max(row.final_loss for row in alike)
        rows.append(
            [
                Cell(LABELS.get(alike[0].mechanism, alike[0].mechanism)),
                Cell(format_epsilon(alike[0].epsilon), "number"),
                _loss(transcript),
                _loss(final),
                Cell(drawing=_slack(final, transcript, float(alike[0].epsilon))),
                Cell(_spent(alike), "number"),
                _verdict("holds" if all(row.ok for row in alike) else "broken"),
            ]
        )
    lengths = listed([str(length) for length in sorted({row.length for row in claims})])
    caption = f"The worst over journeys of {lengths} points, rounded up."
    caption += " In the bars, pale is the transcript loss, dark the final loss, the mark ε."
    return table(caption, AUDIT_COLUMNS, rows)


def audit_details(report: AuditReport) -> str:
    """The same, each length on its own."""
    columns = [
        AUDIT_COLUMNS[0],
        Cell("Points", "number"),
        *AUDIT_COLUMNS[1:4],
        *AUDIT_COLUMNS[5:],
    ]
    rows = [
        [
            Cell(LABELS.get(row.mechanism, row.mechanism)),
            Cell(str(row.length), "number"),
            Cell(format_epsilon(row.epsilon), "number"),
            _loss(row.transcript_loss),
            _loss(row.final_loss),
            Cell(_spent([row]), "number"),
            _verdict("holds" if row.ok else "broken"),
        ]
        for row in report.rows
        if row.private
    ]
    return table("Each length on its own.", columns, rows)


def gallery_table(report: AuditReport) -> str:
    """Mechanisms broken on purpose, and what gave each of them away."""
    published = [
        [
            Cell(row.mechanism.replace("-", " ")),
            Cell(f"the published algorithm as printed, on a {row.worst_map}", "soft"),
            _loss(row.transcript_loss),
            _loss(row.final_loss),
            Cell(", ".join(row.flags)),
            _verdict("flagged" if row.ok else "missed"),
        ]
        for row in report.rows
        if not row.private
    ]
    broken = [
        [
            Cell(row.name.replace("-", " ")),
            Cell(row.explanation, "soft"),
            _loss(row.transcript_loss),
            _loss(row.final_loss),
            Cell(", ".join(row.flagged_by)),
            _verdict("flagged" if row.flagged else "missed"),
        ]
        for row in report.gallery
    ]
    caption = "Every one of these has to be flagged, or the audit itself fails."
    return table(caption, GALLERY_COLUMNS, published + broken)


def _verdict(word: str) -> Cell:
    good = word in ("holds", "flagged")
    return Cell(f"{'✓' if good else '✗'} {word}", f"verdict {'good' if good else 'bad'}")


def _slack(final: float, transcript: float, epsilon: float) -> str:
    """Both losses on a scale that ends at epsilon; a loss beyond it reaches past the mark."""
    widths = [min(1.2, loss / epsilon) * SLACK_WIDTH for loss in (transcript, final)]
    return (
        f'<svg class="slack" width="{1.2 * SLACK_WIDTH:.0f}" height="12" aria-hidden="true">'
        f'<rect class="slack-transcript" y="2" width="{widths[0]:.1f}" height="8"/>'
        f'<rect class="slack-final" y="4" width="{widths[1]:.1f}" height="4"/>'
        f'<path class="slack-limit" d="M{SLACK_WIDTH} 0v12"/></svg>'
    )


def _spent(rows: Sequence[AuditRow]) -> str:
    amounts = sorted({spent for row in rows for spent in row.spent})
    return ", ".join(format_epsilon(amount) for amount in amounts)


def _loss(loss: float) -> Cell:
    return Cell("∞" if loss == math.inf else format_epsilon(loss, LOSS_DIGITS), "number")
