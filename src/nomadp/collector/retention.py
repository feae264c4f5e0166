"""Forgetting: after its retention a report's value goes, and its id stays against replays."""

from nomadp.collector.held import HeldTask
from nomadp.collector.store import Store

__all__ = ["swept"]

AT_ONCE = 5_000
"""Reports looked at in one transaction: writers wait meanwhile."""
GRACE_S = 300.0
"""A report that was in time may still be on its way to disk, here or beside."""


def swept(store: Store, held: HeldTask, now_s: float) -> int:
    """Delete the values, and the counts, of all epochs whose retention has passed.

    The counts go too, and last: of an epoch with one report they are that report.
    """
    _, _, retention, precision = held.span
    oldest = int((now_s - GRACE_S) // precision) - retention
    connection = store.connect()
    try:
        past = "SELECT 1 FROM cell WHERE task = ? AND epoch <= ? LIMIT 1"
        if not connection.rows(past, held.number, oldest):
            return 0
        deleted, last = 0, b""
        while True:
            rows = connection.rows(
                "SELECT id FROM report WHERE task = ? AND id > ? ORDER BY id LIMIT ?",
                held.number,
                last,
                AT_ONCE,
            )
            if not rows:
                break
            first, last = last, bytes(rows[-1][0])
            with connection.transaction():
                deleted += connection.run(
                    "UPDATE report SET value = NULL WHERE task = ? AND id > ? AND id <= ? "
                    "AND epoch <= ? AND value IS NOT NULL",
                    held.number,
                    first,
                    last,
                    oldest,
                )
        with connection.transaction():
            connection.run(
                "DELETE FROM cell WHERE task = ? AND epoch <= ?", held.number, oldest
            )
        return deleted
    finally:
        connection.close()
