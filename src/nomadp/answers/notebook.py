"""The HTML of an estimate in a notebook: its map and its first rows, in the page's style."""

from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from nomadp.answers.description import describe
from nomadp.answers.legend import legend
from nomadp.answers.scene import scene_of
from nomadp.answers.sections import html_table
from nomadp.answers.sentences import filter_text, headline, row_label
from nomadp.answers.summary import summary
from nomadp.answers.svg import svg
from nomadp.theme import css_properties, css_variables

if TYPE_CHECKING:
    from nomadp.answers.estimate import Estimate

__all__ = ["notebook_html"]

HEAD_ROWS = 8


def notebook_html(table: "Estimate") -> str:
    """The estimate as HTML without scripts; everything from the table is escaped."""
    key = f"nomadp-{sha256(describe(table)).hexdigest()[:8]}"
    scene = scene_of(table, None)
    drawn = note = ""
    if scene is not None:
        label = f"Map: {summary(table, scene)}"
        drawn = svg(scene, label, lambda row: row_label(table, row), key) + legend(scene, key)
        note = f"<p>{escape(filter_text(table, scene))}</p>"
    return (
        f"<style>{_style()}</style>"
        f'<div class="nomadp-answer"><h4>{escape(headline(table))}</h4>'
        f'<p>{escape(summary(table, scene))} {escape(repr(table))}</p><div class="halves">'
        f"<div>{drawn}{note}</div><div>{html_table(table, scene, HEAD_ROWS)}</div></div></div>"
    )


def _style() -> str:
    """The style of the estimate. Jupyter declares its theme; elsewhere the browser's counts."""
    selector = ".nomadp-answer"
    light, dark = map(css_properties, ("light", "dark"))
    source = files("nomadp.answers").joinpath("page/notebook.css").read_text(encoding="utf-8")
    return (
        f"{css_variables(selector)}"
        f"[data-jp-theme-light=true] {selector}{{{light}}}"
        f"[data-jp-theme-light=false] {selector}{{{dark}}}{source}"
    )
