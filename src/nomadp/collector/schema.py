"""The tables of a store, the same in SQLite and in PostgreSQL, as numbered layouts.

Reports are keyed by their random ids and not numbered, so that their order tells nothing of
when they came in. Of a report whose retention has passed the id stays, without its value.

A layout that was ever used never changes: whatever is new is one more migration at the end of
`MIGRATIONS`. A new store goes through all of them, so that each is run by every test.
"""

import json
from typing import Any, Protocol

__all__ = ["LAYOUT", "MIGRATIONS", "NEWEST_TIME", "Tables"]

NEWEST_TIME = "newest"
"""Of the table ``clock``: the newest time that a collector took to be right, in seconds."""

_FIRST = {
    "token": "role TEXT PRIMARY KEY, sha256 TEXT NOT NULL",
    "task": "number BIGINT PRIMARY KEY, id TEXT UNIQUE NOT NULL, content BLOB NOT NULL, "
    "locations BLOB NOT NULL, book BLOB NOT NULL, closed BIGINT NOT NULL DEFAULT 0",
    # To be drawn: no hash names them, and no device asks for them.
    "outline": "task BIGINT PRIMARY KEY, content BLOB NOT NULL",
    "report": "task BIGINT NOT NULL, id BLOB NOT NULL, epoch BIGINT NOT NULL, value BLOB, "
    "PRIMARY KEY (task, id)",
    # How often each released number came in. `part` is of a writer: those that write side by
    # side must not wait for each other's rows; readers add the parts up.
    "cell": "task BIGINT NOT NULL, epoch BIGINT NOT NULL, value BIGINT NOT NULL, "
    "part BIGINT NOT NULL, n BIGINT NOT NULL, PRIMARY KEY (task, epoch, value, part)",
    "counter": "task BIGINT NOT NULL, reason TEXT NOT NULL, part BIGINT NOT NULL, "
    "n BIGINT NOT NULL, PRIMARY KEY (task, reason, part)",
    "job": "id TEXT PRIMARY KEY, task BIGINT NOT NULL, question BLOB NOT NULL, answer BLOB",
}


class Tables(Protocol):
    """What a migration needs of a connection."""

    def rows(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]: ...

    def run(self, sql: str, *parameters: Any) -> int: ...

    def make(self, name: str, columns: str) -> None:
        """Create a table where it is missing, in this kind of database."""


def _first_tables(store: Tables) -> None:
    for name, columns in _FIRST.items():
        store.make(name, columns)


def _retention_by_a_known_clock(store: Tables) -> None:
    """The newest time that was seen, and through which epoch a task's values are deleted."""
    store.make("clock", "name TEXT PRIMARY KEY, seconds BIGINT NOT NULL")
    store.run("ALTER TABLE task ADD COLUMN swept BIGINT NOT NULL DEFAULT -1")
    seen = []
    for content, epoch in store.rows(
        "SELECT content, (SELECT MAX(epoch) FROM cell WHERE task = number) FROM task"
    ):
        if epoch is not None:
            # A report is taken one epoch early at most: it was at least so late by then.
            seen.append((epoch - 1) * json.loads(bytes(content))["time_precision"])
    if seen:
        store.run("INSERT INTO clock (name, seconds) VALUES (?, ?)", NEWEST_TIME, max(seen))


MIGRATIONS = (_first_tables, _retention_by_a_known_clock)
"""The first makes layout 1 of an empty store, the next layout 2 of layout 1, and so on."""

LAYOUT = len(MIGRATIONS)
