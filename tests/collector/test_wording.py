"""What a collector says: to programs over HTTP, in its log, and to whoever operates it."""

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from collecting import DAY_S, TOKENS, bundle_of, collector, logged, report

from nomadp.cli import main
from nomadp.collector import tokens
from nomadp.collector.clock import Clock
from nomadp.collector.condition import Condition
from nomadp.collector.disk_space import LOOK_AGAIN_S, DiskSpace
from nomadp.collector.problems import PROBLEMS
from nomadp.collector.store import Store, StoreCorrupt
from nomadp.protocol.address import Address
from nomadp.protocol.fetch import Operator

Wording = Callable[..., None]
NOON_S = 1_700_000_000 // DAY_S * DAY_S + DAY_S // 2


def printed(*arguments: str, code: int = 0) -> str:
    """A command and what it says."""
    done = CliRunner().invoke(main, ["collector", *arguments])
    assert done.exit_code == code, done.output
    said = "\n".join(line for line in done.output.splitlines() if not line.startswith("{"))
    return f"$ nomadp collector {' '.join(arguments)}\n{said}"


def test_problems(wording: Wording) -> None:
    lines = [f"{kind.status} {name}: {kind.title}" for name, kind in PROBLEMS.items()]
    wording("collector", "problems over HTTP", "\n".join(lines))


def test_the_log(
    sqlite: Store,
    wording: Wording,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tokens, "DELAY_S", 0.0)
    bundle, free, now_s = bundle_of(), [10**9], [float(NOON_S)]
    clock = Clock(lambda: now_s[0], lambda: 0.0)
    space = DiskSpace(lambda: free[0], 10**8)
    condition = Condition(clock, space)
    clock.set_newest(NOON_S)
    for days in (400, 0):
        now_s[0] = NOON_S + days * DAY_S
        assert clock.is_suspect is bool(days)
    for free_bytes in (10**7, 10**9):
        free[0] = free_bytes
        assert space.is_full is (free_bytes < 10**8)
        time.sleep(LOOK_AGAIN_S)
    condition.record(StoreCorrupt("SQLITE_CORRUPT", code="store_corrupt"))
    with collector(sqlite) as address:
        where = Address.parse(f"http://127.0.0.1:{address.operator_port}")
        operator = Operator(where, TOKENS["operator"])
        operator.publish(bundle)
        operator.close(bundle.task.id)
        assert address.ask("GET", "/tasks", authorization="Bearer wrong").status == 401
    lines = []
    for line in logged(capfd.readouterr().err):
        assert line.pop("time")
        lines.append(f"{line.pop('code')}: {line.pop('event')}")
        lines += [f"    {name}: {fact}" for name, fact in line.items()]
    wording("collector", "the log", "\n".join(lines), hide={bundle.task.id: "TASK"})


def test_the_operator_is_told_what_arrived(
    sqlite: Store, tmp_path: Path, wording: Wording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bundle = bundle_of()
    empty = printed("status")
    with collector(sqlite, bundle) as address:
        sent = [report(bundle, k) for k in range(5)]
        assert address.send(bundle, *sent).body == b""
        address.send(bundle, sent[0], report(bundle, time=0))
        assert address.counters(bundle, "task_not_started") == 1
        path = "/tasks/unknown/reports"
        assert address.ask("POST", path, b"", content_type="text/plain").status == 404
        assert address.counters(None, "unrecognized_task") == 1
    said = [empty, printed("status")]
    said.append(printed("export", "--task", bundle.task.id, "--out", "reports.parquet"))
    said.append(printed("backup", "--out", "backup.sqlite"))
    said.append(printed("restore", "backup.sqlite", "--store", "again.sqlite"))
    with closing(sqlite.connect()) as connection:
        connection.run("UPDATE task SET closed = 1")
    said.append(printed("status"))
    text = "\n\n".join(said)
    wording("collector", "status and copies", text, hide={bundle.task.id: "TASK"})


def test_what_to_do_about_a_store_that_is_not_whole(
    sqlite: Store, tmp_path: Path, wording: Wording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bundle = bundle_of("starts")
    with collector(sqlite, bundle) as address:
        assert address.send(bundle, *[report(bundle, k) for k in range(5)]).body == b""
    said = [printed("check")]
    with closing(sqlite.connect()) as connection:
        connection.run("UPDATE report SET epoch = 20000")
        connection.run("UPDATE cell SET n = n + 1, epoch = 20000")
        connection.run("INSERT INTO outline (task, content) VALUES (9, x'00')")
    said.append(printed("check", code=1))
    Path("damaged.sqlite").write_bytes(b"not a store" * 1000)
    said.append(printed("check", "--store", "damaged.sqlite", code=1))
    wording("collector", "check", "\n\n".join(said), hide={bundle.task.id: "TASK"})


def test_how_a_clock_is_compared_and_confirmed(
    sqlite: Store, tmp_path: Path, wording: Wording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def on_day(day: int, *arguments: str) -> str:
        with monkeypatch.context() as during:
            during.setattr(time, "time", lambda: float(NOON_S + day * DAY_S))
            return printed("clock", *arguments)

    said = [on_day(0)]
    with closing(sqlite.connect()) as connection:
        connection.confirm_time(NOON_S)
    said += [on_day(1), on_day(400), on_day(-9), on_day(400, "--confirm")]
    wording("collector", "clock", "\n\n".join(said))
