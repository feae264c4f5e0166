"""An answer in a notebook: a picture and its first rows, in its own paper and ink."""

from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from nomadp.answers.description import describe
from nomadp.answers.legend import legend
from nomadp.answers.scene import scene_of
from nomadp.answers.sections import listing
from nomadp.answers.sentences import filter_words, headline, row_name
from nomadp.answers.summary import summary
from nomadp.answers.svg import svg
from nomadp.theme import css_properties, css_variables

if TYPE_CHECKING:
    from nomadp.answers.estimate import Estimate

__all__ = ["notebook_html"]

HEAD_ROWS = 8


def notebook_html(table: "Estimate") -> str:
    """Of markup that nothing in the table can break out of; without a script."""
    key = f"nomadp-{sha256(describe(table)).hexdigest()[:8]}"
    scene = scene_of(table, None)
    drawn = words = ""
    if scene is not None:
        label = f"Map: {summary(table, scene)}"
        drawn = svg(scene, label, lambda row: row_name(table, row), key) + legend(scene, key)
        words = f"<p>{escape(filter_words(table, scene))}</p>"
    return (
        f"<style>{_style()}</style>"
        f'<div class="nomadp-answer"><h4>{escape(headline(table))}</h4>'
        f'<p>{escape(summary(table, scene))} {escape(repr(table))}</p><div class="halves">'
        f"<div>{drawn}{words}</div><div>{listing(table, scene, HEAD_ROWS)}</div></div></div>"
    )


def _style() -> str:
    """The page's own rules for marks, within the answer; notebooks say their theme, or not."""
    here = ".nomadp-answer"
    light, dark = map(css_properties, ("light", "dark"))
    source = files("nomadp.answers").joinpath("page/notebook.css").read_text(encoding="utf-8")
    return (
        f"{css_variables(here)}"
        f"[data-jp-theme-light=true] {here}{{{light}}}"
        f"[data-jp-theme-light=false] {here}{{{dark}}}{source}"
    )
