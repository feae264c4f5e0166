"""What commands print: one JSON object or text on stdout, a progress bar on stderr."""

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
    from click._termui_impl import ProgressBar as Shown

__all__ = [
    "Answer",
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
"""Work that ends before this needs no bar."""
SAY_EVERY_S = 30.0


class Answer(NamedTuple):
    """What a command found, for --json and for people; not ok is exit code 1."""

    content: Mapping[str, Any]
    text: str | Callable[[], None]
    ok: bool = True


def json_option(command: Decorated) -> Decorated:
    """--json, of a command that returns its `Answer`."""

    @wraps(command)
    def answered(*arguments: Any, as_json: bool, **options: Any) -> None:
        answer: Answer = command(*arguments, **options)
        if as_json:
            print_json(answer.content)
        elif isinstance(answer.text, str):
            say(answer.text)
        else:
            answer.text()
        if not answer.ok:
            raise click.exceptions.Exit(1)

    offered: Any = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
    return cast(Decorated, offered(answered))


def say(text: str = "", *, err: bool = False) -> None:
    """Print text, with whatever could steer a terminal escaped: part of it may be of others."""
    click.echo(printable(text), err=err)


def print_json(content: Mapping[str, Any]) -> None:
    """Strict JSON: fractions as exact text, an infinite loss as the word "infinite"."""
    say(json.dumps(_jsonable(content), indent=2, allow_nan=False))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as their widest cell: text to the left, numbers to the right."""
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
    """Of reports, how many for which reason, if any."""
    if refused:
        said = "; ".join(f"{count} since {why}" for why, count in refused.items())
        say(f"nomadp: reports were left out: {said}", err=True)


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
    """Not an id that begins with a digit: a column must not move with what it happens to be."""
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

    Where there is no terminal for it, a ``spoken`` one says a line now and then.
    """

    def __init__(self, what: str, total: int | None, *, spoken: bool = False) -> None:
        self._what, self._total, self._done = what, total, 0
        self._spoken = spoken and not sys.stderr.isatty()
        self._started_s = self._said_s = time.monotonic()
        self._shown: Shown[int] | None = None

    def advance(self, count: int) -> None:
        """So much more was done."""
        self._done += count
        waited_s = time.monotonic() - self._started_s
        if self._shown is None and sys.stderr.isatty() and waited_s > PATIENCE_S:
            # Standard error: standard output may be piped into another program.
            self._shown = click.progressbar(
                repeat(0), label=self._what, file=sys.stderr, update_min_steps=1
            )
        if self._shown is not None:
            self._shown.length = self._total
            self._shown.update(self._done - self._shown.pos)
        if self._spoken and time.monotonic() - self._said_s > SAY_EVERY_S:
            self._said_s = time.monotonic()
            say(f"{self._done} of {self._total} done", err=True)

    def reach(self, done: int, total: int) -> None:
        """So much is done now, of so much in all."""
        self._total = total
        self.advance(done - self._done)

    def close(self) -> None:
        if self._shown is not None:
            click.echo("\r\x1b[K", nl=False, err=True)  # the line it stood on
            self._shown = None


@contextmanager
def progress_bar(
    what: str, total: int | None = None, *, spoken: bool = False
) -> Iterator[ProgressBar]:
    """A bar that is gone when the work is, however it ends."""
    bar = ProgressBar(what, total, spoken=spoken)
    try:
        yield bar
    finally:
        bar.close()
