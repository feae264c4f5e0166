"""Killed at random moments, again and again: nothing acknowledged is lost or doubled."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from collecting import Process, bundle_of, logged, prepared, report
from crashes import Load, killed_under_load, tally
from limits import on_this_machine
from postgres import Postgres, program
from processes import wait_until

from nomadp.collector.connections import open_store
from nomadp.collector.messages import UPLOAD_TYPE

# The same collector, but for the order: it acknowledges, and writes a moment later.
HASTY = """
import time
from nomadp.collector import writer
from nomadp.collector.messages import ACCEPTED

def hasty(self, batch):
    for each in batch:
        each.outcomes = [ACCEPTED] * len(each.ids)
    self._loop.call_soon_threadsafe(self._answer, batch)
    time.sleep(1)  # longer than a kill is waited for: it falls between
    with self._lock:
        refusals, self._refusals = self._refusals, type(self._refusals)()
    self._write(writer.grouped(batch), refusals)

writer.Writer._commit = hasty
from nomadp.cli import main
main()
"""


def killed_collector(place: str, folder: Path, times: int, **how: list[str]) -> tuple[int, ...]:
    bundle = bundle_of()
    prepared(open_store(place), bundle)
    with Process(place, folder, **how) as running:
        load = Load(running.address, bundle)
        killed_under_load(load, times, running.kill, running.start)
    return tally(place, bundle, load.acknowledged)


def test_a_killed_collector_loses_and_doubles_nothing(place: str, tmp_path: Path) -> None:
    acknowledged, lost, doubled = killed_collector(place, tmp_path, 2)
    assert acknowledged > 20
    assert (lost, doubled) == (0, 0)


@pytest.mark.slow
def test_a_collector_killed_200_times_loses_and_doubles_nothing(tmp_path: Path) -> None:
    place = str(tmp_path / "collector.sqlite")
    acknowledged, lost, doubled = killed_collector(place, tmp_path, 200)
    assert acknowledged > 2000
    assert (lost, doubled) == (0, 0)


@pytest.mark.slow
def test_acknowledging_before_the_commit_is_seen_to_lose(tmp_path: Path) -> None:
    place = str(tmp_path / "collector.sqlite")
    hasty = [sys.executable, "-c", HASTY]
    _, lost, _ = killed_collector(place, tmp_path, 3, program=hasty)
    assert lost > 0


def killed_database(folder: Path, times: int) -> tuple[int, ...]:
    if program("initdb") is None:
        pytest.skip("PostgreSQL is not installed here; Debian's package is postgresql")
    server, bundle = Postgres(), bundle_of()
    try:
        server.start()
        place = server.database()
        prepared(open_store(place), bundle)
        with Process(place, folder) as running:
            load = Load(running.address, bundle)

            def start() -> None:
                server.start()
                assert wait_until(running.is_ready, 300)

            killed_under_load(load, times, server.kill, start)
        assert load.statuses <= {200, 429, 503}
        return tally(place, bundle, load.acknowledged)
    finally:
        server.end()


@pytest.mark.slow
def test_a_database_killed_50_times_loses_and_doubles_nothing(tmp_path: Path) -> None:
    acknowledged, lost, doubled = killed_database(tmp_path, 50)
    assert acknowledged > 500
    assert (lost, doubled) == (0, 0)


@pytest.mark.slow
def test_a_killed_database_loses_and_doubles_nothing(tmp_path: Path) -> None:
    acknowledged, lost, doubled = killed_database(tmp_path, 2)
    assert acknowledged > 10
    assert (lost, doubled) == (0, 0)


@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param(signal.SIGTERM, 143, id="term"),
        pytest.param(signal.SIGINT, 130, id="int", marks=pytest.mark.slow),
    ],
)
def test_told_to_stop_it_answers_what_it_has_and_ends(
    tmp_path: Path, number: int, code: int
) -> None:
    bundle, place = bundle_of(), str(tmp_path / "collector.sqlite")
    prepared(open_store(place), bundle)
    with Process(place, tmp_path) as running:
        with Load(running.address, bundle) as load:
            assert load.has_sent(20)
            assert running.end(number) == code
        acknowledged, lost, doubled = tally(place, bundle, load.acknowledged)
    assert acknowledged > 10
    assert (lost, doubled) == (0, 0)
    said = running.log.read_text()
    assert logged(said)[-1]["code"] == "stopped"
    assert "Traceback" not in said


def test_a_start_does_not_wait_for_what_only_answers_need() -> None:
    code = (
        "import sys, nomadp.cli.serve, nomadp.collector.server, nomadp.collector.connections\n"
        "print(*sorted(set(sys.modules) & {'pandas', 'scipy', 'matplotlib', 'numba', 'pyarrow',"
        "'psycopg', 'nomadp.reports', 'nomadp.answers', 'nomadp.inference'}))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert found.stdout.split() == []


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")
def test_a_start_takes_less_than_two_seconds_of_a_core(tmp_path: Path) -> None:
    """How long it is until ready, on a machine of its own, the benchmark says."""
    place = str(tmp_path / "collector.sqlite")
    prepared(open_store(place), bundle_of())
    with Process(place, tmp_path) as running:
        assert running.process is not None
        said = Path(f"/proc/{running.process.pid}/stat").read_text().rpartition(")")[2].split()
        used_s = (int(said[11]) + int(said[12])) / os.sysconf("SC_CLK_TCK")
        assert used_s < on_this_machine(2)


def test_a_start_leaves_the_log_of_a_crash_for_later(tmp_path: Path) -> None:
    bundle, place = bundle_of(), tmp_path / "collector.sqlite"
    prepared(open_store(str(place)), bundle)
    with Process(str(place), tmp_path) as running:
        assert running.address.send(bundle, report(bundle)).body == b""
        running.kill()
    store = open_store(str(place))
    first = store.connect()
    store.connect().close()  # not the last: it has nothing to empty
    assert (tmp_path / "collector.sqlite-wal").stat().st_size > 0
    first.close()
    assert not (tmp_path / "collector.sqlite-wal").exists()


@pytest.mark.slow
def test_workers_end_with_the_process_that_started_them(
    postgres: Postgres, tmp_path: Path
) -> None:
    place = postgres.database()
    prepared(open_store(place), bundle_of())
    with Process(place, tmp_path, ["--workers", "2"]) as running:
        assert wait_until(lambda: writers(place) == 2, 120)
        running.kill()
        assert wait_until(lambda: writers(place) == 0, 120)


def writers(place: str) -> int:
    """How many hold a part of the counts."""
    connection = open_store(place).connect()
    ((count,),) = connection.rows(
        "SELECT COUNT(*) FROM pg_locks JOIN pg_database AS d ON d.oid = database "
        "WHERE locktype = 'advisory' AND datname = current_database()"
    )
    connection.close()
    return int(count)


def parts(place: str) -> int:
    """In how many of them something was counted."""
    connection = open_store(place).connect()
    ((count,),) = connection.rows("SELECT COUNT(DISTINCT part) FROM cell")
    connection.close()
    return int(count)


@pytest.mark.slow
def test_several_processes_share_a_postgresql(postgres: Postgres, tmp_path: Path) -> None:
    bundle, place = bundle_of(), postgres.database()
    prepared(open_store(place), bundle)
    with Process(place, tmp_path, ["--workers", "3"]) as running:
        assert wait_until(lambda: writers(place) == 3, 120)
        same, replies = report(bundle), []

        def send() -> None:
            connection = http.client.HTTPConnection("127.0.0.1", running.address.port)
            body = json.dumps({"reports": [same]})
            path = f"/tasks/{bundle.task.id}/reports"
            connection.request("POST", path, body, {"content-type": UPLOAD_TYPE})
            replies.append(connection.getresponse().read())
            connection.close()

        threads = [threading.Thread(target=send) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert replies == [b""] * 20
        sent = {same["report_id"]: same["value"]}

        def are_several_at_work() -> bool:
            """On a busy machine one of them may be the first to take every connection."""
            with Load(running.address, bundle, 16) as load:
                assert load.has_sent(50)
            sent.update(load.acknowledged)
            return parts(place) > 1

        assert wait_until(are_several_at_work, 300)
        assert running.end() == 143
    acknowledged, lost, doubled = tally(place, bundle, sent)
    assert acknowledged > 20
    assert (lost, doubled) == (0, 0)
