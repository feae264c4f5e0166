"""The tables of a store, in numbered layouts that are the same in SQLite and PostgreSQL.

The key of a report is its random id and not a number, so that the order of the rows does not
reveal when reports arrived. After its retention period a report keeps its id but not its value.

A layout that has been used never changes. Every change is a new migration at the end of
`MIGRATIONS`. A new store runs all of them, so every test runs each migration.
"""

import json
from typing import Any, Protocol

__all__ = ["LAYOUT", "MIGRATIONS", "NEWEST_TIME", "Tables"]

NEWEST_TIME = "newest"
"""The row of the table ``clock`` with the newest trusted time, in seconds."""

_FIRST = {
    "token": "role TEXT PRIMARY KEY, sha256 TEXT NOT NULL",
    "task": "number BIGINT PRIMARY KEY, id TEXT UNIQUE NOT NULL, content BLOB NOT NULL, "
    "locations BLOB NOT NULL, book BLOB NOT NULL, closed BIGINT NOT NULL DEFAULT 0",
    # For maps: they are not part of the task's hash, and devices do not fetch them.
    "outline": "task BIGINT PRIMARY KEY, content BLOB NOT NULL",
    "report": "task BIGINT NOT NULL, id BLOB NOT NULL, epoch BIGINT NOT NULL, value BLOB, "
    "PRIMARY KEY (task, id)",
    # How often each value was reported. Every writer has its own `part` (a counter shard), so
    # that concurrent writers do not wait for each other's rows. Readers add the shards up.
    "cell": "task BIGINT NOT NULL, epoch BIGINT NOT NULL, value BIGINT NOT NULL, "
    "part BIGINT NOT NULL, n BIGINT NOT NULL, PRIMARY KEY (task, epoch, value, part)",
    "counter": "task BIGINT NOT NULL, reason TEXT NOT NULL, part BIGINT NOT NULL, "
    "n BIGINT NOT NULL, PRIMARY KEY (task, reason, part)",
    "job": "id TEXT PRIMARY KEY, task BIGINT NOT NULL, question BLOB NOT NULL, answer BLOB",
}


class Tables(Protocol):
    """The methods of a connection that migrations use."""

    def rows(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]: ...

    def run(self, sql: str, *parameters: Any) -> int: ...

    def make(self, name: str, columns: str) -> None:
        """Create a table if it does not exist."""


def _first_tables(store: Tables) -> None:
    for name, columns in _FIRST.items():
        store.make(name, columns)


def _retention_by_a_known_clock(store: Tables) -> None:
    """Add the newest trusted time, and the last epoch whose values are deleted."""
    store.make("clock", "name TEXT PRIMARY KEY, seconds BIGINT NOT NULL")
    store.run("ALTER TABLE task ADD COLUMN swept BIGINT NOT NULL DEFAULT -1")
    times_s = []
    for content, epoch in store.rows(
        "SELECT content, (SELECT MAX(epoch) FROM cell WHERE task = number) FROM task"
    ):
        if epoch is not None:
            # A report is accepted at most one epoch early, so the time was at least this.
            times_s.append((epoch - 1) * json.loads(bytes(content))["time_precision"])
    if times_s:
        store.run("INSERT INTO clock (name, seconds) VALUES (?, ?)", NEWEST_TIME, max(times_s))


MIGRATIONS = (_first_tables, _retention_by_a_known_clock)
"""The first makes layout 1 of an empty store, the next layout 2 of layout 1, and so on."""

LAYOUT = len(MIGRATIONS)
