"""The tests of benchmarks/collector.py; each runs a collector and returns rows."""

import importlib.util
import json
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from collecting import Process, bundle_of, prepared
from collector_faults import clock, corruption
from collector_kills import device_kills, kills, postgres_kills
from collector_running import (
    HERE,
    MILLION,
    Row,
    filled,
    folder,
    listed,
    loaded,
    normal_again_s,
    running,
    started,
    task_kit,
)

from nomadp.collector.connections import open_store


def single(*, quick: bool) -> list[Row]:
    seconds = 3 if quick else 600
    with folder() as where, running(where) as process:
        results = loaded(process, batch=1, connections=128, seconds=seconds)
    rate, p99 = results["per_s"], results["p99_ms"]
    return [
        Row(
            "single durable reports",
            "2,750-4,400/s, p99 36-75 ms",
            ">= 3,000/s, p99 <= 150 ms, 10 min",
            f"{rate:,.0f}/s, p99 {p99:.0f} ms, {seconds} s",
            rate >= 3000 and p99 <= 150 and _all_accepted(results),
            results,
        )
    ]


def _all_accepted(results: dict[str, Any]) -> bool:
    return set(results["statuses"]) == {"200"} and not results["failures"] + results["broken"]


def batches(*, quick: bool) -> list[Row]:
    seconds, stored = (3, 100_000) if quick else (60, 10 * MILLION)
    rates = {}
    for rows in (0, stored):
        with folder() as where, running(where, rows) as process:
            for size in (50, 100):
                results = loaded(process, batch=size, connections=8, seconds=seconds)
                rates[rows, size] = results["per_s"]
    empty, size = min(rates[0, 50], rates[0, 100]), filled(stored).stat().st_size
    share = min(rates[stored, size] / rates[0, size] for size in (50, 100))
    figures = {f"{rows} rows, batches of {size}": rate for (rows, size), rate in rates.items()}
    return [
        Row(
            "batches of 50 and 100",
            "10,500-11,500/s",
            ">= 10,000/s",
            f"{rates[0, 50]:,.0f} and {rates[0, 100]:,.0f}/s",
            empty >= 10_000,
            figures,
        ),
        Row(
            f"the same with {stored / MILLION:g} M rows stored",
            "-",
            ">= 70 % of it",
            f"{rates[stored, 50]:,.0f} and {rates[stored, 100]:,.0f}/s, {share:.0%}; a file of "
            f"{size / MILLION:,.0f} MB",
            share >= 0.7,
            figures | {"bytes": size},
        ),
    ]


def fuzz(*, quick: bool) -> list[Row]:
    """Run the requests of tests/collector/test_fuzz.py on its two small tasks."""
    path = HERE.parent / "tests" / "collector" / "test_fuzz.py"
    spec = importlib.util.spec_from_file_location("fuzzing", path)
    fuzzing: Any = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(fuzzing)  # type: ignore[union-attr]
    raw, examples = (200, 5) if quick else (4500, 220)
    with folder() as where:
        place = str(where / "collector.sqlite")
        prepared(open_store(place), bundle_of(), bundle_of("starts"))
        with Process(place, where) as process:
            fuzzing.sent_raw(process.address, raw // 9)
            before = fuzzing.resident_kib(process)
            worst = fuzzing.sent_raw(process.address, raw)
            try:
                n_by_schema = fuzzing.asked_by_schema(process.address, examples)
            except AssertionError:
                n_by_schema, worst = 0, 500
            growth_mib = (fuzzing.resident_kib(process) - before) / 1024
    count = raw + raw // 9 + n_by_schema
    return [
        Row(
            "fuzzed requests",
            "-",
            "7,000, 0 answers >= 500, memory steady",
            f"{count:,}, {'none' if worst < 500 else 'some'} >= 500, {growth_mib:+.0f} MiB",
            worst < 500 and growth_mib < 64,
            {"requests": count, "worst_status": worst, "grown_mib": growth_mib},
        )
    ]


def slow(*, quick: bool) -> list[Row]:
    seconds, count = 3 if quick else 30, 1000
    with folder() as where, running(where) as process:
        options = {"batch": 1, "connections": 32, "seconds": seconds}
        before = loaded(process, **options)["p99_ms"]
        address = ("127.0.0.1", process.address.port)
        idle = [socket.create_connection(address) for _ in range(count)]
        for connection in idle:
            connection.sendall(b"POST /tasks/x/reports HTTP/1.1\r\nx-slow: ")
        senders = started(process, **options)
        while senders.poll() is None:  # send a byte now and then, and reconnect when cut off
            time.sleep(0.5)
            for k, connection in enumerate(idle):
                try:
                    connection.sendall(b"x")
                except OSError:
                    connection.close()
                    idle[k] = socket.create_connection(address)
        results = json.loads(senders.communicate()[0])
        for connection in idle:
            connection.close()
    after = results["p99_ms"]
    return [
        Row(
            f"{count:,} slow connections",
            "-",
            "honest p99 at most doubled",
            f"p99 {before:.0f} ms without, {after:.0f} ms with",
            after <= 2 * before and _all_accepted(results),
            {"before_ms": before, **results},
        )
    ]


def overload(*, quick: bool) -> list[Row]:
    """Send three times the measured capacity, whatever the replies are."""
    seconds = 4 if quick else 60
    with folder() as where, running(where) as process:
        capacity = loaded(process, batch=50, connections=8, seconds=seconds / 4)
        options = {"batch": 50, "connections": 1500, "pause_s": 1.0}
        results = loaded(process, **options, seconds=seconds, per_s=3 * capacity["per_s"])
        recovery_s = normal_again_s(process)
        lost = _lost(where, capacity["acknowledged"] + results["acknowledged"])
    statuses = results["statuses"]
    is_calm = set(statuses) <= {"200", "429", "503", "507"} and recovery_s <= 10
    return [
        Row(
            "overload: 3 x as many, in batches of 50",
            "-",
            "only 429/503/507, 0 lost, normal in 10 s",
            f"{results['offered'] / seconds:,.0f}/s sent, {results['per_s']:,.0f}/s accepted: "
            f"{listed(statuses)}; {lost} lost, normal in {recovery_s:.1f} s",
            is_calm and not lost,
            {**results, "capacity_per_s": capacity["per_s"], "normal_s": recovery_s},
        )
    ]


def _lost(where: Path, acknowledged: int) -> int:
    connection = open_store(str(where / "collector.sqlite")).connect()
    ((stored,),) = connection.rows("SELECT COUNT(*) FROM report")
    connection.close()
    return max(0, acknowledged - int(stored))


@contextmanager
def small_disk(mebibytes: int) -> Iterator[Path]:
    with folder() as where:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", str(where)]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            raise PermissionError("mounting a small disk needs root")
        try:
            yield where
        finally:
            subprocess.run(["umount", str(where)], check=False)


def disk_full(*, quick: bool) -> list[Row]:
    """A disk of 400 MiB is filled to less than the 256 MiB that must stay free, then freed."""
    label, goal = "disk full", "only 507, 0 lost, normal in 10 s"
    seconds = 2 if quick else 20
    try:
        with small_disk(400) as where, running(where) as process:
            before = loaded(process, batch=10, connections=16, seconds=seconds)
            ballast = where / "ballast"
            ballast.write_bytes(bytes(200 * 2**20))
            time.sleep(1)
            full = loaded(process, batch=10, connections=16, seconds=seconds)
            ballast.unlink()
            recovery_s = normal_again_s(process)
            lost = _lost(where, before["acknowledged"] + full["acknowledged"])
    except PermissionError as refusal:
        return [Row(label, "-", goal, str(refusal), is_met=False)]
    statuses = full["statuses"]
    return [
        Row(
            label,
            "-",
            goal,
            f"{listed(statuses)}; {lost} lost, normal in {recovery_s:.1f} s",
            set(statuses) == {"507"} and not lost and recovery_s <= 10,
            {"normal_s": recovery_s, "statuses": statuses},
        )
    ]


def hotspots(*, quick: bool) -> list[Row]:
    rows = 100_000 if quick else 10 * MILLION
    path = f"/tasks/{task_kit().task.id}/collection_jobs"
    with folder() as where, running(where, rows) as process:
        content, seconds = {"query": {"kind": "hotspots"}}, []
        for _ in range(2):
            began_s = time.monotonic()
            job = process.address.post(path, content, "analyst").headers["location"]
            while (reply := process.address.ask("GET", job, role="analyst")).status == 202:
                time.sleep(0.05)
            seconds.append(time.monotonic() - began_s)
        if reply.json["status"] != "done":
            raise RuntimeError(f"the query must be answered, got {reply.body[:300]!r}")
    return [
        Row(
            f"hotspots of {rows / MILLION:g} M reports",
            "-",
            "first <= 10 s, again <= 0.2 s",
            f"first {seconds[0]:.1f} s, again {seconds[1]:.3f} s",
            seconds[0] <= 10 and seconds[1] <= 0.2,
            {"first_s": seconds[0], "again_s": seconds[1]},
        )
    ]


ROWS: dict[str, Callable[..., list[Row]]] = {
    "single": single,
    "batches": batches,
    "kills": kills,
    "postgres": postgres_kills,
    "device": device_kills,
    "fuzz": fuzz,
    "slow": slow,
    "overload": overload,
    "disk": disk_full,
    "clock": clock,
    "corruption": corruption,
    "hotspots": hotspots,
}
