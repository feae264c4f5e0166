"""Forgetting: after its retention a report's value goes, and its id stays against replays.

Counts stay, so that questions can still be answered, unless the task says otherwise
(``delete_counts``): of an epoch with one report they are that report.
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
"""Reports looked at in one transaction: writers wait meanwhile."""
GRACE_S = 300.0
"""A report that was in time may still be on its way to disk, here or beside."""


class Retention:
    """Deletes as long as the clock can be believed; counts and logs every step."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._is_over = threading.Event()
        self.deleted = 0
        """Values that this process deleted."""

    def sweep(self, loaded: LoadedTask) -> None:
        """One task's, until all is done or somebody says that it must not go on."""
        now_s = self._clock()  # before it is judged: it may jump in between
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
        """After the step that is being done."""
        self._is_over.set()


def last_epoch(loaded: LoadedTask, now_s: float) -> int:
    """The last epoch whose retention has passed; before the task's first if none has."""
    start, end, retention, precision = loaded.span
    passed = int((now_s - GRACE_S) // precision) - retention
    return max(start - 1, min(passed, end - 1))


def deletions(store: Store, loaded: LoadedTask, now_s: float) -> Generator[int, None, None]:
    """Delete the values of all epochs whose retention has passed; yields how many at each step.

    Counts go last, and only if the task wants it.
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
