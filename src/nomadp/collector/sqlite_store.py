"""A store in one SQLite file.

It uses a write-ahead log that is flushed at every commit. A commit inserts many rows with one
statement, which reads them from packed parameters. Python's global lock is then released once
per commit and not once per row, so that the process can serve requests while SQLite works.
"""

import json
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from nomadp.collector.schema import LAYOUT
from nomadp.collector.store import (
    Arrivals,
    Cell,
    Connection,
    Store,
    StoreCorrupt,
    StoredReport,
    StoreFull,
    StoreRefused,
    StoreUnavailable,
)

__all__ = ["SqliteConnection", "SqliteStore"]

ID_BYTES = 16
BUSY_MS = 10_000
TIDY_MS = 100
FINDINGS_MAX = 20
PRAGMAS = (
    f"busy_timeout = {BUSY_MS}",
    "journal_mode = WAL",
    "synchronous = FULL",
    "fullfsync = ON",  # otherwise macOS reports a flush before the data are on disk
    "secure_delete = ON",  # overwrite the values that retention deletes
    # In KiB: enough for the inner pages of 100 million reports and the leaves that one commit
    # changes. Every commit that splits a page walks over the whole cache, so a larger cache
    # makes commits slower as the store grows. The system caches the leaves anyway.
    "cache_size = -32768",
    "temp_store = MEMORY",
    "wal_autocheckpoint = 8000",  # in pages; a smaller log would interrupt commits more often
)

# Named parameters, because Python 3.12.0 to 3.12.3 treats numbered ones as named.
_IDS = f"substr(:ids, 1 + {ID_BYTES} * j.key, {ID_BYTES})"
# OR IGNORE and not ON CONFLICT: with the latter a row could fail for other reasons, so SQLite
# would copy every page that the statement changes.
_ADD = f"""
    INSERT OR IGNORE INTO report (task, id, epoch, value)
    SELECT :task, {_IDS}, j.value, substr(:values, 1 + :size * j.key, :size)
    FROM json_each(:epochs) AS j
"""
_KNOWN = f"""
    SELECT r.id, r.epoch, r.value FROM json_each(:epochs) AS j
    CROSS JOIN report AS r ON r.task = :task AND r.id = {_IDS}
"""
_CELLS = """
    INSERT INTO cell (task, epoch, value, part, n)
    SELECT json_extract(j.value, '$[0]'), json_extract(j.value, '$[1]'),
           json_extract(j.value, '$[2]'), 0, json_extract(j.value, '$[3]')
    FROM json_each(?) AS j WHERE true
    ON CONFLICT (task, epoch, value, part) DO UPDATE SET n = cell.n + excluded.n
"""


class SqliteStore(Store):
    shared = False

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():  # only the user who runs the collector may read it
                os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError as error:
            raise StoreRefused(
                f"{path} cannot be created: {error.strerror or error}", code="store_unwritable"
            ) from error
        connection = SqliteConnection(path)
        try:
            connection.prepare()
        except BaseException:
            connection.close()
            raise
        # The first caller of `connect` gets this connection. Closing the only connection would
        # first empty a log that a crash left, and the start would wait for that.
        self._first = [connection]

    def connect(self, *, writes: bool = False) -> "SqliteConnection":
        try:
            return self._first.pop()
        except IndexError:
            return SqliteConnection(self.path)

    def is_in_use(self) -> bool:
        with closing(self.connect()) as connection:
            return connection.has_others()

    def free_bytes(self) -> int | None:
        return shutil.disk_usage(self.path.parent).free

    def tidy(self) -> None:
        connection = self.connect()
        try:  # the log contains old versions of pages, commit by commit
            # The writer waits for this, so do not wait long for readers.
            connection.rows(f"PRAGMA busy_timeout = {TIDY_MS}")
            connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()


class SqliteConnection(Connection):
    def __init__(self, path: Path) -> None:
        with _translated_errors():
            self.raw = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            try:
                for pragma in PRAGMAS:
                    self.raw.execute(f"PRAGMA {pragma}").fetchall()
            except sqlite3.Error:
                self.raw.close()
                raise

    def prepare(self) -> None:
        with self.transaction():
            layout = self.layout()
        if layout < LAYOUT:
            if layout:
                self.check_alone(layout)
            with self.transaction():
                self.migrate()

    def make(self, name: str, columns: str) -> None:
        # Row ids would number the rows in the order in which they arrived.
        self.run(f"CREATE TABLE IF NOT EXISTS {name} ({columns}) WITHOUT ROWID")

    def has_others(self) -> bool:
        """Try to leave WAL mode, which SQLite permits only to the file's sole user."""
        try:
            self.rows("PRAGMA busy_timeout = 0")
            return self.rows("PRAGMA journal_mode = DELETE") != [("delete",)]
        except StoreUnavailable:
            return True
        finally:
            self.rows(f"PRAGMA busy_timeout = {BUSY_MS}")
            self.rows("PRAGMA journal_mode = WAL")

    def rows(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with _translated_errors():
            return self.raw.execute(sql, parameters).fetchall()

    def run(self, sql: str, *parameters: Any) -> int:
        with _translated_errors():
            return self.raw.execute(sql, parameters).rowcount

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with _translated_errors():
            self.raw.executemany(sql, rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        # IMMEDIATE takes the write lock now. A deferred transaction that reads first could fail
        # at its first write, if somebody else committed in between (SQLITE_BUSY_SNAPSHOT).
        with _translated_errors():
            self.raw.execute("BEGIN IMMEDIATE")
        try:
            yield
            with _translated_errors():
                self.raw.execute("COMMIT")
        except BaseException:
            if self.raw.in_transaction:
                with suppress(sqlite3.Error):  # the first error is more informative
                    self.raw.execute("ROLLBACK")
            raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with _translated_errors():
            self.raw.execute("BEGIN")
        try:
            yield
        finally:
            with suppress(sqlite3.Error):
                self.raw.execute("ROLLBACK")

    def add(self, arrivals: Arrivals) -> dict[bytes, StoredReport]:
        known = self.known(arrivals.task, arrivals.ids)
        packed = self._packed(arrivals.task, arrivals.ids, arrivals.epochs)
        values = b"".join(arrivals.values)
        packed |= {"values": values, "size": len(values) // max(1, len(arrivals.ids))}
        with _translated_errors():
            added = self.raw.execute(_ADD, packed).rowcount
        # Every ignored row must be a known report. Any other would be acknowledged and lost.
        if added + len(known) != len(arrivals.ids):
            raise StoreRefused(
                f"a commit must store all of its {len(arrivals.ids) - len(known)} new reports, "
                f"got {added}; none is acknowledged",
                code="commit_incomplete",
                new=len(arrivals.ids) - len(known),
                stored=added,
            )
        return known

    def known(self, task: int, ids: Sequence[bytes]) -> dict[bytes, StoredReport]:
        packed = self._packed(task, ids, [0] * len(ids))
        with _translated_errors():
            rows = self.raw.execute(_KNOWN, packed).fetchall()
        return {bytes(name): StoredReport(epoch, value) for name, epoch, value in rows}

    @staticmethod
    def _packed(task: int, ids: Sequence[bytes], epochs: Sequence[int]) -> dict[str, Any]:
        return {"task": task, "ids": b"".join(ids), "epochs": json.dumps(list(epochs))}

    def add_cells(self, cells: Sequence[Cell]) -> None:
        if cells:
            self.run(_CELLS, json.dumps(cells))

    def damage(self, *, quick: bool = False) -> tuple[list[str], list[str]]:
        kind = "quick_check" if quick else "integrity_check"
        lines = [str(row[0]) for row in self.rows(f"PRAGMA {kind}({FINDINGS_MAX})")]
        return ([] if lines == ["ok"] else lines), []

    def interrupt(self) -> None:
        self.raw.interrupt()

    def close(self) -> None:
        self.raw.close()


@contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        _raise_ours(error)


def _raise_ours(error: sqlite3.Error) -> NoReturn:
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith("SQLITE_FULL") or name == "SQLITE_IOERR_WRITE":
        raise StoreFull(
            "the disk of the store must have free space, but is full", code="storage_full"
        ) from error
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_IOERR", "SQLITE_INTERRUPT")):
        raise StoreUnavailable(
            f"the store must be readable and not locked, but it is not ({name})",
            code="store_unavailable",
            state=name,
        ) from error
    if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
        raise StoreCorrupt(f"SQLite reported {name}", code="store_corrupt") from error
    if name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
        raise StoreRefused(
            f"a store must be a writable SQLite file, but this one is not ({name})",
            code="store_unwritable",
            state=name,
        ) from error
    raise error
