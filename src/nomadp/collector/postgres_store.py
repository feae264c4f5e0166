"""A store in PostgreSQL, to which several collectors may write at the same time."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, NoReturn

import psycopg
from psycopg import conninfo, errors

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

__all__ = ["PostgresConnection", "PostgresStore"]

LOCK_SPACE = 0x6E6F6D61
"""The key space of our advisory locks. Each writer locks the number of its shard."""
PARTS_MAX = 1024
DAMAGED = PARTS_MAX + 1
"""The key of a shared lock that every collector holds after it has found damage."""
CONNECT_S = 10

# UndefinedFile means that one of the database's own files is missing.
_DAMAGE = (errors.DataCorrupted, errors.IndexCorrupted, errors.UndefinedFile)

_ADD = """
    INSERT INTO report (task, id, epoch, value)
    SELECT %s, t.id, t.epoch, t.value
    FROM unnest(%s::bytea[], %s::bigint[], %s::bytea[]) AS t (id, epoch, value)
    ON CONFLICT DO NOTHING RETURNING id
"""
_WRITERS = """
    SELECT 1 FROM pg_locks JOIN pg_database ON pg_locks.database = pg_database.oid
    WHERE locktype = 'advisory' AND datname = current_database()
      AND classid::bigint = ? AND objid::bigint < ? LIMIT 1
"""
_WARNED = """
    SELECT 1 FROM pg_locks JOIN pg_database ON pg_locks.database = pg_database.oid
    WHERE locktype = 'advisory' AND datname = current_database()
      AND classid::bigint = ? AND objid::bigint = ? LIMIT 1
"""
_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
_INDEXES = """
    SELECT i.indexrelid::regclass::text FROM pg_index AS i
    JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_am AS a ON a.oid = c.relam
    WHERE a.amname = 'btree' AND c.relnamespace = current_schema()::regnamespace ORDER BY 1
"""
_KNOWN = "SELECT id, epoch, value FROM report WHERE task = %s AND id = ANY(%s)"
_CELLS = """
    INSERT INTO cell (task, epoch, value, part, n)
    SELECT t.task, t.epoch, t.value, %s, t.n
    FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[])
         AS t (task, epoch, value, n)
    ON CONFLICT (task, epoch, value, part) DO UPDATE SET n = cell.n + excluded.n
"""


class PostgresStore(Store):
    shared = True

    def __init__(self, url: str) -> None:
        self._url = url
        self.name = _shown(url)
        connection = self.connect()
        try:
            connection.prepare()
        finally:
            connection.close()

    def connect(self, *, writes: bool = False) -> "PostgresConnection":
        return PostgresConnection(self._url, writes=writes)

    def is_in_use(self) -> bool:
        with closing(self.connect()) as connection:
            return connection.has_others()

    def free_bytes(self) -> int | None:
        return None  # unknown: the disk is the server's, and commits fail when it is full


class PostgresConnection(Connection):
    def __init__(self, url: str, *, writes: bool = False) -> None:
        with _translated_errors():
            # Without this, a database with the encoding SQL_ASCII returns bytes for text.
            self.raw = psycopg.connect(
                url, autocommit=True, connect_timeout=CONNECT_S, client_encoding="UTF8"
            )
            # An acknowledged report must be on disk, whatever the server's default is.
            self.raw.execute("SET synchronous_commit = on")
        self._part = self._lock_shard() if writes else 0

    def prepare(self) -> None:
        if self.rows("SHOW fsync") != [("on",)]:
            raise StoreRefused(
                "PostgreSQL must have fsync on, or a crash loses acknowledged reports, but "
                "it is off; set fsync = on",
                code="fsync_off",
            )
        with self.transaction():
            self.rows("SELECT pg_advisory_xact_lock(?, ?)", LOCK_SPACE, PARTS_MAX)
            if 0 < (layout := self.layout()) < LAYOUT:
                self.check_alone(layout)
            self.migrate()

    def make(self, name: str, columns: str) -> None:
        self.run(f"CREATE TABLE IF NOT EXISTS {name} ({columns.replace('BLOB', 'BYTEA')})")

    def has_others(self) -> bool:
        return bool(self.rows(_WRITERS, LOCK_SPACE, PARTS_MAX))

    def _lock_shard(self) -> int:
        """Lock the lowest free counter shard; it is free again when the connection ends."""
        for part in range(PARTS_MAX):
            if self.rows("SELECT pg_try_advisory_lock(?, ?)", LOCK_SPACE, part) == [(True,)]:
                return part
        raise StoreRefused(
            f"at most {PARTS_MAX} collectors may share a store",
            code="too_many_collectors",
            most=PARTS_MAX,
        )

    @property
    def part(self) -> int:
        return self._part

    def rows(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with _translated_errors():
            return self.raw.execute(_with_psycopg_marks(sql), parameters or None).fetchall()

    def run(self, sql: str, *parameters: Any) -> int:
        with _translated_errors():
            return self.raw.execute(_with_psycopg_marks(sql), parameters or None).rowcount

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with _translated_errors(), self.raw.cursor() as cursor:
            cursor.executemany(_with_psycopg_marks(sql), rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with _translated_errors(), self.raw.transaction():
            yield

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self.transaction():
            # At READ COMMITTED each statement would see a different state.
            self.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield

    def add(self, arrivals: Arrivals) -> dict[bytes, StoredReport]:
        with _translated_errors():
            columns = [
                list(column) for column in (arrivals.ids, arrivals.epochs, arrivals.values)
            ]
            new = self.raw.execute(_ADD, (arrivals.task, *columns), binary=True).fetchall()
        if len(new) == len(arrivals.ids):
            return {}
        # An insert that meets the id of an open transaction waits for it. This statement comes
        # later and so, at READ COMMITTED, sees the report that the other transaction stored.
        inserted = {bytes(name) for (name,) in new}
        return self.known(arrivals.task, [i for i in arrivals.ids if i not in inserted])

    def known(self, task: int, ids: Sequence[bytes]) -> dict[bytes, StoredReport]:
        with _translated_errors():
            rows = self.raw.execute(_KNOWN, (task, list(ids)), binary=True).fetchall()
        return {
            bytes(name): StoredReport(epoch, None if value is None else bytes(value))
            for name, epoch, value in rows
        }

    def add_cells(self, cells: Sequence[Cell]) -> None:
        if cells:
            with _translated_errors():
                columns = [list(column) for column in zip(*cells, strict=True)]
                self.raw.execute(_CELLS, (self._part, *columns))

    def damage(self, *, quick: bool = False) -> tuple[list[str], list[str]]:
        """There is no quick check, because the server checks every page that it reads."""
        return ([], []) if quick else _damage(self)

    def interrupt(self) -> None:
        self.raw.cancel()

    def warn_others(self) -> None:
        # A lock and not a row, because nothing may be written to a damaged store.
        self.rows("SELECT pg_try_advisory_lock_shared(?, ?)", LOCK_SPACE, DAMAGED)

    def is_warned(self) -> bool:
        return bool(self.rows(_WARNED, LOCK_SPACE, DAMAGED))

    def close(self) -> None:
        self.raw.close()


def _damage(connection: PostgresConnection) -> tuple[list[str], list[str]]:
    """Read every row, and compare indexes with their tables if amcheck is installed."""
    damage, notes = [], []
    names = sorted(row[0] for row in connection.rows(_TABLES))
    queries = [(name, f"SELECT COUNT(t.*::text) FROM {name} AS t") for name in names]
    if connection.rows("SELECT 1 FROM pg_extension WHERE extname = 'amcheck'"):
        checked = "SELECT bt_index_check('{}'::regclass, true)"
        indexes = [row[0] for row in connection.rows(_INDEXES)]
        queries += [(name, checked.format(name)) for name in indexes]
    else:
        notes.append(
            "indexes were not compared with their tables; run CREATE EXTENSION amcheck first"
        )
    for name, sql in queries:
        try:
            connection.rows(sql)
        except StoreCorrupt as error:
            damage.append(f"{name}: {error.reason}")
    return damage, notes


def _with_psycopg_marks(sql: str) -> Any:
    return sql.replace("?", "%s")


def _shown(url: str) -> str:
    """The address without user and password."""
    try:
        parts = conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        raise StoreRefused(
            "a store must be a file or postgresql://USER@HOST/DATABASE, but this is neither",
            code="store_address_malformed",
        ) from None
    return f"postgresql://{parts.get('host') or 'localhost'}/{parts.get('dbname') or ''}"


@contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        _raise_ours(error)


def _raise_ours(error: psycopg.Error) -> NoReturn:
    # The original text may quote the address and the user, so it is dropped.
    if isinstance(error, errors.DiskFull):
        raise StoreFull(
            "the disk of the store must have free space, but is full", code="storage_full"
        ) from None
    if isinstance(error, _DAMAGE):
        raise StoreCorrupt(
            f"PostgreSQL reported {error.sqlstate}", code="store_corrupt"
        ) from None
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        state = error.sqlstate or "no connection"
        raise StoreUnavailable(
            f"PostgreSQL must be reachable, but is not ({state}); check the address with psql",
            code="store_unavailable",
            state=state,
        ) from None
    raise error
