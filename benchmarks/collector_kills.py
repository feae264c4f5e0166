"""Collector tests with repeated kills: reports lost or doubled, and budget overspent."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from collecting import Process, prepared
from collector_running import Row, folder, running, task_kit
from crashes import Load, killed_under_load, tally
from device_kills import EACH, killed_at_random
from postgres import Postgres, program
from processes import wait_until

from nomadp.collector.connections import open_store


def kills(*, quick: bool) -> list[Row]:
    times, bundle = 3 if quick else 200, task_kit()
    with folder() as where, running(where) as process:
        load = Load(process.address, bundle)
        ready_s = killed_under_load(load, times, process.kill, process.start)
        result = tally(str(where / "collector.sqlite"), bundle, load.acknowledged)
    return [_killed("kill -9 of the collector", times, result, max(ready_s), 200)]


def _killed(what: str, times: int, result: Any, ready_s: float, goal: int) -> Row:
    summary = f"{times} kills, {result.acknowledged:,} acknowledged, {result.lost} lost, "
    probe = "100 kills, 16,357, 0, 0" if goal == 200 else "-"
    return Row(
        what,
        probe,
        f"{goal} kills, 0 lost, 0 doubled, ready in 5 s",
        f"{summary}{result.doubled} doubled, ready in {ready_s:.1f} s",
        (result.lost, result.doubled) == (0, 0) and ready_s <= 5,
        {"kills": times, **result._asdict(), "ready_s": ready_s},
    )


def postgres_kills(*, quick: bool) -> list[Row]:
    if program("initdb") is None:
        return [
            Row("PostgreSQL killed", "-", "50, 0 and 0", "no PostgreSQL here", is_met=False)
        ]
    times, bundle, server = 1 if quick else 50, task_kit(), Postgres()
    try:
        server.start()
        place = server.database()
        prepared(open_store(place), bundle)
        with folder() as where, Process(place, where) as process:
            load = Load(process.address, bundle)

            def start() -> None:
                server.start()
                if not wait_until(process.is_ready, 60):
                    raise RuntimeError("a collector must be ready a minute after its database")

            ready_s = killed_under_load(load, times, server.kill, start)
        result = tally(place, bundle, load.acknowledged)
    finally:
        server.end()
    row = _killed("kill -9 of PostgreSQL", times, result, max(ready_s), 50)
    measured, figures = f"{row.measured}, data {server.medium}", {"medium": server.medium}
    return [replace(row, measured=measured, figures=row.figures | figures)]


def device_kills(*, quick: bool) -> list[Row]:
    times, lifetime = (4, Fraction(1, 2)) if quick else (200, Fraction(20))
    with folder() as where:
        result = killed_at_random(where / "home", times, lifetime)
    is_all = result.reports + result.wasted == lifetime / EACH
    return [
        Row(
            "kill -9 of the device",
            "-",
            "200 kills, 0 overspent, one body for one charge",
            f"{times} kills, {result.reports:,} reports, {len(result.wrong)} overspent or with "
            f"two bodies, {result.wasted} charges wasted",
            not result.wrong and is_all,
            {"kills": times, **result._asdict()},
        )
    ]
