"""A whole store into another: backup, restore, and the way from SQLite to PostgreSQL.

A copy that was interrupted is taken up again: a piece that is there is passed over. Until it is
whole the target says of itself that it is not. What is copied is what the source held when the
copy began.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from nomadp.collector.sqlite_store import SqliteStore
from nomadp.collector.store import Connection, Store, StoreRefused
from nomadp.formats.atomic import written_whole

__all__ = ["back_up", "check_at_rest", "check_whole", "copy_store"]

AT_ONCE = 20_000
COPY_PART = 1_000_000
"""As the part of copied counts: no writer has it."""
Progress = Callable[[int], object]
_UNFINISHED = "SELECT 1 FROM about WHERE name = 'copy'"
# Counts last: until they are there, the copy is not one.
_SMALL = {
    "task": ("number", "id", "content", "locations", "book", "closed", "swept"),
    "clock": ("name", "seconds"),
    "outline": ("task", "content"),
    "token": ("role", "sha256"),
    "job": ("id", "task", "question", "answer"),
}
_COUNTED = {"cell": ("task", "epoch", "value"), "counter": ("task", "reason")}


def back_up(store: Store, out: Path) -> None:
    """An SQLite file with all of a store, as of one moment, while it is written to."""
    if isinstance(store, SqliteStore):
        written_whole({out: lambda part: _snapshot(store.path, part)}, private=[out])
        return
    written_whole({out: lambda part: _copied_to_file(store, part)}, private=[out])


def _snapshot(source: Path, part: Path) -> None:
    with closing(sqlite3.connect(source)) as one, closing(sqlite3.connect(part)) as other:
        one.backup(other)
        other.execute("PRAGMA journal_mode = DELETE").fetchall()  # all in one file


def _copied_to_file(store: Store, part: Path) -> None:
    copy_store(store, SqliteStore(part))
    with closing(sqlite3.connect(part)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()


def copy_store(
    source: Store, target: Store, progress: Progress | None = None, *, moves: bool = False
) -> int:
    """All that the source holds; how many reports the target has then.

    The target must be empty, or hold a part of this very source. If the source ``moves`` there,
    the copy is whole only if nobody has used the source meanwhile.
    """
    check_at_rest(target)  # its counts are replaced in the end
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
            ((found,),) = other.rows("SELECT COUNT(*) FROM report")
            if found != total:
                raise StoreRefused(
                    f"the copy must have the {total} reports of the source, got {found}; copy "
                    "into an empty store",
                    code="copy_differs",
                    expected=total,
                    reports=found,
                )
            counted = _counted(one)
        one.close()
        if moves:  # what restarts a collector may have done so meanwhile
            check_at_rest(source)
        _end(counted, other)
        return total
    finally:
        one.close()
        other.close()


def check_at_rest(store: Store) -> None:
    """Refuse a store that a collector has: what it still takes would not be in a copy."""
    if store.is_in_use():
        raise StoreRefused(
            f"{store.name} must not be in use during a copy or migration, and a collector or "
            "another program has it open; stop that program and run the same command again "
            '("nomadp collector backup" can copy a store in use)',
            code="store_in_use",
        )


def check_whole(connection: Connection) -> None:
    """Refuse a store that is part of a copy: it has reports that are not counted yet."""
    if connection.rows(_UNFINISHED):
        raise StoreRefused(
            "a store must be complete to be served or copied, and this one is a partial "
            "copy; run the same restore or migrate command again",
            code="copy_unfinished",
        )


def _begin(one: Connection, other: Connection) -> None:
    here = {row[0] for row in one.rows("SELECT id FROM task")}
    with other.transaction():
        there = {row[0] for row in other.rows("SELECT id FROM task")}
        is_begun = bool(other.rows(_UNFINISHED))
        if there - here or (there and not is_begun):
            raise StoreRefused(
                "a store must be copied into an empty store or into an unfinished copy of "
                "itself, and the target has other tasks",
                code="store_not_empty",
            )
        if not is_begun:
            other.run("INSERT INTO about (name, said) VALUES ('copy', 'unfinished')")
            return
        for table in _SMALL:  # a task may be closed since then, or a token worth nothing
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
    ((found,),) = other.rows(
        "SELECT COUNT(*) FROM report WHERE (task, id) >= (?, ?) AND (task, id) <= (?, ?)",
        *(first[0], bytes(first[1]), last[0], bytes(last[1])),
    )
    if found == len(piece):
        return
    with other.transaction():
        other.run_many(
            "INSERT INTO report (task, id, epoch, value) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING",
            piece,
        )


def _end(counted: Mapping[str, list[tuple[Any, ...]]], other: Connection) -> None:
    """The counts, and with them the copy is whole."""
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
    """Of all parts together."""
    return {
        table: one.rows(f"SELECT {named}, SUM(n) FROM {table} GROUP BY {named}")
        for table, columns in _COUNTED.items()
        for named in [", ".join(columns)]
    }
