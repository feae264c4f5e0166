"""Delete the values of reports after their retention period; their ids stay to detect replays.

Counts stay, so that queries can still be answered, unless the task has ``delete_counts``. (The
counts of an epoch with a single report reveal that report.)
"""

import threading
from collections.abc import Generator
from contextlib import closing

from nomadp.collector.clock import Clock, utc
from nomadp.collector.loaded_task import LoadedTask, swept_through
from nomadp.collector.logs import log
from nomadp.collector.store import Connection, Store

__all__ = ["Retention", "deletions", "last_epoch"]

AT_ONCE = 5_000
"""Reports per transaction. Writers wait for each transaction."""
GRACE_S = 300.0
"""Waits for reports that were in time and are still being written, here or by others."""


class Retention:
    """Deletes values while the clock is trusted; counts and logs every step."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._is_over = threading.Event()
        self.deleted = 0
        """The number of values that this process has deleted."""

    def sweep(self, loaded: LoadedTask) -> None:
        """Delete the expired values of one task, until it is done or must stop."""
        now_s = self._clock()  # read before the check, because the clock may jump in between
        if not self._may_go_on():
            return
        with closing(deletions(self._store, loaded, now_s)) as steps:
            for count in steps:
                if count:
                    self.deleted += count
                    log(
                        "values_deleted",
                        "report values deleted after their retention period",
                        task=loaded.id,
                        reports=count,
                        clock=utc(now_s),
                    )
                if not self._may_go_on():
                    return

    def _may_go_on(self) -> bool:
        return not self._is_over.is_set() and not self._clock.is_suspect

    def stop(self) -> None:
        """Stop after the current step."""
        self._is_over.set()


def last_epoch(loaded: LoadedTask, now_s: float) -> int:
    """The last epoch whose retention has passed; before the task's first if none has."""
    start, end, retention, precision = loaded.span
    passed = int((now_s - GRACE_S) // precision) - retention
    return max(start - 1, min(passed, end - 1))


def deletions(store: Store, loaded: LoadedTask, now_s: float) -> Generator[int, None, None]:
    """Delete the values of all expired epochs; yields the number of values at each step.

    Counts are deleted last, and only if the task says so. An epoch is marked as swept after
    all its values are deleted, so that an interrupted sweep starts again.
    """
    last = last_epoch(loaded, now_s)
    if last < loaded.span[0]:
        return
    connection = store.connect()
    try:
        if swept_through(connection, loaded) < last:
            yield from _without_values(connection, loaded, last)
            _end(connection, loaded, last)
    finally:
        connection.close()


def _without_values(
    connection: Connection, loaded: LoadedTask, last: int
) -> Generator[int, None, None]:
    # Short transactions in the order of ids: each holds up the writer only for a moment.
    after = b""
    while True:
        rows = connection.rows(
            "SELECT id FROM report WHERE task = ? AND id > ? ORDER BY id LIMIT ?",
            loaded.number,
            after,
            AT_ONCE,
        )
        if not rows:
            return
        first, after = after, bytes(rows[-1][0])
        with connection.transaction():
            count = connection.run(
                "UPDATE report SET value = NULL WHERE task = ? AND id > ? AND id <= ? "
                "AND epoch <= ? AND value IS NOT NULL",
                loaded.number,
                first,
                after,
                last,
            )
        yield count


def _end(connection: Connection, loaded: LoadedTask, last: int) -> None:
    with connection.transaction():
        if loaded.bundle.task.delete_counts:
            connection.run(
                "DELETE FROM cell WHERE task = ? AND epoch <= ?", loaded.number, last
            )
        connection.run(
            "UPDATE task SET swept = ? WHERE number = ? AND swept < ?",
            last,
            loaded.number,
            last,
        )
