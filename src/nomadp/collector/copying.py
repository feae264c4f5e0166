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
# Counts are copied last, with the mark that ends the copy: a partial copy has none.
_SMALL = {
    "task": ("number", "id", "content", "locations", "book", "closed", "swept"),
    "clock": ("name", "seconds"),
    "outline": ("task", "content"),
    "token": ("role", "sha256"),
    "job": ("id", "task", "question", "answer"),
}
_COUNT_KEYS = {"cell": ("task", "epoch", "value"), "counter": ("task", "reason")}


def back_up(store: Store, out: Path) -> None:
    """Write a snapshot of a store, which may be in use, into an SQLite file."""
    if isinstance(store, SqliteStore):
        write_atomically({out: lambda part: _snapshot(store.path, part)}, private=[out])
        return
    write_atomically({out: lambda part: _copied_to_file(store, part)}, private=[out])


def _snapshot(source: Path, part: Path) -> None:
    with (
        closing(sqlite3.connect(source)) as source_db,
        closing(sqlite3.connect(part)) as target_db,
    ):
        source_db.backup(target_db)
        target_db.execute("PRAGMA journal_mode = DELETE").fetchall()  # no -wal file beside it


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
    source_db, target_db = source.connect(), target.connect()
    try:
        # One snapshot for everything: reports and counts of different moments would not match.
        with source_db.snapshot():
            check_whole(source_db)
            _begin(source_db, target_db)
            for table, columns in _SMALL.items():
                _copy_small(source_db, target_db, table, columns)
            total = 0
            for piece in _pieces(source_db):
                _copy_piece(target_db, piece)
                total += len(piece)
                if progress is not None:
                    progress(len(piece))
            ((count,),) = target_db.rows("SELECT COUNT(*) FROM report")
            if count != total:
                raise StoreRefused(
                    f"the copy must have the {total} reports of the source, got {count}; copy "
                    "into an empty store",
                    code="copy_differs",
                    expected=total,
                    reports=count,
                )
            counts = _summed_counts(source_db)
        source_db.close()
        if moves:  # a service manager may have restarted the collector
            check_at_rest(source)
        _end(counts, target_db)
        return total
    finally:
        source_db.close()
        target_db.close()


def check_at_rest(store: Store) -> None:
    """Refuse a store in use, because a copy would miss the reports that still arrive."""
    if store.is_in_use():
        raise StoreRefused(
            f"{store.name} must not be in use during a copy or migration, but a collector or "
            "another program has it open; stop that program and run the same command again "
            '("nomadp collector backup" can copy a store in use)',
            code="store_in_use",
        )


def check_whole(connection: Connection) -> None:
    """Refuse an unfinished copy, whose reports are not counted yet."""
    if connection.rows(_UNFINISHED):
        raise StoreRefused(
            "a store must be complete to be served or copied, but this one is a partial "
            "copy; run the same restore or migrate command again",
            code="copy_unfinished",
        )


def _begin(source_db: Connection, target_db: Connection) -> None:
    source_ids = {row[0] for row in source_db.rows("SELECT id FROM task")}
    with target_db.transaction():
        target_ids = {row[0] for row in target_db.rows("SELECT id FROM task")}
        is_begun = bool(target_db.rows(_UNFINISHED))
        if target_ids - source_ids or (target_ids and not is_begun):
            raise StoreRefused(
                "a store must be copied into an empty store or into an unfinished copy of "
                "itself, but the target has other tasks",
                code="store_not_empty",
            )
        if not is_begun:
            target_db.run("INSERT INTO about (name, said) VALUES ('copy', 'unfinished')")
            return
        for table in _SMALL:  # tasks may have been closed and tokens replaced since
            target_db.run(f"DELETE FROM {table}")


def _copy_small(
    source_db: Connection, target_db: Connection, table: str, columns: tuple[str, ...]
) -> None:
    named = ", ".join(columns)
    marks = ", ".join("?" * len(columns))
    rows = source_db.rows(f"SELECT {named} FROM {table}")
    with target_db.transaction():
        target_db.run_many(
            f"INSERT INTO {table} ({named}) VALUES ({marks}) ON CONFLICT DO NOTHING", rows
        )


def _pieces(source_db: Connection) -> Iterator[list[tuple[Any, ...]]]:
    task, last = -1, b""
    while True:
        rows = source_db.rows(
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


def _copy_piece(target_db: Connection, piece: list[tuple[Any, ...]]) -> None:
    first, last = piece[0], piece[-1]
    ((count,),) = target_db.rows(
        "SELECT COUNT(*) FROM report WHERE (task, id) >= (?, ?) AND (task, id) <= (?, ?)",
        *(first[0], bytes(first[1]), last[0], bytes(last[1])),
    )
    if count == len(piece):  # copied before an interruption
        return
    with target_db.transaction():
        target_db.run_many(
            "INSERT INTO report (task, id, epoch, value) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING",
            piece,
        )


def _end(counts: Mapping[str, list[tuple[Any, ...]]], target_db: Connection) -> None:
    """Write the counts and mark the copy as complete."""
    with target_db.transaction():
        for table, rows in counts.items():
            keys = _COUNT_KEYS[table]
            named, marks = ", ".join(keys), ", ".join("?" * len(keys))
            target_db.run(f"DELETE FROM {table}")
            target_db.run_many(
                f"INSERT INTO {table} ({named}, part, n) VALUES ({marks}, ?, ?)",
                [(*key, COPY_PART, int(n)) for *key, n in rows],
            )
        target_db.run("DELETE FROM about WHERE name = 'copy'")


def _summed_counts(source_db: Connection) -> dict[str, list[tuple[Any, ...]]]:
    """The counts, summed over all writers."""
    return {
        table: source_db.rows(f"SELECT {named}, SUM(n) FROM {table} GROUP BY {named}")
        for table, columns in _COUNT_KEYS.items()
        for named in [", ".join(columns)]
    }
