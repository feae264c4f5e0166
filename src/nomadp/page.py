"""Building blocks of self-contained HTML pages: the page itself, tables and paragraphs.

Pages load nothing. Their content security policy allows only the style and the script inside
the page, each by its hash. All text is escaped here.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template

from nomadp.theme import css_variables

__all__ = ["Cell", "listed", "number", "page", "paragraphs", "table"]

UNBREAKABLE_SPACE = re.compile(r"(?<=\d) (?=%|km\b)|(?<=ε) (?==)|(?<=ε =) ")
WORDMARK = """<svg viewBox="0 0 34 20" aria-hidden="true">
      <path class="wordmark-true" d="M3 15 11 6l8 6 12-8"/>
      <path class="wordmark-sent" d="M3 15 11 6l7 11 13-4"/>
      <circle cx="3" cy="15" r="2.4"/>
    </svg>
    NomaDP"""
COLUMN, ROW = 'th scope="col"', 'th scope="row"'


@dataclass(frozen=True)
class Cell:
    """Text with CSS classes (``kind``), and a ``drawing``: markup without any text."""

    text: str = ""
    kind: str = ""
    drawing: str = ""


def page(
    package: str,
    markup: Mapping[str, str],
    text: Mapping[str, str],
    scripts: Sequence[str] = (),
    extra_style: str = "",
) -> str:
    """Fill in a package's template. Text is escaped; markup is not.

    A script can use the scripts before it. ``extra_style`` is generated CSS.
    """
    style = css_variables() + _source("nomadp", "page.css") + extra_style
    style += _source(package, "page/style.css")
    script = "\n".join(_source(package, f"page/{name}.js") for name in scripts)
    script_policy = f"script-src {_hash(script)}; " if scripts else ""
    policy = f"default-src 'none'; style-src {_hash(style)}; {script_policy}"
    parts = {"style": style, "script": script, "wordmark": WORDMARK, **markup}
    texts = {"policy": f"{policy}base-uri 'none'; form-action 'none'", **text}
    escaped = {name: escape(value) for name, value in texts.items()}
    return Template(_source(package, "page/template.html")).substitute(parts | escaped)


def _hash(source: str) -> str:
    return f"'sha256-{b64encode(sha256(source.encode()).digest()).decode()}'"


def _source(package: str, name: str) -> str:
    return files(package).joinpath(name).read_text(encoding="utf-8")


def table(caption: str, columns: Sequence[Cell], rows: Iterable[Sequence[Cell]]) -> str:
    """A table whose first column names its rows."""
    head = "".join(_element(COLUMN, column) for column in columns)
    body = "".join(
        f"<tr>{_element(ROW, name)}{''.join(_element('td', cell) for cell in cells)}</tr>"
        for name, *cells in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f"<table><caption>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _element(tag: str, cell: Cell) -> str:
    content = escape(cell.text) + cell.drawing
    return f'<{tag} class="{escape(cell.kind)}">{content}</{tag[:2]}>'


def number(text: str, kind: str = "") -> Cell:
    return Cell(text, f"number {kind}".strip())


def paragraphs(sentences: Iterable[str]) -> str:
    return "".join(
        f"<p>{escape(_with_no_break_spaces(sentence))}</p>" for sentence in sentences
    )


def _with_no_break_spaces(text: str) -> str:
    """Prevent line breaks between a number and its unit, and within an equation."""
    return UNBREAKABLE_SPACE.sub("\N{NO-BREAK SPACE}", text)


def listed(items: Sequence[str]) -> str:
    """The items separated by commas, and an "and" before the last."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"
