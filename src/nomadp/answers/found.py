"""What an answer found, in one sentence that its map and its rows agree with."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nomadp.answers.geometry import value_column
from nomadp.answers.sentences import is_withheld, row_name

if TYPE_CHECKING:
    from nomadp.answers.scene import Scene
    from nomadp.answers.table import Table

__all__ = ["summary"]

_JOURNEYS = {
    "journeys": "{:,} reports, each with the journey nearest to all that may be behind it.",
    "synthetic": "{:,} journeys that nobody made, drawn from what all reports tell together.",
}


def summary(table: "Table", scene: "Scene | None") -> str:
    """One sentence on what was found."""
    about = table.about
    if about.get("missing"):
        return f"There are too few reports to say anything: {about['missing']:,} are missing."
    if table.kind in _JOURNEYS and "tid" in table.columns:
        return _JOURNEYS[table.kind].format(len(set(table["tid"])))
    if scene is None or not scene.shown or table.kind not in ("hotspots", "density", "flows"):
        return f"{len(table):,} rows."
    if is_withheld(table):
        return _largest(table, scene.shown)
    apart = table.columns.get("told_apart")
    if apart is not None and not apart.any():
        return (
            "Nothing here is told apart from a flat map, what anybody would draw without "
            "reports: only larger areas, or more reports, would tell something."
        )
    return _standing_out(table, scene.shown)


def _largest(table: "Table", shown: Sequence[int]) -> str:
    """The greatest estimate, without a claim that it differs from anything."""
    column, what = table.columns, "The largest estimated share is"
    rows = list(shown)
    if table.kind == "flows":
        what = "The largest estimated flow between areas is"
        rows = [k for k in rows if column["origin"][k] != column["destination"][k]]
    if not rows:
        return "All flows stay within one area."
    said = f"{what} {row_name(table, rows[0])}."
    reason = table.about.get("no_intervals")
    return f"{said} How certain that is, is not known{f': {reason}' if reason else ''}."


def _standing_out(table: "Table", shown: Sequence[int]) -> str:
    """The greatest row that is more than flat; of flows, of those between two areas.

    Of rows that are all less than flat none is the most of anything, however great its share.
    """
    column, rows = table.columns, list(shown)
    is_flow = table.kind == "flows"
    if is_flow:
        rows = [k for k in rows if column["origin"][k] != column["destination"][k]]
    if not rows:
        return "All flows stay within one area."
    more = [k for k in rows if _stands(table, k) > 0]
    less = [k for k in rows if _stands(table, k) < 0]
    if not more:
        return _below(table, less) if less else _staying(table)
    what = "Of those that leave their area, most go from" if is_flow else "The most is at"
    if more[0] != rows[0]:
        what = "Of what is told to be more than a flat map has, the most is at"
        if is_flow:
            what = "Of flows between areas that are told to be more than flat, most go from"
    return f"{what} {row_name(table, more[0])}."


def _stands(table: "Table", row: int) -> int:
    """1 for a row that is more than flat, -1 for one that is less, 0 for what is not told."""
    column = table.columns
    if "told_apart" in column and not column["told_apart"][row]:
        return 0
    if "flat" not in column:
        return 1
    return 1 if column[value_column(column)][row] > column["flat"][row] else -1


def _below(table: "Table", less: Sequence[int]) -> str:
    """Of flows the greatest, which is drawn; of areas the one that is farthest below flat."""
    column, many = table.columns, f"{len(less):,} {'is' if len(less) == 1 else 'are'} less"
    if table.kind == "flows":
        return (
            f"No flow between areas is told to be more than a flat map has: {many}, the "
            f"greatest of them from {row_name(table, less[0])}."
        )
    value = column[value_column(column)]
    least = max(less, key=lambda k: column["flat"][k] - value[k])
    return (
        f"Nothing is told to be more than a flat map has: {many}, the farthest below at "
        f"{row_name(table, least)}."
    )


def _staying(table: "Table") -> str:
    many = int(table.columns["told_apart"].sum())
    stay = "stays within one area is" if many == 1 else "stay within one area are"
    return f"No flow between areas is told apart from a flat map; {many:,} that {stay}."
