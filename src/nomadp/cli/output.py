"""What commands print on stdout: one JSON object, or aligned columns."""

import json
import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import click

__all__ = ["print_json", "print_table", "reading_notes"]


def print_json(content: Mapping[str, Any]) -> None:
    """Strict JSON: fractions as exact text, an infinite loss as the word "infinite"."""
    click.echo(json.dumps(_jsonable(content), indent=2, allow_nan=False))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as their widest cell: text to the left, numbers to the right."""
    table = [list(header), *(list(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    numeric = [all(_is_number(row[k]) for row in rows) for k in range(len(header))]
    for line in table:
        cells = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        )
        click.echo("  ".join(cells).rstrip())


@contextmanager
def reading_notes() -> Iterator[list[str]]:
    """Collects what the readers say about a file (which columns they took) until the end."""
    notes: list[str] = []
    handler = logging.Handler(logging.INFO)
    handler.emit = lambda record: notes.append(record.getMessage())  # type: ignore[method-assign]
    log = logging.getLogger("nomadp.formats")
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield notes
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


def _is_number(cell: str) -> bool:
    return not cell or cell[0].isdigit() or cell in ("-", "infinite")


def _jsonable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, float) and math.isinf(value):
        return "infinite"
    return value
