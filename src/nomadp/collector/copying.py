"""Copy a whole store into another: backup, restore, and migration from SQLite to PostgreSQL.

An interrupted copy can be resumed: it skips the pieces that the target already has. Until the
copy is complete, the target is marked as unfinished. A copy contains what the source contained
when the copy started.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from nomadp.collector.sqlite_store import SqliteStore
from nomadp.collector.store import Connection, Store, StoreRefused
from nomadp.formats.atomic import write_atomically

__all__ = ["back_up", "check_at_rest", "check_whole", "copy_store"]

AT_ONCE = 20_000
COPY_PART = 1_000_000
"""The counter shard of copied counts, which no writer uses."""
Progress = Callable[[int], object]
_UNFINISHED = "SELECT 1 FROM about WHERE name = 'copy'"
# Counts are copied last: without them the copy is not complete.
_SMALL = {
    "task": ("number", "id", "content", "locations", "book", "closed", "swept"),
    "clock": ("name", "seconds"),
    "outline": ("task", "content"),
    "token": ("role", "sha256"),
    "job": ("id", "task", "question", "answer"),
}
_COUNTED = {"cell": ("task", "epoch", "value"), "counter": ("task", "reason")}


def back_up(store: Store, out: Path) -> None:
    """Write a snapshot of a store, which may be in use, into an SQLite file."""
    if isinstance(store, SqliteStore):
        write_atomically({out: lambda part: _snapshot(store.path, part)}, private=[out])
        return
    write_atomically({out: lambda part: _copied_to_file(store, part)}, private=[out])


def _snapshot(source: Path, part: Path) -> None:
    with closing(sqlite3.connect(source)) as one, closing(sqlite3.connect(part)) as other:
        one.backup(other)
        other.execute("PRAGMA journal_mode = DELETE").fetchall()  # no -wal file beside it


def _copied_to_file(store: Store, part: Path) -> None:
    copy_store(store, SqliteStore(part))
    with closing(sqlite3.connect(part)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()


def copy_store(
    source: Store, target: Store, progress: Progress | None = None, *, moves: bool = False
) -> int:
    """Copy everything in the source; returns the number of reports.

    The target must be empty or an unfinished copy of this source. If ``moves`` is True, the
    copy fails if anybody used the source in the meantime.
    """
    check_at_rest(target)  # because the copy replaces its counts at the end
    one, other = source.connect(), target.connect()
    try:
        with one.snapshot():
            check_whole(one)
            _begin(one, other)
            for table, columns in _SMALL.items():
                _copy_small(one, other, table, columns)
            total = 0
            for piece in _pieces(one):
                _copy_piece(other, piece)
                total += len(piece)
                if progress is not None:
                    progress(len(piece))
            ((count,),) = other.rows("SELECT COUNT(*) FROM report")
            if count != total:
                raise StoreRefused(
                    f"the copy must have the {total} reports of the source, got {count}; copy "
                    "into an empty store",
                    code="copy_differs",
                    expected=total,
                    reports=count,
                )
            counted = _counted(one)
        one.close()
        if moves:  # a service manager may have restarted the collector
            check_at_rest(source)
        _end(counted, other)
        return total
    finally:
        one.close()
        other.close()


def check_at_rest(store: Store) -> None:
    """Refuse a store in use, because a copy would miss the reports that still arrive."""
    if store.is_in_use():
        raise StoreRefused(
            f"{store.name} must not be in use during a copy or migration, and a collector or "
            "another program has it open; stop that program and run the same command again "
            '("nomadp collector backup" can copy a store in use)',
            code="store_in_use",
        )


def check_whole(connection: Connection) -> None:
    """Refuse an unfinished copy, whose reports are not counted yet."""
    if connection.rows(_UNFINISHED):
        raise StoreRefused(
            "a store must be complete to be served or copied, and this one is a partial "
            "copy; run the same restore or migrate command again",
            code="copy_unfinished",
        )


def _begin(one: Connection, other: Connection) -> None:
    source_ids = {row[0] for row in one.rows("SELECT id FROM task")}
    with other.transaction():
        target_ids = {row[0] for row in other.rows("SELECT id FROM task")}
        is_begun = bool(other.rows(_UNFINISHED))
        if target_ids - source_ids or (target_ids and not is_begun):
            raise StoreRefused(
                "a store must be copied into an empty store or into an unfinished copy of "
                "itself, and the target has other tasks",
                code="store_not_empty",
            )
        if not is_begun:
            other.run("INSERT INTO about (name, said) VALUES ('copy', 'unfinished')")
            return
        for table in _SMALL:  # tasks may have been closed and tokens replaced since
            other.run(f"DELETE FROM {table}")


def _copy_small(
    one: Connection, other: Connection, table: str, columns: tuple[str, ...]
) -> None:
    named = ", ".join(columns)
    marks = ", ".join("?" * len(columns))
    rows = one.rows(f"SELECT {named} FROM {table}")
    with other.transaction():
        other.run_many(
            f"INSERT INTO {table} ({named}) VALUES ({marks}) ON CONFLICT DO NOTHING", rows
        )


def _pieces(one: Connection) -> Iterator[list[tuple[Any, ...]]]:
    task, last = -1, b""
    while True:
        rows = one.rows(
            "SELECT task, id, epoch, value FROM report WHERE (task, id) > (?, ?) "
            "ORDER BY task, id LIMIT ?",
            task,
            last,
            AT_ONCE,
        )
        if not rows:
            return
        task, last = rows[-1][0], bytes(rows[-1][1])
        yield rows


def _copy_piece(other: Connection, piece: list[tuple[Any, ...]]) -> None:
    first, last = piece[0], piece[-1]
    ((count,),) = other.rows(
        "SELECT COUNT(*) FROM report WHERE (task, id) >= (?, ?) AND (task, id) <= (?, ?)",
        *(first[0], bytes(first[1]), last[0], bytes(last[1])),
    )
    if count == len(piece):
        return
    with other.transaction():
        other.run_many(
            "INSERT INTO report (task, id, epoch, value) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING",
            piece,
        )


def _end(counted: Mapping[str, list[tuple[Any, ...]]], other: Connection) -> None:
    """Write the counts and mark the copy as complete."""
    with other.transaction():
        for table, rows in counted.items():
            named, marks = ", ".join(_COUNTED[table]), ", ".join("?" * len(_COUNTED[table]))
            other.run(f"DELETE FROM {table}")
            other.run_many(
                f"INSERT INTO {table} ({named}, part, n) VALUES ({marks}, ?, ?)",
                [(*key, COPY_PART, int(n)) for *key, n in rows],
            )
        other.run("DELETE FROM about WHERE name = 'copy'")


def _counted(one: Connection) -> dict[str, list[tuple[Any, ...]]]:
    """The counts, summed over all writers."""
    return {
        table: one.rows(f"SELECT {named}, SUM(n) FROM {table} GROUP BY {named}")
        for table, columns in _COUNTED.items()
        for named in [", ".join(columns)]
    }
