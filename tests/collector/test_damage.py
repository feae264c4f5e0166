"""A store that is damaged is noticed, takes nothing more, and is told what is wrong with it."""

import json
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from collecting import (
    DAY_S,
    Address,
    Process,
    bundle_of,
    collector,
    logged,
    new_id,
    prepared,
    report,
    today,
)
from damage import overwrite_pages
from postgres import Postgres
from processes import wait_until

from nomadp.cli import main
from nomadp.collector import service
from nomadp.collector.connections import open_store
from nomadp.collector.loaded_task import read_task
from nomadp.collector.messages import report_id_bytes
from nomadp.collector.postgres_store import PostgresStore
from nomadp.collector.retention import deletions
from nomadp.collector.service import Service
from nomadp.collector.store import Arrivals, Store
from nomadp.protocol.bundle import TaskBundle

COUNT = 4000


def fill(store: Store, bundle: TaskBundle, count: int = COUNT) -> list[bytes]:
    """Many reports that a collector has acknowledged; their ids, sorted."""
    prepared(store, bundle)
    ids = sorted(report_id_bytes(new_id()) for _ in range(count))
    numbers = np.arange(count)[:, None] % bundle.code.size
    values = [bundle.code.raw((int(n),)) for n in numbers[:, 0]]
    with closing(store.connect(writes=True)) as connection:
        connection.write([Arrivals(1, ids, [today()] * count, values, numbers)], lambda _: {})
    return ids


@pytest.fixture
def damaged(tmp_path: Path, bundle: TaskBundle) -> str:
    """Three of its pages are overwritten."""
    path = tmp_path / "collector.sqlite"
    ids = fill(open_store(str(path)), bundle)
    overwrite_pages(path, [ids[200], ids[2000], ids[3900]])
    return str(path)


def metrics(address: Address) -> dict[str, str]:
    said = address.ask("GET", "/metrics").body.decode().splitlines()
    return dict(line.rsplit(" ", 1) for line in said if not line.startswith("#"))


def check(place: str) -> tuple[int, Any]:
    said = CliRunner().invoke(main, ["collector", "check", "--store", place, "--json"])
    return said.exit_code, json.loads(said.stdout)


def assert_takes_nothing(
    address: Address, bundle: TaskBundle, capfd: pytest.CaptureFixture[str]
) -> None:
    for _ in range(20):
        refused = address.send(bundle, report(bundle))
        assert (refused.status, refused.problem) == (503, "store_corrupt")
        assert int(refused.headers["retry-after"]) > 0
    ready = address.ask("GET", "/readyz")
    assert (ready.status, ready.problem) == (503, "store_corrupt")
    found = metrics(address)
    assert (found["nomadp_ready"], found["nomadp_store_corrupt"]) == ("0", "1")
    codes = [line["code"] for line in logged(capfd.readouterr().err)]
    assert codes.count("store_corrupt") == 1


def test_the_first_upload_that_meets_a_damaged_page_ends_the_intake(
    damaged: str,
    bundle: TaskBundle,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Service, "_check", lambda self: None)  # the uploads alone find it
    kept = []
    with collector(open_store(damaged)) as address:
        while True:
            sent = report(bundle)
            reply = address.send(bundle, sent)
            if reply.status != 200:
                break
            kept.append(report_id_bytes(sent["report_id"]))
        assert (reply.status, reply.problem) == (503, "store_corrupt")
        assert_takes_nothing(address, bundle, capfd)
    with closing(open_store(damaged).connect()) as connection:
        assert set(connection.known(1, kept)) == set(kept)  # nothing acknowledged is lost


def test_a_damaged_page_that_nobody_asks_for_is_found_after_a_start(
    damaged: str, bundle: TaskBundle, capfd: pytest.CaptureFixture[str]
) -> None:
    with collector(open_store(damaged)) as address:
        assert wait_until(lambda: address.ask("GET", "/readyz").status == 503, 60)
        assert_takes_nothing(address, bundle, capfd)


class Damaged(Process):
    """Whose store is: that it says so is all that can be waited for."""

    def is_ready(self) -> bool:
        return "store_corrupt" in [line["code"] for line in logged(self.log.read_text())]


def test_a_collector_on_a_damaged_store_ends_as_any_other(damaged: str, tmp_path: Path) -> None:
    with Damaged(damaged, tmp_path) as running:
        assert running.end() == 143  # not by a crash of a thread that still reads


def test_a_damaged_database_takes_nothing_more(
    postgres: Postgres, bundle: TaskBundle, capfd: pytest.CaptureFixture[str]
) -> None:
    server = Postgres()  # of its own: it is stopped and damaged
    try:
        server.start()
        place = server.database()
        fill(open_store(place), bundle, 40)  # all in the page that is overwritten
        server.damage(place, "report")
        with collector(open_store(place)) as address:
            assert address.send(bundle, report(bundle)).problem == "store_corrupt"
            assert_takes_nothing(address, bundle, capfd)
        code, found = check(place)
        assert code == 1
        assert any(re.match(r"report\b.*\bXX001\b", each) for each in found["damage"])
    finally:
        server.end()


def test_a_database_that_misses_a_file_takes_nothing_more(
    postgres: Postgres, bundle: TaskBundle, capfd: pytest.CaptureFixture[str]
) -> None:
    server = Postgres()
    try:
        server.start()
        place = server.database()
        fill(open_store(place), bundle, 40)
        server.damage(place, "report", lose=True)
        with collector(open_store(place)) as address:
            assert_takes_nothing(address, bundle, capfd)
    finally:
        server.end()


def test_all_collectors_on_a_damaged_database_take_nothing_more(
    postgres: Postgres, bundle: TaskBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "WATCH_S", 0.05)
    server = Postgres()
    try:
        server.start()
        place = server.database()
        fill(open_store(place), bundle, 40)
        server.damage(place, "report")
        with collector(open_store(place)) as one, collector(open_store(place)) as other:
            assert other.ask("GET", "/readyz").status == 200
            assert one.send(bundle, report(bundle)).problem == "store_corrupt"
            assert wait_until(lambda: other.ask("GET", "/readyz").status == 503, 20)
            assert metrics(other)["nomadp_store_corrupt"] == "1"
        with collector(open_store(place)) as again:  # until all of them were started again
            assert again.ask("GET", "/readyz").status == 200
    finally:
        server.end()


def test_a_whole_store_passes(place: str, bundle: TaskBundle, question: TaskBundle) -> None:
    with collector(open_store(place), bundle, question) as address:
        for each in (bundle, question):
            assert address.send(each, *[report(each, k) for k in range(20)]).body == b""
        code, found = check(place)  # while it is in use
    assert code == 0, found
    assert (found["is_whole"], found["tasks"], found["reports"]) == (True, 2, 40)
    assert found["damage"] == found["differences"] == found["advice"] == []


@pytest.mark.parametrize("deletes", [False, True])
def test_a_store_whose_values_were_deleted_is_whole(place: str, deletes: bool) -> None:
    more: dict[str, Any] = {"delete_counts": True} if deletes else {}
    bundle = bundle_of(start=today() - 2, end=today() + 1, retention=4, **more)
    store = open_store(place)
    with collector(store, bundle) as address:
        old = [report(bundle, k, time=today() - 1) for k in range(5)]
        assert address.send(bundle, *old, *[report(bundle, k) for k in range(5)]).body == b""
    with closing(store.connect()) as connection:
        loaded = read_task(connection, bundle.task.id)
    assert loaded is not None
    last = None
    for days in (3, 4):
        assert sum(deletions(store, loaded, (today() + days) * DAY_S + 600)) == 5
        code, last = check(place)
        assert code == 0, last
    assert last is not None


def test_with_amcheck_the_indexes_of_a_database_are_compared(
    postgres: Postgres, bundle: TaskBundle
) -> None:
    place = postgres.database()
    fill(open_store(place), bundle, 50)
    assert any("amcheck" in each for each in check(place)[1]["notes"])
    with closing(PostgresStore(place).connect()) as connection:
        connection.run("CREATE EXTENSION amcheck")
        try:
            code, found = check(place)
            assert (code, found["notes"]) == (0, [])
        finally:
            connection.run("DROP EXTENSION amcheck")


ONE = "(SELECT id FROM report ORDER BY id LIMIT 1)"
CHANGES = {
    "a count too many": "UPDATE cell SET n = n + 1 WHERE value = 3",
    "a count is gone": "DELETE FROM cell WHERE value = 3",
    "a report is gone": f"DELETE FROM report WHERE id = {ONE}",
    "a report of no task": f"UPDATE report SET task = 9 WHERE id = {ONE}",
    "a task is another": "UPDATE task SET content = locations",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_does_not_fit_together_is_found(
    place: str, bundle: TaskBundle, change: str
) -> None:
    fill(open_store(place), bundle, 60)
    assert check(place)[0] == 0
    with closing(open_store(place).connect()) as connection:
        connection.run(change)
    code, found = check(place)
    assert code == 1
    assert found["differences"]
    assert any("nomadp collector export" in each for each in found["advice"])


def test_damage_is_told_with_what_to_do(damaged: str, tmp_path: Path) -> None:
    code, found = check(damaged)
    assert code == 1
    assert found["damage"]
    assert any("nomadp collector restore" in each for each in found["advice"])
    (tmp_path / "none.sqlite").write_bytes(b"not a store" * 1000)
    code, found = check(str(tmp_path / "none.sqlite"))
    assert code == 1
    assert "SQLITE_NOTADB" in found["damage"][0]
