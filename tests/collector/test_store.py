"""What a store keeps and forgets, and how it is copied: the same for both kinds."""

import os
import sqlite3
import stat
import threading
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from collecting import Address, bundle_of, collector, prepared, report, today
from crashes import Load, tally
from postgres import Postgres
from processes import wait_until
from refusals import refused

import nomadp
from nomadp.answers import run_query
from nomadp.collector import copying, service
from nomadp.collector.connections import open_store
from nomadp.collector.copying import back_up, check_whole, copy_store
from nomadp.collector.export import export_reports
from nomadp.collector.loaded_task import (
    close_task,
    counters_of,
    counts_of,
    is_closed,
    read_task,
)
from nomadp.collector.messages import report_id_bytes
from nomadp.collector.retention import GRACE_S, deletions
from nomadp.collector.sqlite_store import SqliteStore
from nomadp.collector.store import Arrivals, Connection, Store, StoreCorrupt, StoreRefused
from nomadp.collector.tokens import ROLES, TokenRefused, first_tokens, is_token, renew_token
from nomadp.collector.writer import COMMIT_REPORTS
from nomadp.inference.decode import decode
from nomadp.protocol.bundle import TaskBundle
from nomadp.reports.counts import Counts
from nomadp.reports.report_files import read_reports

DAY_S = 86_400


def filled(
    store: Store, *bundles: TaskBundle, count: int = 30
) -> dict[str, list[dict[str, object]]]:
    """A store with reports of these tasks; what was sent."""
    sent = {each.task.id: [report(each, k) for k in range(count)] for each in bundles}
    with collector(store, *bundles) as address:
        for each in bundles:
            assert address.send(each, *sent[each.task.id]).body == b""
    return sent


def test_the_order_of_rows_tells_nothing_of_when_they_came(
    sqlite: Store, bundle: TaskBundle
) -> None:
    names = []
    with collector(sqlite, bundle) as address:
        for _ in range(20):
            sent = report(bundle)
            names.append(report_id_bytes(sent["report_id"]))
            address.send(bundle, sent)
    connection = sqlite.connect()
    stored = [bytes(name) for (name,) in connection.rows("SELECT id FROM report")]
    with pytest.raises(sqlite3.OperationalError, match="rowid"):
        connection.rows("SELECT rowid FROM report")
    connection.close()
    assert stored == sorted(names) != names


def test_in_postgresql_reports_of_one_commit_lie_in_the_order_of_their_ids(
    postgres: Postgres, bundle: TaskBundle
) -> None:
    store = open_store(postgres.database())
    sent = [report(bundle) for _ in range(20)]
    with collector(store, bundle) as address:
        assert address.send(bundle, *sent).body == b""
    connection = store.connect()
    stored = [bytes(name) for (name,) in connection.rows("SELECT id FROM report ORDER BY ctid")]
    connection.close()
    names = [report_id_bytes(each["report_id"]) for each in sent]
    assert stored == sorted(names) != names


def test_what_is_committed_is_flushed(store: Store) -> None:
    connection = store.connect(writes=True)
    if isinstance(store, SqliteStore):
        full = 2
        assert connection.rows("PRAGMA synchronous") == [(full,)]
        assert connection.rows("PRAGMA journal_mode") == [("wal",)]
        assert connection.rows("PRAGMA fullfsync") == [(1,)]  # what macOS needs besides
        assert connection.rows("PRAGMA secure_delete") == [(1,)]
    else:
        assert connection.rows("SHOW synchronous_commit") == [("on",)]
    connection.close()


def test_a_database_that_acknowledges_early_by_default_is_told_not_to(
    postgres: Postgres,
) -> None:
    connection = open_store(f"{postgres.database()}%20-csynchronous_commit%3Doff").connect()
    assert connection.rows("SHOW synchronous_commit") == [("on",)]
    connection.close()


def test_of_a_commit_what_is_new_is_counted_and_what_is_known_is_not(store: Store) -> None:
    connection = store.connect(writes=True)

    def sent(*ids: bytes) -> Arrivals:
        numbers = np.zeros((len(ids), 1), dtype=np.int64)
        return Arrivals(1, ids, [7] * len(ids), [b"x"] * len(ids), numbers)

    one, two, three = (letter * 16 for letter in (b"a", b"b", b"c"))
    for ids, known in (((two,), set()), ((one, two, three), {two}), ((one, two), {one, two})):
        written = connection.write([sent(*ids)], lambda written: {})
        assert set(written.known) == {(1, name) for name in known}
    assert connection.rows("SELECT epoch, value, n FROM cell") == [(7, 0, 3)]
    connection.close()


def test_a_snapshot_stays_as_it_is_while_others_write(store: Store) -> None:
    reader, writer = store.connect(), store.connect(writes=True)
    arrivals = Arrivals(1, [b"a" * 16], [7], [b"x"], np.zeros((1, 1), dtype=np.int64))
    counted = "SELECT COUNT(*) FROM report"
    with reader.snapshot():
        assert reader.rows(counted) == [(0,)]
        writer.write([arrivals], lambda written: {})
        assert reader.rows(counted) == [(0,)]
    assert reader.rows(counted) == [(1,)]
    reader.close()
    writer.close()


def test_writers_side_by_side_count_in_parts_of_their_own(postgres: Postgres) -> None:
    store = open_store(postgres.database())
    several = [store.connect(writes=True) for _ in range(3)]
    assert len({each.part for each in several}) == 3
    for each in several:
        each.close()


def test_a_commit_is_not_slowed_by_a_large_cache(sqlite: Store) -> None:
    """SQLite walks over all of it when a page was split, which nearly every commit does."""
    connection = sqlite.connect(writes=True)
    ((kibibytes,),) = connection.rows("PRAGMA cache_size")
    ((page_bytes,),) = connection.rows("PRAGMA page_size")
    connection.close()
    assert COMMIT_REPORTS < -kibibytes * 1024 / page_bytes <= 16_384


def test_a_commit_that_would_leave_out_a_new_report_is_refused(sqlite: Store) -> None:
    connection = sqlite.connect(writes=True)
    good, broken = [b"a" * 16, b"b" * 16], [b"c" * 16]
    arrivals = Arrivals(1, good, [7, 7], [b"x", b"y"], np.array([0, 1]))
    assert connection.add(arrivals) == {}
    assert set(connection.add(arrivals)) == set(good)
    # A row without an epoch is ignored by SQLite, as one that is known would be.
    with refused(StoreRefused, "commit_incomplete", new=1, stored=0):
        connection.add(Arrivals(1, broken, [None], [b"z"], np.array([0])))  # type: ignore[list-item]
    connection.close()


def test_a_database_that_does_not_flush_is_refused(postgres: Postgres) -> None:
    place = postgres.database()
    off = postgres.told("ALTER SYSTEM SET fsync = off")
    with off, refused(StoreRefused, "fsync_off"):
        open_store(place)
    open_store(place)


def test_a_database_without_an_encoding_holds_a_store_like_any_other(
    postgres: Postgres, bundle: TaskBundle
) -> None:
    """``LC_ALL=C initdb`` makes such ones: their texts come as bytes unless asked otherwise."""
    server = Postgres("SQL_ASCII")  # `postgres` has skipped the test where there is none
    try:
        server.start()
        store = open_store(server.database())
        named = bundle_of(purpose="Wo Stra\N{LATIN SMALL LETTER SHARP S}en fehlen.")
        sent = filled(store, named, count=3)[named.task.id]
        with closing(store.connect()) as connection:
            assert connection.rows("SHOW server_encoding") == [("SQL_ASCII",)]
            loaded = read_task(connection, named.task.id)
            assert loaded is not None
            assert loaded.bundle.task == named.task
            assert counters_of(connection)[1] == {"accepted": 3}
        stored = {row[1] for row in state(store)["report"]}
        assert stored == {str(report_id_bytes(str(each["report_id"]))) for each in sent}
    finally:
        server.end()


@pytest.mark.skipif(os.name == "nt", reason="there are no such modes on Windows")
def test_only_the_operator_can_read_a_store_and_its_backups(
    sqlite: Store, bundle: TaskBundle, tmp_path: Path
) -> None:
    with collector(sqlite, bundle) as address:
        assert address.send(bundle, report(bundle)).body == b""
        back_up(sqlite, tmp_path / "backup.sqlite")
        files = [path for path in tmp_path.iterdir() if path.is_file()]
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in files}
    assert modes.keys() >= {"collector.sqlite", "collector.sqlite-wal", "backup.sqlite"}
    assert set(modes.values()) == {0o600}


def test_nothing_that_identifies_a_sender_is_stored_logged_or_exported(
    sqlite: Store, bundle: TaskBundle, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    marks = {
        "user_agent": "Marked-Agent/7",
        "x_forwarded_for": "203.0.113.77",
        "forwarded": "for=203.0.113.78",
        "cookie": "marked-cookie=1",
        "referer": "marked-referer",
    }
    import json

    from nomadp.collector.messages import UPLOAD_TYPE

    with collector(sqlite, bundle) as address:
        path = f"/tasks/{bundle.task.id}/reports"
        for body in (json.dumps({"reports": [report(bundle)]}).encode(), b"marked-body"):
            reply = address.ask("POST", path, body, content_type=UPLOAD_TYPE, **marks)
            assert b"marked" not in reply.body
        address.counters(bundle, "invalid_message")
    export_reports(sqlite, bundle.task.id, tmp_path / "out.parquet")
    back_up(sqlite, tmp_path / "backup.sqlite")
    logged = "".join(capfd.readouterr())
    everything = b"".join(each.read_bytes() for each in tmp_path.iterdir()) + logged.encode()
    for mark in (*marks.values(), "127.0.0.1:", "marked", "Marked"):
        assert mark.encode() not in everything
    connection = sqlite.connect()
    ((epoch, value),) = connection.rows("SELECT epoch, value FROM report")
    connection.close()
    assert (epoch, len(value)) == (today(), bundle.code.byte_count)


def test_after_its_retention_a_value_is_gone_and_its_id_is_not(store: Store) -> None:
    bundle = bundle_of(start=today() - 2, end=today() + 1, retention=4)
    now_s = [float(today() * DAY_S)]  # the first second of a day
    with collector(store, bundle, clock=lambda: now_s[0]) as address:
        old, new = report(bundle, 1, time=today() - 1), report(bundle, 2)
        address.send(bundle, old, new)
        connection = store.connect()
        loaded = read_task(connection, bundle.task.id)
        assert loaded is not None
        assert sum(deletions(store, loaded, now_s[0])) == 0
        now_s[0] += 3 * DAY_S + GRACE_S
        assert sum(deletions(store, loaded, now_s[0])) == 1
        assert sum(deletions(store, loaded, now_s[0])) == 0
        rows = dict(connection.rows("SELECT id, value FROM report"))
        by_id = {bytes(k): v for k, v in rows.items()}
        assert by_id[report_id_bytes(old["report_id"])] is None
        assert bytes(by_id[report_id_bytes(new["report_id"])]) == bundle.code.raw((2,))
        assert [v for _, _, v in counts_of(connection, loaded).cells] == [1, 2]
        connection.close()
        assert address.send(bundle, old).failures == ["report_replayed"]
        changed = dict(old, time=today())
        assert address.send(bundle, changed).failures == ["report_replayed"]


def test_of_a_task_that_keeps_its_reports_longer_nothing_is_deleted(store: Store) -> None:
    days = {"start": today() - 2, "end": today() + 1}
    short = bundle_of(**days, retention=4, delete_counts=True)
    long = bundle_of("starts", **days, retention=40)
    filled(store, short, long)
    connection = store.connect()
    loaded, other = (read_task(connection, each.task.id) for each in (short, long))
    assert loaded is not None
    assert other is not None
    before = counts_of(connection, other)
    assert sum(deletions(store, loaded, time.time() + 10 * DAY_S)) == 30
    assert counts_of(connection, loaded).cells == {}
    assert counts_of(connection, other) == before
    kept = "SELECT COUNT(*) FROM report WHERE task = ? AND value IS NOT NULL"
    assert connection.rows(kept, other.number) == [(30,)]
    connection.close()


def test_what_may_still_be_on_its_way_is_not_overtaken_by_its_deletion(
    store: Store, bundle: TaskBundle
) -> None:
    filled(store, bundle)
    connection = store.connect()
    loaded = read_task(connection, bundle.task.id)
    connection.close()
    assert loaded is not None
    over_s = (today() + bundle.task.retention) * DAY_S
    assert sum(deletions(store, loaded, over_s)) == 0
    assert sum(deletions(store, loaded, over_s + 600)) == 30


def test_what_was_deleted_is_not_in_the_log_beside_the_store(
    sqlite: Store, bundle: TaskBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "SWEEP_S", 0.1)
    now_s, log = [time.time()], Path(sqlite.name + "-wal")
    sent = report(bundle)
    name = report_id_bytes(sent["report_id"])
    with collector(sqlite, bundle, clock=lambda: now_s[0]) as address:
        assert address.send(bundle, sent).body == b""
        now_s[0] += 60 * DAY_S
        connection = sqlite.connect()
        deadline_s = time.monotonic() + 300
        while connection.rows("SELECT 1 FROM report WHERE value IS NOT NULL") or (
            name in log.read_bytes()
        ):
            assert time.monotonic() < deadline_s
            time.sleep(0.05)
        connection.close()


def test_what_is_exported_can_be_read_decoded_and_counted(
    store: Store, bundle: TaskBundle, tmp_path: Path
) -> None:
    sent = filled(store, bundle)[bundle.task.id]
    out = tmp_path / "reports.parquet"
    assert export_reports(store, bundle.task.id, out) == len(sent)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    reports = read_reports(out, bundle.locations)
    assert isinstance(reports, nomadp.Reports)
    assert not reports.n_refused
    assert set(reports.ids) == {each["report_id"] for each in sent}
    assert list(reports.ids) == sorted(reports.ids, key=report_id_bytes)
    assert len(decode(bundle.mechanism, reports)) == 3 * len(sent)
    connection = store.connect()
    loaded = read_task(connection, bundle.task.id)
    assert loaded is not None
    assert Counts.of(bundle.mechanism, reports) == counts_of(connection, loaded)
    connection.close()


def test_answers_to_a_question_are_exported_as_values(
    store: Store, question: TaskBundle, tmp_path: Path
) -> None:
    filled(store, question)
    out = tmp_path / "reports.parquet"
    assert export_reports(store, question.task.id, out) == 30
    reports = read_reports(out, question.locations, question.mechanism)
    connection = store.connect()
    loaded = read_task(connection, question.task.id)
    assert loaded is not None
    counts = counts_of(connection, loaded)
    connection.close()
    assert Counts.of(question.mechanism, reports) == counts
    told = [
        run_query(question.mechanism, each, {"kind": "hotspots"}) for each in (counts, reports)
    ]
    assert told[0].columns["share"].tolist() == told[1].columns["share"].tolist()


def state(store: Store) -> dict[str, list[tuple[str, ...]]]:
    """All that a store holds."""
    connection = store.connect()
    sums = {
        "cell": "SELECT task, epoch, value, SUM(n) FROM cell GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
        "counter": "SELECT task, reason, SUM(n) FROM counter GROUP BY 1, 2 ORDER BY 1, 2",
        "report": "SELECT task, id, epoch, value FROM report ORDER BY task, id",
        "task": "SELECT number, id, content, locations, book, closed, swept FROM task "
        "ORDER BY 1",
        "clock": "SELECT name, seconds FROM clock",
        "token": "SELECT role, sha256 FROM token ORDER BY 1",
    }
    found = {
        name: [tuple(bytes(x) if isinstance(x, bytes) else x for x in row) for row in rows]
        for name, sql in sums.items()
        for rows in [connection.rows(sql)]
    }
    connection.close()
    return {name: [tuple(map(str, row)) for row in rows] for name, rows in found.items()}


def test_a_backup_holds_everything_and_can_be_restored(
    store: Store, bundle: TaskBundle, question: TaskBundle, tmp_path: Path
) -> None:
    filled(store, bundle, question)
    with closing(store.connect()) as connection:
        connection.run("UPDATE task SET swept = 7")
    assert state(store)["clock"]
    back_up(store, tmp_path / "backup.sqlite")
    assert not list(tmp_path.glob("backup.sqlite-*"))
    backup = open_store(str(tmp_path / "backup.sqlite"), new=False)
    assert state(backup) == state(store)
    again = open_store(str(tmp_path / "again.sqlite"))
    assert copy_store(backup, again) == 60
    assert state(again) == state(store)


def test_a_backup_under_load_is_of_one_moment(
    store: Store, bundle: TaskBundle, tmp_path: Path
) -> None:
    with collector(store, bundle) as address, Load(address, bundle) as load:
        assert load.has_sent(20)
        known = dict(load.acknowledged)
        place = str(tmp_path / "backup.sqlite")
        back_up(store, Path(place))
    acknowledged, lost, doubled = tally(place, bundle, known)
    assert acknowledged > 10
    assert (lost, doubled) == (0, 0)


def test_a_store_is_in_use_while_a_collector_has_it(place: str, bundle: TaskBundle) -> None:
    assert not open_store(place).is_in_use()
    with collector(open_store(place), bundle) as address:
        assert open_store(place).is_in_use()
        assert address.send(bundle, report(bundle)).body == b""  # which does not feel it
    assert not open_store(place).is_in_use()
    assert len(state(open_store(place))["report"]) == 1


def test_a_copy_that_was_cut_off_is_taken_up_again(
    tmp_path: Path,
    place: str,
    bundle: TaskBundle,
    question: TaskBundle,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = open_store(str(tmp_path / "source.sqlite"))
    filled(source, bundle, question)
    target = open_store(place)
    monkeypatch.setattr(copying, "AT_ONCE", 7)
    done = []

    def cut_off(count: int) -> None:
        done.append(count)
        if len(done) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_store(source, target, cut_off)
    connection = target.connect()
    assert connection.rows("SELECT COUNT(*) FROM report") == [(28,)]
    with refused(StoreRefused, "copy_unfinished"):
        check_whole(connection)
    connection.close()
    with refused(StoreRefused, "copy_unfinished"):
        copy_store(target, open_store(str(tmp_path / "third.sqlite")))
    assert copy_store(source, target) == 60
    assert state(target) == state(source)
    with collector(target) as address:
        assert address.send(bundle, report(bundle)).body == b""
        assert address.counters(bundle, "accepted", 31) == 31


def test_a_store_that_is_used_before_it_has_moved_is_moved_again(
    place: str, tmp_path: Path, bundle: TaskBundle
) -> None:
    source, target = open_store(place), open_store(str(tmp_path / "target.sqlite"))
    filled(source, bundle)
    with closing(source.connect()) as connection:
        renew_token(connection, "analyst")
    restarted: list[Connection] = []
    with refused(StoreRefused, "store_in_use"):
        copy_store(
            source, target, lambda _: restarted.append(source.connect(writes=True)), moves=True
        )
    with closing(target.connect()) as connection, pytest.raises(StoreRefused):
        check_whole(connection)
    close_task(restarted[0], bundle.task.id)
    renew_token(restarted[0], "analyst")
    for connection in restarted:
        connection.close()
    assert copy_store(source, target, moves=True) == 30
    assert state(target) == state(source)
    with closing(target.connect()) as connection:
        assert is_closed(connection, bundle.task.id)


def test_nothing_is_copied_into_a_store_that_is_in_use(
    place: str, tmp_path: Path, bundle: TaskBundle
) -> None:
    source, target = open_store(str(tmp_path / "source.sqlite")), open_store(place)
    filled(source, bundle)
    with collector(open_store(place)), refused(StoreRefused, "store_in_use"):
        copy_store(source, target)
    assert not state(target)["task"]
    assert copy_store(source, target) == 30


def test_a_copy_counts_what_its_source_counted_and_nothing_of_its_own(
    place: str, tmp_path: Path, bundle: TaskBundle
) -> None:
    source, target = open_store(str(tmp_path / "source.sqlite")), open_store(place)
    filled(source, bundle)
    connection = target.connect(writes=True)
    with connection.transaction():
        connection.add_counters({(0, "unrecognized_task"): 5})
    connection.close()
    assert wait_until(lambda: not target.is_in_use(), 60)  # PostgreSQL notices a bit later
    copy_store(source, target)
    assert state(target) == state(source)


def test_a_copy_with_a_report_that_its_source_has_not_is_refused(
    place: str, tmp_path: Path, bundle: TaskBundle
) -> None:
    source, target = open_store(str(tmp_path / "source.sqlite")), open_store(place)
    filled(source, bundle)
    stranger = Arrivals(1, [b"s" * 16], [7], [b"x"], np.zeros((1, 1), dtype=np.int64))
    connection = target.connect(writes=True)
    connection.write([stranger], lambda written: {})
    connection.close()
    assert wait_until(lambda: not target.is_in_use(), 60)
    with refused(StoreRefused, "copy_differs", expected=30, reports=31):
        copy_store(source, target)


def test_a_store_is_not_copied_over_another(
    place: str, tmp_path: Path, bundle: TaskBundle
) -> None:
    source, target = open_store(str(tmp_path / "source.sqlite")), open_store(place)
    prepared(source, bundle)
    prepared(target, bundle_of(purpose="Another."))
    with refused(StoreRefused, "store_not_empty"):
        copy_store(source, target)


def test_a_backup_is_not_restored_over_what_came_in_since(
    store: Store, bundle: TaskBundle, question: TaskBundle, tmp_path: Path
) -> None:
    filled(store, bundle, question)
    back_up(store, tmp_path / "backup.sqlite")
    with collector(store) as address:
        assert address.send(bundle, report(bundle)).body == b""
    before = state(store)
    with refused(StoreRefused, "store_not_empty"):
        copy_store(open_store(str(tmp_path / "backup.sqlite")), store)
    assert state(store) == before


def test_tokens_are_kept_as_hashes_and_renewed(store: Store) -> None:
    connection = store.connect()
    made = first_tokens(connection, {})
    assert set(made) == {"analyst", "operator"}
    assert first_tokens(connection, {}) == {}
    assert is_token(connection, "analyst", made["analyst"])
    assert not is_token(connection, "operator", made["analyst"])
    assert made["analyst"] not in str(connection.rows("SELECT * FROM token"))
    new = renew_token(connection, "analyst")
    assert is_token(connection, "analyst", new)
    assert not is_token(connection, "analyst", made["analyst"])
    both = {f"NOMADP_{role.upper()}_TOKEN": "the-same-for-both-roles" for role in ROLES}
    with refused(TokenRefused, "token_of_both_roles"):
        first_tokens(connection, both)
    assert is_token(connection, "analyst", new)
    connection.close()


def test_counters_outlive_the_process(store: Store, bundle: TaskBundle) -> None:
    with collector(store, bundle) as address:
        address.send(bundle, report(bundle, time=0))
    connection = store.connect()
    assert counters_of(connection)[1] == {"task_not_started": 1}
    connection.close()


def test_uploads_side_by_side_are_all_counted(
    address: Address, store: Store, bundle: TaskBundle
) -> None:
    def send() -> None:
        for _ in range(5):
            assert address.send(bundle, *[report(bundle, k) for k in range(20)]).body == b""

    threads = [threading.Thread(target=send) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    connection = store.connect()
    assert connection.rows("SELECT COUNT(*) FROM report") == [(600,)]
    ((counted,),) = connection.rows("SELECT SUM(n) FROM cell")
    connection.close()
    assert counted == address.counters(bundle, "accepted") == 600


@pytest.mark.parametrize(
    ("named", "code"),
    [
        ("mysql://localhost", "store_address_malformed"),
        ("postgresql://nobody@127.0.0.1:1/none", "store_unavailable"),
    ],
)
def test_what_is_no_store_is_refused(named: str, code: str) -> None:
    with refused(StoreRefused, code):
        open_store(named)


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with refused(StoreRefused, "store_missing"):
        open_store(str(tmp_path / "x.sqlite"), new=False)
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.sqlite").write_bytes(b"not a store" * 1000)
    with refused(StoreCorrupt, "store_corrupt"):
        open_store(str(tmp_path / "x.sqlite"))


def test_a_store_is_shown_without_who_may_open_it(postgres: Postgres) -> None:
    place = postgres.database().replace("nomadp@", "nomadp:secret@")
    assert open_store(place).name == "postgresql:" + "//127.0.0.1/postgres"
