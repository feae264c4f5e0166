"""What an answer found: a finding as data, and the sentence that says it over map and rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from nomadp.answers.geometry import value_column
from nomadp.answers.sentences import is_withheld, row_name

if TYPE_CHECKING:
    from nomadp.answers.scene import Scene
    from nomadp.answers.table import Table

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
    """What the headline claims, before it is a sentence."""

    outcome: Outcome
    row: int | None = None
    """The row that it names."""
    number: int = 0
    """Of the reports that are missing, or of the rows that it is about."""


_SENTENCES: dict[tuple[Outcome, str], str] = {
    ("too_few_reports", ""): (
        "There are too few reports to say anything: {count:,} are missing."
    ),
    ("trajectories", "trajectories"): (
        "{count:,} reports, each with the journey nearest to all that may be behind it."
    ),
    ("trajectories", "synthetic"): (
        "{count:,} journeys that nobody made, drawn from what all reports tell together."
    ),
    ("rows", ""): "{count:,} rows.",
    ("largest", ""): (
        "The largest estimated share is {name}. How certain that is, is not known{why}."
    ),
    ("largest", "flows"): (
        "The largest estimated flow between areas is {name}. How certain that is, is not "
        "known{why}."
    ),
    ("not_significant", ""): (
        "Nothing here is told apart from a flat map, what anybody would draw without reports: "
        "only larger areas, or more reports, would tell something."
    ),
    ("all_within_areas", "flows"): "All flows stay within one area.",
    ("highest", ""): "The most is at {name}.",
    ("highest", "flows"): "Of those that leave their area, most go from {name}.",
    ("highest_significant", ""): (
        "Of what is told to be more than a flat map has, the most is at {name}."
    ),
    ("highest_significant", "flows"): (
        "Of flows between areas that are told to be more than flat, most go from {name}."
    ),
    ("only_lower", ""): (
        "Nothing is told to be more than a flat map has: {count:,} {are} less, the farthest "
        "below at {name}."
    ),
    ("only_lower", "flows"): (
        "No flow between areas is told to be more than a flat map has: {count:,} {are} less, "
        "the greatest of them from {name}."
    ),
    ("only_within_areas", "flows"): (
        "No flow between areas is told apart from a flat map; {count:,} that {stay} within one "
        "area {are}."
    ),
}
"""By outcome, and by the kind of answer where kinds are spoken of differently."""


def summary(table: "Table", scene: "Scene | None") -> str:
    """One sentence on what was found."""
    found = finding(table, scene)
    key: tuple[Outcome, str] = (found.outcome, table.kind)
    sentence = _SENTENCES[key if key in _SENTENCES else (found.outcome, "")]
    one, reason = found.number == 1, table.about.get("no_intervals")
    return sentence.format(
        name="" if found.row is None else row_name(table, found.row),
        count=found.number,
        are="is" if one else "are",
        stay="stays" if one else "stay",
        why=f": {reason}" if reason else "",
    )


def finding(table: "Table", scene: "Scene | None") -> Finding:
    """The greatest row that is more than flat; of flows, of those between two areas.

    Of rows that are all less than flat none is the most of anything, however great its share;
    and without intervals the greatest estimate is not claimed to differ from anything.
    """
    about, column = table.about, table.columns
    if about.get("missing"):
        return Finding("too_few_reports", number=about["missing"])
    if table.kind in ("trajectories", "synthetic") and "tid" in column:
        return Finding("trajectories", number=len(set(table["tid"])))
    if scene is None or not scene.shown or table.kind not in ("hotspots", "density", "flows"):
        return Finding("rows", number=len(table))
    rows = list(scene.shown)
    if table.kind == "flows":
        rows = [k for k in rows if column["origin"][k] != column["destination"][k]]
    if is_withheld(table):
        return Finding("largest", rows[0]) if rows else Finding("all_within_areas")
    apart = column.get("significant")
    if apart is not None and not apart.any():
        return Finding("not_significant")
    if not rows:
        return Finding("all_within_areas")
    more = [k for k in rows if direction(table, k) > 0]
    less = [k for k in rows if direction(table, k) < 0]
    if more:
        return Finding("highest" if more[0] == rows[0] else "highest_significant", more[0])
    if less:
        return Finding("only_lower", _named_of(table, less), len(less))
    return Finding("only_within_areas", number=0 if apart is None else int(apart.sum()))


def direction(table: "Table", row: int) -> int:
    """1 for a row that is more than flat, -1 for one that is less, 0 for what is not told."""
    column = table.columns
    if "significant" in column and not column["significant"][row]:
        return 0
    if "baseline" not in column:
        return 1
    return 1 if column[value_column(column)][row] > column["baseline"][row] else -1


def _named_of(table: "Table", less: Sequence[int]) -> int:
    """Of flows the greatest, which is drawn; of areas the one that is farthest below flat."""
    if table.kind == "flows":
        return less[0]
    column = table.columns
    value = column[value_column(column)]
    return max(less, key=lambda k: column["baseline"][k] - value[k])
