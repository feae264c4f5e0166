"""Output of commands: one JSON object or text on stdout, a progress bar on stderr."""

import json
import logging
import math
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import wraps
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import click

from nomadp.characters import printable

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar as ClickBar

__all__ = [
    "Result",
    "json_option",
    "print_json",
    "print_left_out",
    "print_table",
    "progress_bar",
    "reading_notes",
    "say",
]

_NUMBER = re.compile(r"\d[\d.,/:e+-]*[a-z%]{0,3}(?:\s|$)")
Decorated = TypeVar("Decorated", bound=Callable[..., Any])

PATIENCE_S = 2.0
"""Shorter work shows no progress bar."""
LINE_EVERY_S = 30.0


class Result(NamedTuple):
    """The result of a command, as JSON and as text; exit code 1 if not ok."""

    content: Mapping[str, Any]
    text: str | Callable[[], None]
    ok: bool = True


def json_option(command: Decorated) -> Decorated:
    """Add --json to a command that returns an `Result`."""

    @wraps(command)
    def print_result(*arguments: Any, as_json: bool, **options: Any) -> None:
        result: Result = command(*arguments, **options)
        if as_json:
            print_json(result.content)
        elif isinstance(result.text, str):
            say(result.text)
        else:
            result.text()
        if not result.ok:
            raise click.exceptions.Exit(1)

    option: Any = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
    return cast(Decorated, option(print_result))


def say(text: str = "", *, err: bool = False) -> None:
    """Print text with control characters escaped: a file or a collector may contain them."""
    click.echo(printable(text), err=err)


def print_json(content: Mapping[str, Any]) -> None:
    """Strict JSON: fractions as exact text, an infinite loss as the word "infinite"."""
    say(json.dumps(_jsonable(content), indent=2, allow_nan=False))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print columns as wide as their widest cell: text left-aligned, numbers right-aligned."""
    table = [[printable(cell, lines=False) for cell in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    numeric = [all(_is_number(row[k]) for row in table[1:]) for k in range(len(header))]
    for line in table:
        cells = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        )
        say("  ".join(cells).rstrip())


def print_left_out(refused: Mapping[str, int]) -> None:
    """Print how many reports were skipped, by reason."""
    if refused:
        reasons = "; ".join(f"{count} because {why}" for why, count in refused.items())
        say(f"nomadp: reports skipped: {reasons}", err=True)


@contextmanager
def reading_notes() -> Iterator[list[str]]:
    """Collect the log messages of readers, such as the columns that they read."""
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
    """Whether a cell is a number, not an id that begins with a digit."""
    return not cell or cell in ("-", "infinite") or _NUMBER.match(cell) is not None


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


class ProgressBar:
    """Appears once the work has lasted `PATIENCE_S`.

    Without a terminal, and with ``lines``, it prints a line every `LINE_EVERY_S` instead.
    """

    def __init__(self, label: str, total: int | None, *, lines: bool = False) -> None:
        self._label, self._total, self._done = label, total, 0
        self._prints_lines = lines and not sys.stderr.isatty()
        self._started_s = self._printed_s = time.monotonic()
        self._bar: ClickBar[int] | None = None

    def advance(self, count: int) -> None:
        """Add ``count`` units of finished work."""
        self._done += count
        waited_s = time.monotonic() - self._started_s
        if self._bar is None and sys.stderr.isatty() and waited_s > PATIENCE_S:
            # Standard output may be piped into another program.
            self._bar = click.progressbar(
                repeat(0), label=self._label, file=sys.stderr, update_min_steps=1
            )
        if self._bar is not None:
            self._bar.length = self._total
            self._bar.update(self._done - self._bar.pos)
        if self._prints_lines and time.monotonic() - self._printed_s > LINE_EVERY_S:
            self._printed_s = time.monotonic()
            say(f"{self._done} of {self._total} done", err=True)

    def reach(self, done: int, total: int) -> None:
        """Set the finished work to ``done`` of ``total``."""
        self._total = total
        self.advance(done - self._done)

    def close(self) -> None:
        if self._bar is not None:
            click.echo("\r\x1b[K", nl=False, err=True)  # clear the line of the bar
            self._bar = None


@contextmanager
def progress_bar(
    label: str, total: int | None = None, *, lines: bool = False
) -> Iterator[ProgressBar]:
    """A progress bar, which is removed even if the work fails."""
    bar = ProgressBar(label, total, lines=lines)
    try:
        yield bar
    finally:
        bar.close()
