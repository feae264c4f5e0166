"""A progress bar on stderr for work that turns out to be long, and only on a terminal."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

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
        self._shown: tuple[Progress, TaskID] | None = None

    def advance(self, count: int) -> None:
        """So much more was done."""
        self._done += count
        if self._shown is None and self._is_due():
            self._show()
        if self._shown is not None:
            progress, task = self._shown
            progress.update(task, completed=self._done, total=self._total)

    def reach(self, done: int, total: int) -> None:
        """So much is done now, of so much in all."""
        self._total = total
        self.advance(done - self._done)

    def close(self) -> None:
        if self._shown is not None:
            self._shown[0].stop()

    def _is_due(self) -> bool:
        return sys.stderr.isatty() and time.monotonic() - self._started_s > PATIENCE_S

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import Progress

        # Standard error: standard output may be piped into another program.
        progress = Progress(console=Console(stderr=True), transient=True)
        progress.start()
        self._shown = progress, progress.add_task(self._what, total=self._total)


@contextmanager
def progress_bar(what: str, total: int | None = None) -> Iterator[ProgressBar]:
    """A bar that is gone when the work is, however it ends."""
    bar = ProgressBar(what, total)
    try:
        yield bar
    finally:
        bar.close()
