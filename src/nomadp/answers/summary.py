"""The main finding of an estimate: as data, and as the sentence above its map and rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from nomadp.answers.geometry import value_column
from nomadp.answers.sentences import estimate_text, is_withheld, row_name, row_noun

if TYPE_CHECKING:
    from nomadp.answers.estimate import Estimate
    from nomadp.answers.scene import Scene

__all__ = ["Finding", "direction", "finding", "summary"]

Outcome = Literal[
    "too_few_reports",
    "trajectories",
    "rows",
    "largest",
    "not_significant",
    "all_within_areas",
    "highest",
    "highest_significant",
    "only_lower",
    "only_within_areas",
]


class Finding(NamedTuple):
    """The claim of the sentence."""

    outcome: Outcome
    row: int | None = None
    """The row that the sentence names."""
    number: int = 0
    """The number of missing reports, or of the rows that the sentence counts."""


_SENTENCES: dict[tuple[Outcome, str], str] = {
    ("too_few_reports", ""): "Too few reports: {count:,} more are needed{least}.",
    ("trajectories", "trajectories"): (
        "{count:,} reports, each decoded to the trajectory with the smallest expected error."
    ),
    ("trajectories", "synthetic"): (
        "{count:,} trajectories drawn from the fitted model. None of them is a real one."
    ),
    ("rows", ""): "{count:,} rows.",
    ("rows", "lengths"): "{count:,} different lengths.",
    ("largest", ""): (
        "The largest estimate is {name}: {estimate}. Its uncertainty is unknown{why}."
    ),
    ("largest", "flows"): (
        "The largest estimate for trips between areas is {name}: {estimate}. Its uncertainty "
        "is unknown{why}."
    ),
    ("not_significant", ""): (
        "No {place} differs significantly from the baseline. Larger areas or more reports may "
        "show a difference."
    ),
    ("all_within_areas", "flows"): "All trips stay within one area.",
    ("highest", ""): "{name} is the most visited {place}: {estimate}.",
    ("highest", "starts"): "{name} is the most common origin: {estimate}.",
    ("highest", "ends"): "{name} is the most common destination: {estimate}.",
    ("highest", "flows"): ("The most common trip between areas is from {name}: {estimate}."),
    ("highest_significant", ""): (
        "Of the {place}s significantly above the baseline, {name} has the largest share: "
        "{estimate}."
    ),
    ("highest_significant", "flows"): (
        "Of the flows between areas significantly above the baseline, the largest is from "
        "{name}: {estimate}."
    ),
    ("only_lower", ""): (
        "No {place} is significantly above the baseline; {count:,} {are} significantly below "
        "it. {name} is furthest below: {estimate}."
    ),
    ("only_lower", "flows"): (
        "No flow between areas is significantly above the baseline; {count:,} {are} "
        "significantly below it. The largest of these is from {name}: {estimate}."
    ),
    ("only_within_areas", "flows"): (
        "No flow between areas differs significantly from the baseline; {count:,} within one "
        "area {do}."
    ),
}
"""Keys are the outcome, and the kind of estimate or the ends of trips that it counts."""


def summary(table: "Estimate", scene: "Scene | None") -> str:
    """The main finding in one or two sentences."""
    main = finding(table, scene)
    keys: list[tuple[Outcome, str]] = [
        (main.outcome, table.kind),
        (main.outcome, str(table.about.get("at"))),
        (main.outcome, ""),
    ]
    sentence = next(_SENTENCES[key] for key in keys if key in _SENTENCES)
    is_one, reason = main.number == 1, table.about.get("no_intervals")
    return sentence.format(
        name="" if main.row is None else row_name(table, main.row),
        estimate="" if main.row is None else estimate_text(table, main.row),
        count=main.number,
        place=row_noun(table),
        are="is" if is_one else "are",
        do="does" if is_one else "do",
        why=f": {reason}" if reason else "",
        least=_minimum(table),
    )


def _minimum(table: "Estimate") -> str:
    rule = table.about.get("suppression")
    if not isinstance(rule, dict) or "min_batch_size" not in rule:
        return ""
    return f" (minimum batch size {rule['min_batch_size']:,})"


def finding(table: "Estimate", scene: "Scene | None") -> Finding:
    """The largest row significantly above the baseline; of flows, between two areas.

    A row below the baseline is never called the most common, however large its share. Without
    intervals the largest estimate is named, but not compared with the baseline.
    """
    about, column = table.about, table.columns
    if about.get("missing"):
        return Finding("too_few_reports", number=about["missing"])
    if table.kind in ("trajectories", "synthetic") and "tid" in column:
        return Finding("trajectories", number=len(set(table["tid"])))
    if scene is None or not scene.ranking or table.kind not in ("hotspots", "density", "flows"):
        return Finding("rows", number=len(table))
    rows = list(scene.ranking)
    if table.kind == "flows":
        rows = [k for k in rows if column["origin"][k] != column["destination"][k]]
    if is_withheld(table):
        return Finding("largest", rows[0]) if rows else Finding("all_within_areas")
    significant = column.get("significant")
    if significant is not None and not significant.any():
        return Finding("not_significant")
    if not rows:
        return Finding("all_within_areas")
    above = [k for k in rows if direction(table, k) > 0]
    below = [k for k in rows if direction(table, k) < 0]
    if above:
        return Finding("highest" if above[0] == rows[0] else "highest_significant", above[0])
    if below:
        return Finding("only_lower", _row_to_name(table, below), len(below))
    number = 0 if significant is None else int(significant.sum())
    return Finding("only_within_areas", number=number)


def direction(table: "Estimate", row: int) -> int:
    """1 or -1 for a row significantly above or below the baseline, 0 for any other."""
    column = table.columns
    if "significant" in column and not column["significant"][row]:
        return 0
    if "baseline" not in column:
        return 1
    return 1 if column[value_column(column)][row] > column["baseline"][row] else -1


def _row_to_name(table: "Estimate", below: Sequence[int]) -> int:
    """The largest flow, which the map shows, or the area furthest below the baseline."""
    if table.kind == "flows":
        return below[0]
    column = table.columns
    value = column[value_column(column)]
    return max(below, key=lambda k: column["baseline"][k] - value[k])
