"""Layouts of a store: an older one is brought to the newest, a newer one is refused."""

import sqlite3
from contextlib import closing
from typing import Any

import psycopg
import pytest
from collecting import DAY_S, collector, report, today
from refusals import refused

from nomadp.collector import schema
from nomadp.collector.connections import open_store
from nomadp.collector.loaded_task import counts_of, read_task
from nomadp.collector.messages import report_id_bytes
from nomadp.collector.schema import LAYOUT
from nomadp.collector.store import StoreRefused
from nomadp.protocol.bundle import TaskBundle

# As the first nomadp that kept a store made it: these lines never change.
LAYOUT_1 = (
    "CREATE TABLE about (name TEXT PRIMARY KEY, said TEXT NOT NULL)",
    "CREATE TABLE token (role TEXT PRIMARY KEY, sha256 TEXT NOT NULL)",
    "CREATE TABLE task (number BIGINT PRIMARY KEY, id TEXT UNIQUE NOT NULL, content BLOB NOT "
    "NULL, locations BLOB NOT NULL, book BLOB NOT NULL, closed BIGINT NOT NULL DEFAULT 0)",
    "CREATE TABLE outline (task BIGINT PRIMARY KEY, content BLOB NOT NULL)",
    "CREATE TABLE report (task BIGINT NOT NULL, id BLOB NOT NULL, epoch BIGINT NOT NULL, "
    "value BLOB, PRIMARY KEY (task, id))",
    "CREATE TABLE cell (task BIGINT NOT NULL, epoch BIGINT NOT NULL, value BIGINT NOT NULL, "
    "part BIGINT NOT NULL, n BIGINT NOT NULL, PRIMARY KEY (task, epoch, value, part))",
    "CREATE TABLE counter (task BIGINT NOT NULL, reason TEXT NOT NULL, part BIGINT NOT NULL, "
    "n BIGINT NOT NULL, PRIMARY KEY (task, reason, part))",
    "CREATE TABLE job (id TEXT PRIMARY KEY, task BIGINT NOT NULL, question BLOB NOT NULL, "
    "answer BLOB)",
    "INSERT INTO about VALUES ('schema', '1')",
)


class Raw:
    """A database of either kind, without our own code."""

    def __init__(self, place: str) -> None:
        self.is_file = not place.startswith("postgresql")
        self._raw: Any = (
            sqlite3.connect(place, isolation_level=None)
            if self.is_file
            else psycopg.connect(place, autocommit=True)
        )

    def run(self, sql: str, *parameters: Any) -> Any:
        if self.is_file:
            return self._raw.execute(sql, parameters)
        return self._raw.execute(sql.replace("?", "%s"), parameters or None)

    def close(self) -> None:
        self._raw.close()


def of_layout_1(place: str, bundle: TaskBundle, *sent: dict[str, Any]) -> None:
    """With a task, and reports that all have the value of the first."""
    with closing(Raw(place)) as raw:
        for line in LAYOUT_1:
            if raw.is_file and line.startswith("CREATE"):
                raw.run(line + " WITHOUT ROWID")
            else:
                raw.run(line if raw.is_file else line.replace("BLOB", "BYTEA"))
        files = dict(bundle.files)
        locations, (book,) = files.pop("locations"), files.values()
        row = (1, bundle.task.id, bundle.task.content, locations, book)
        raw.run("INSERT INTO task VALUES (?, ?, ?, ?, ?, 0)", *row)
        for each in sent:
            value = bundle.code.parse_text(each["value"])
            name = report_id_bytes(each["report_id"])
            raw.run("INSERT INTO report VALUES (1, ?, ?, ?)", name, each["time"], value)
        raw.run("INSERT INTO cell VALUES (1, ?, 5, 0, ?)", sent[0]["time"], len(sent))
        raw.run("INSERT INTO counter VALUES (1, 'accepted', 0, ?)", len(sent))


def same_reports(bundle: TaskBundle, count: int) -> list[dict[str, Any]]:
    return [report(bundle, 5) for _ in range(count)]


def layout_of(place: str) -> str:
    with closing(Raw(place)) as raw:
        return str(raw.run("SELECT said FROM about WHERE name = 'schema'").fetchall()[0][0])


def test_a_store_of_layout_1_is_brought_to_the_newest_and_served(
    place: str, bundle: TaskBundle
) -> None:
    sent = same_reports(bundle, 3)
    of_layout_1(place, bundle, *sent)
    with collector(open_store(place)) as address:
        assert address.send(bundle, *sent, report(bundle, 5)).body == b""
        assert address.counters(bundle, "accepted", 4) == 4
    assert layout_of(place) == str(LAYOUT)
    with closing(open_store(place).connect()) as connection:
        loaded = read_task(connection, bundle.task.id)
        assert loaded is not None
        assert list(counts_of(connection, loaded).cells.values()) == [4]
        assert connection.rows("SELECT swept FROM task") == [(-1,)]


def test_the_newest_time_of_an_older_store_is_that_of_its_newest_reports(
    place: str, bundle: TaskBundle
) -> None:
    of_layout_1(place, bundle, *same_reports(bundle, 2))
    with closing(open_store(place).connect()) as connection:
        assert connection.newest_time() == (today() - 1) * DAY_S


def test_opening_a_store_again_changes_nothing(place: str, bundle: TaskBundle) -> None:
    of_layout_1(place, bundle, *same_reports(bundle, 2))
    open_store(place)
    with closing(open_store(place).connect()) as connection:
        connection.run("UPDATE clock SET seconds = 7")
        connection.run("UPDATE task SET swept = 3")
    open_store(place)
    with closing(open_store(place).connect()) as connection:
        assert connection.newest_time() == 7
        assert connection.rows("SELECT swept FROM task") == [(3,)]


def test_a_migration_that_is_cut_off_leaves_the_store_as_it_was(
    place: str, bundle: TaskBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_layout_1(place, bundle, *same_reports(bundle, 2))

    def cut_off(store: schema.Tables) -> None:
        schema.MIGRATIONS[1](store)
        raise KeyboardInterrupt

    with monkeypatch.context() as during:
        during.setattr("nomadp.collector.store.MIGRATIONS", (schema.MIGRATIONS[0], cut_off))
        with pytest.raises(KeyboardInterrupt):
            open_store(place)
    assert layout_of(place) == "1"
    with closing(Raw(place)) as raw:
        assert len(raw.run("SELECT * FROM task").fetchall()[0]) == 6
        assert raw.run("SELECT COUNT(*) FROM report").fetchall() == [(2,)]
    open_store(place)
    assert layout_of(place) == str(LAYOUT)


def test_a_store_that_is_in_use_is_not_migrated(place: str, bundle: TaskBundle) -> None:
    of_layout_1(place, bundle, *same_reports(bundle, 1))
    with closing(Raw(place)) as other:
        if other.is_file:
            other.run("PRAGMA journal_mode = WAL").fetchall()
            other.run("SELECT * FROM task").fetchall()
        else:  # as a collector that writes does
            other.run("SELECT pg_advisory_lock(?, 0)", 0x6E6F6D61)
        with refused(StoreRefused, "store_in_use", layout=1):
            open_store(place)
    assert layout_of(place) == "1"
    open_store(place)
    assert layout_of(place) == str(LAYOUT)


@pytest.mark.parametrize(
    ("version", "is_newer"), [(str(LAYOUT + 1), True), ("0", False), ("1.5", False)]
)
def test_a_store_of_an_unknown_layout_is_refused_and_left_as_it_is(
    place: str, version: str, is_newer: bool
) -> None:
    with closing(open_store(place).connect()) as connection:
        connection.run("UPDATE about SET said = ? WHERE name = 'schema'", version)
    with refused(StoreRefused, "store_layout_unsupported", layout=version, is_newer=is_newer):
        open_store(place)
    assert layout_of(place) == version
