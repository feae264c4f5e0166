"""The section of an estimate on a page: its map, legend, rows and facts."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from nomadp.answers.geometry import area_column, value_column
from nomadp.answers.legend import legend
from nomadp.answers.numbers import PERCENT, percent
from nomadp.answers.scene import Scene, scene_of
from nomadp.answers.sentences import facts, filter_text, headline, is_withheld, row_label
from nomadp.answers.steps import HATCHED
from nomadp.answers.summary import summary
from nomadp.answers.svg import svg
from nomadp.locations import LocationSet
from nomadp.page import paragraphs
from nomadp.theme import theme

if TYPE_CHECKING:
    from nomadp.answers.estimate import Estimate

__all__ = ["fact_list", "html_table", "section", "text_table"]

ZOOM = (
    '<div class="zoom" role="group" aria-label="Zoom the map">'
    '<button type="button" data-zoom="in" aria-label="Zoom in">+</button>'
    '<button type="button" data-zoom="out" aria-label="Zoom out">&minus;</button>'
    '<button type="button" data-zoom="all" aria-label="Show everything">◻</button></div>'
)


def section(
    table: "Estimate",
    locations: LocationSet | None,
    key: str,
    shared: Sequence[Any] = (),
    *,
    alone: bool = False,
) -> str:
    """A section without the ``shared`` facts; ``alone`` hides its title, as the page has it."""
    scene = scene_of(table, locations)
    rows = f'<div class="rows">{html_table(table, scene)}</div>'
    if scene is not None:
        rows = f'<div class="split">{_map(table, scene, key)}{rows}</div>'
    own = fact_list([fact for fact in facts(table) if fact not in shared])
    hidden = ' class="unseen"' if alone else ""
    return (
        f'<section class="band" aria-labelledby="{key}-title">'
        f'<h2 id="{key}-title"{hidden}>{escape(headline(table))}</h2>'
        f'<p class="summary">{escape(summary(table, scene))}</p>'
        f"{rows}{own}</section>"
    )


def fact_list(facts: Sequence[tuple[str, str]]) -> str:
    if not facts:
        return ""
    items = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts
    )
    return f'<dl class="facts">{items}</dl>'


def _map(table: "Estimate", scene: Scene, key: str) -> str:
    note = filter_text(table, scene)
    label = f"Map: {summary(table, scene)} The table has the same rows."
    drawn = svg(scene, label, lambda row: row_label(table, row), key)
    drawn = drawn.replace("<svg ", f'<svg tabindex="0" aria-describedby="{key}-keys" ', 1)
    return (
        f'<figure><div class="map">{drawn}{ZOOM}</div>'
        f'<p id="{key}-keys" class="unseen">Arrow keys move the map, plus and minus zoom, 0 '
        f"shows everything.</p><figcaption>{legend(scene, key)}"
        f'<div class="filter">{paragraphs([note])}</div></figcaption></figure>'
    )


def text_table(
    table: "Estimate", scene: Scene | None, most: int | None = None
) -> dict[str, Any]:
    """The rows as text, the largest first; the caption says how many are left out."""
    rows = list(range(len(table))) if scene is None else list(scene.ranking)
    limit: int = most or theme()["rows_most"]
    step = {}
    if scene is not None and scene.steps is not None:
        step = dict(zip(sorted(rows), scene.steps.names, strict=True))
    columns = _columns(table, step)
    number = f"All {len(rows):,} rows."
    if len(rows) > limit:
        number = f"{limit} of {len(rows):,} rows; the file has all."
        rows = _most_relevant(table, rows, limit)
    order = "Largest first. " if step else ""
    return {
        "caption": f"{order}{number}",
        "head": [{"name": name, "number": is_number} for name, is_number, _ in columns],
        "rows": [{"row": row, "cells": [text(row) for *_, text in columns]} for row in rows],
    }


def _most_relevant(table: "Estimate", rows: Sequence[int], limit: int) -> list[int]:
    """The first significant rows, then the first others, in the order of ``rows``."""
    significant = table.columns.get("significant")
    if significant is None or is_withheld(table):
        return list(rows[:limit])
    relevant = set(sorted(rows, key=lambda k: not significant[k])[:limit])  # a stable sort
    return [k for k in rows if k in relevant]


def html_table(table: "Estimate", scene: Scene | None, most: int | None = None) -> str:
    """The same as HTML."""
    text = text_table(table, scene, most)
    numbers = [column["number"] for column in text["head"]]
    head = "".join(
        f'<th scope="col"{" class=number" if is_number else ""}>{escape(column["name"])}</th>'
        for column, is_number in zip(text["head"], numbers, strict=True)
    )
    body = "".join(_row(row["row"], numbers, row["cells"]) for row in text["rows"])
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Rows of the estimate">'
        f"<table><caption>{text['caption']}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def _row(row: int, numbers: Sequence[bool], texts: Sequence[str]) -> str:
    name = escape(texts[0])
    kinds = (' class="number"' if is_number else "" for is_number in numbers[1:])
    cells = (f"<td{k}>{escape(text)}</td>" for k, text in zip(kinds, texts[1:], strict=True))
    row_head = f'<th scope="row" title="{name}">{name}</th>'
    return f'<tr data-row="{row}">{row_head}{"".join(cells)}</tr>'


def _columns(table: "Estimate", step: dict[int, str]) -> list[tuple[str, bool, Any]]:
    """For each column its title, whether it contains numbers, and the text of a row."""
    column = table.columns
    value = value_column(column)
    if value not in column:
        return _point_columns(table)
    if "origin" in column:
        columns = [("From", False, lambda k: str(column["origin"][k]))]
        columns.append(("To", False, lambda k: str(column["destination"][k])))
    elif "length" in column:
        columns = [("Points", True, lambda k: str(column["length"][k]))]
    else:
        area = str(area_column(column))
        columns = [
            ("Place" if area == "location_id" else "Area", False, lambda k: column[area][k])
        ]
    digits = table.decimals
    columns.append(("Share", True, lambda k: percent(float(column[value][k]), digits)))
    if is_withheld(table):
        columns.append(
            ("Baseline", True, lambda k: percent(float(column["baseline"][k]), digits))
        )
        return columns
    if {"ci_low", "ci_high"} <= column.keys():
        columns.append(
            (
                f"{100 * float(table.about.get('level', 0.9)):g}{PERCENT} CI",
                True,
                lambda k: _interval(table, k),
            )
        )
    if "baseline" in column:
        columns.append(
            ("vs. baseline", False, lambda k: _versus_baseline(table, k, step.get(k, "")))
        )
    return columns


def _point_columns(table: "Estimate") -> list[tuple[str, bool, Any]]:
    """The columns of trajectories, whose rows are points, without coordinates."""
    column = table.columns
    formats = {name: format for name, format in _POINT_FORMATS.items() if name in column}
    names = list(formats) or list(column)[:6]
    return [
        (
            formats.get(name, (name,))[0],
            not isinstance(column[name], tuple),
            formats[name][1](column[name]) if name in formats else _format(column[name]),
        )
        for name in names
    ]


def _versus_baseline(table: "Estimate", row: int, step: str) -> str:
    """The side of the baseline that a row is on, if that is significant and on the map."""
    if step == HATCHED:
        return "too uncertain"
    column = table.columns
    if not column["significant"][row]:
        return "not significant"
    baseline = float(column["baseline"][row])
    sign = ">" if column[value_column(column)][row] > baseline else "<"
    text = percent(baseline, table.decimals)
    if text.startswith("<"):
        # A baseline of "< 0.01 %" has a sign already: show "< 0.01 %" or "> 0 %".
        return text if sign == "<" else f">\u00a0{percent(0.0, table.decimals)}"
    return f"{sign}\u00a0{text}"


def _interval(table: "Estimate", row: int) -> str:
    low, high = (
        percent(float(table[name][row]), table.decimals) for name in ("ci_low", "ci_high")
    )
    return f"{low.removesuffix(PERCENT)} to {high}"


def _format(values: Any) -> Any:
    return lambda k: values[k] if isinstance(values, tuple) else f"{values[k]:.5g}"


_POINT_FORMATS: dict[str, tuple[str, Any]] = {
    "tid": ("Trajectory", _format),
    "seq": ("Point", lambda values: lambda k: f"{int(values[k]) + 1}"),
    "location_id": ("Place", _format),
    "radius_km": ("Credible radius", lambda values: lambda k: f"{values[k]:.1f}\u00a0km"),
    "datetime": ("Time", _format),
}
"""The title of a column on a page, and the function that formats its values."""
