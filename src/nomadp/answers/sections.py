"""One answer on a page: its map, its legend, its rows and what is to be known about it."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from nomadp.answers.geometry import area_column, value_column
from nomadp.answers.legend import legend
from nomadp.answers.numbers import PERCENT, percent
from nomadp.answers.scene import Scene, scene_of
from nomadp.answers.sentences import facts, filter_words, headline, is_withheld, row_name
from nomadp.answers.steps import HATCHED
from nomadp.answers.summary import summary
from nomadp.answers.svg import svg
from nomadp.locations import LocationSet
from nomadp.page import paragraphs
from nomadp.theme import theme

if TYPE_CHECKING:
    from nomadp.answers.estimate import Estimate

__all__ = ["fact_list", "listing", "rows_told", "section"]

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
    """All but the facts that it shares with others; alone, the page's title is its own."""
    scene = scene_of(table, locations)
    rows = f'<div class="rows">{listing(table, scene)}</div>'
    if scene is not None:
        rows = f'<div class="split">{_map(table, scene, key)}{rows}</div>'
    own = fact_list([each for each in facts(table) if each not in shared])
    hidden = ' class="unseen"' if alone else ""
    return (
        f'<section class="band" aria-labelledby="{key}-title">'
        f'<h2 id="{key}-title"{hidden}>{escape(headline(table))}</h2>'
        f'<p class="summary">{escape(summary(table, scene))}</p>'
        f"{rows}{own}</section>"
    )


def fact_list(told: Sequence[tuple[str, str]]) -> str:
    if not told:
        return ""
    each = (f"<div><dt>{escape(name)}</dt><dd>{escape(said)}</dd></div>" for name, said in told)
    return f'<dl class="facts">{"".join(each)}</dl>'


def _map(table: "Estimate", scene: Scene, key: str) -> str:
    words = filter_words(table, scene)
    label = f"Map: {summary(table, scene)} The table has the same rows."
    drawn = svg(scene, label, lambda row: row_name(table, row), key)
    drawn = drawn.replace("<svg ", f'<svg tabindex="0" aria-describedby="{key}-keys" ', 1)
    return (
        f'<figure><div class="map">{drawn}{ZOOM}</div>'
        f'<p id="{key}-keys" class="unseen">Arrow keys move the map, plus and minus zoom, 0 '
        f"shows everything.</p><figcaption>{legend(scene, key)}"
        f'<div class="filter">{paragraphs([words])}</div></figcaption></figure>'
    )


def rows_told(
    table: "Estimate", scene: Scene | None, most: int | None = None
) -> dict[str, Any]:
    """The rows in words, the greatest first; the caption says how many are left out."""
    rows = list(range(len(table))) if scene is None else list(scene.shown)
    limit: int = most or theme()["rows_most"]
    step = {}
    if scene is not None and scene.steps is not None:
        step = dict(zip(sorted(rows), scene.steps.names, strict=True))
    columns = _columns(table, step)
    words = f"All {len(rows):,} rows."
    if len(rows) > limit:
        words = f"{limit} of {len(rows):,} rows; the file has all."
        rows = _kept(table, rows, limit)
    first = "Largest first. " if step else ""
    return {
        "caption": f"{first}{words}",
        "head": [{"name": name, "number": is_number} for name, is_number, _ in columns],
        "rows": [{"row": row, "cells": [shown(row) for *_, shown in columns]} for row in rows],
    }


def _kept(table: "Estimate", rows: Sequence[int], limit: int) -> list[int]:
    """The first rows; but what is told apart stays, however small, since it is a finding."""
    apart = table.columns.get("significant")
    if apart is None or is_withheld(table):
        return list(rows[:limit])
    first = sorted(rows, key=lambda k: not apart[k])  # as they were, but for that
    kept = set(first[:limit])
    return [k for k in rows if k in kept]


def listing(table: "Estimate", scene: Scene | None, most: int | None = None) -> str:
    """The same as a table of HTML."""
    told = rows_told(table, scene, most)
    numbers = [each["number"] for each in told["head"]]
    head = "".join(
        f'<th scope="col"{" class=number" if is_number else ""}>{escape(each["name"])}</th>'
        for each, is_number in zip(told["head"], numbers, strict=True)
    )
    body = "".join(_row(each["row"], numbers, each["cells"]) for each in told["rows"])
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Rows of the estimate">'
        f"<table><caption>{told['caption']}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def _row(row: int, numbers: Sequence[bool], told: Sequence[str]) -> str:
    name = escape(told[0])
    kinds = (' class="number"' if is_number else "" for is_number in numbers[1:])
    cells = (f"<td{k}>{escape(said)}</td>" for k, said in zip(kinds, told[1:], strict=True))
    row_head = f'<th scope="row" title="{name}">{name}</th>'
    return f'<tr data-row="{row}">{row_head}{"".join(cells)}</tr>'


def _columns(table: "Estimate", step: dict[int, str]) -> list[tuple[str, bool, Any]]:
    """Title, whether it is of numbers, and what stands there."""
    column = table.columns
    value = value_column(column)
    if value not in column:
        return _points(table)
    if "origin" in column:
        found = [("From", False, lambda k: str(column["origin"][k]))]
        found.append(("To", False, lambda k: str(column["destination"][k])))
    elif "length" in column:
        found = [("Points", True, lambda k: str(column["length"][k]))]
    else:
        area = str(area_column(column))
        found = [
            ("Place" if area == "location_id" else "Area", False, lambda k: column[area][k])
        ]
    digits = table.decimals
    found.append(("Share", True, lambda k: percent(float(column[value][k]), digits)))
    if is_withheld(table):
        found.append(
            ("Baseline", True, lambda k: percent(float(column["baseline"][k]), digits))
        )
        return found
    if {"ci_low", "ci_high"} <= column.keys():
        found.append(
            (
                f"{100 * float(table.about.get('level', 0.9)):g}{PERCENT} CI",
                True,
                lambda k: _interval(table, k),
            )
        )
    if "baseline" in column:
        found.append(
            ("vs. baseline", False, lambda k: _versus_baseline(table, k, step.get(k, "")))
        )
    return found


def _points(table: "Estimate") -> list[tuple[str, bool, Any]]:
    """Of journeys, whose rows are points: files name columns and degrees, people read words."""
    column = table.columns
    shown = {name: told for name, told in _POINT_COLUMNS.items() if name in column}
    names = list(shown) or list(column)[:6]
    return [
        (
            shown.get(name, (name,))[0],
            not isinstance(column[name], tuple),
            shown[name][1](column[name]) if name in shown else _plain(column[name]),
        )
        for name in names
    ]


def _versus_baseline(table: "Estimate", row: int, step: str) -> str:
    """Whether the row is above or below; too uncertain if the map cannot show its value."""
    if step == HATCHED:
        return "too uncertain"
    column = table.columns
    if not column["significant"][row]:
        return "not significant"
    flat = float(column["baseline"][row])
    than = ">" if column[value_column(column)][row] > flat else "<"
    said = percent(flat, table.decimals)
    if said.startswith("<"):
        # Less than what is nearly 0 is less than that; more is more than 0.
        return said if than == "<" else f">\u00a0{percent(0.0, table.decimals)}"
    return f"{than}\u00a0{said}"


def _interval(table: "Estimate", row: int) -> str:
    low, high = (
        percent(float(table[name][row]), table.decimals) for name in ("ci_low", "ci_high")
    )
    return f"{low.removesuffix(PERCENT)} to {high}"


def _plain(values: Any) -> Any:
    return lambda k: values[k] if isinstance(values, tuple) else f"{values[k]:.5g}"


_POINT_COLUMNS: dict[str, tuple[str, Any]] = {
    "tid": ("Trajectory", _plain),
    "seq": ("Point", lambda values: lambda k: f"{int(values[k]) + 1}"),
    "location_id": ("Place", _plain),
    "radius_km": ("Credible radius", lambda values: lambda k: f"{values[k]:.1f}\u00a0km"),
    "datetime": ("Time", _plain),
}
"""What a column of a file is called on a page, and how its values are shown."""
