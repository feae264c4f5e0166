"""A progress bar on stderr for work that turns out to be long, and only on a terminal."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import repeat
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar as Shown

__all__ = ["ProgressBar", "progress_bar"]

PATIENCE_S = 2.0
"""Work that ends before this needs no bar."""


class ProgressBar:
    """Appears once the work has lasted `PATIENCE_S`."""

    def __init__(self, what: str, total: int | None) -> None:
        self._what = what
        self._total = total
        self._done = 0
        self._started_s = time.monotonic()
        self._shown: Shown[int] | None = None

    def advance(self, count: int) -> None:
        """So much more was done."""
        self._done += count
        if self._shown is None and self._is_due():
            self._show()
        if self._shown is not None:
            self._shown.length = self._total
            self._shown.update(self._done - self._shown.pos)

    def reach(self, done: int, total: int) -> None:
        """So much is done now, of so much in all."""
        self._total = total
        self.advance(done - self._done)

    def close(self) -> None:
        if self._shown is not None:
            click.echo("\r\x1b[K", nl=False, err=True)  # the line it stood on
            self._shown = None

    def _is_due(self) -> bool:
        return sys.stderr.isatty() and time.monotonic() - self._started_s > PATIENCE_S

    def _show(self) -> None:
        # Standard error: standard output may be piped into another program.
        self._shown = click.progressbar(
            repeat(0), label=self._what, file=sys.stderr, update_min_steps=1
        )


@contextmanager
def progress_bar(what: str, total: int | None = None) -> Iterator[ProgressBar]:
    """A bar that is gone when the work is, however it ends."""
    bar = ProgressBar(what, total)
    try:
        yield bar
    finally:
        bar.close()
