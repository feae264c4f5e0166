"""Collector tests with a clock that jumps, and with a damaged store."""

import sys
import time
from contextlib import closing
from pathlib import Path

from collecting import Process, prepared
from collector_running import (
    Row,
    fill,
    folder,
    listed,
    loaded,
    normal_again_s,
    task_kit,
)
from crashes import Load
from damage import overwrite_pages
from processes import wait_until

from nomadp.collector.connections import open_store
from nomadp.collector.messages import report_id_bytes

DAYS = 400
# Runs the collector with a clock that is ahead as long as the file "ahead" exists.
MOVED = f"""
import os, time
true_time = time.time
time.time = lambda: true_time() + {DAYS} * 86400 * os.path.exists("ahead")
from nomadp.cli import main
main()
"""


class Alive(Process):
    """A process that counts as started as soon as it answers; it may never be ready."""

    def is_ready(self) -> bool:
        try:
            return self.address.ask("GET", "/healthz").status == 200
        except OSError:
            return False

    def takes(self) -> bool:
        return self.address.ask("GET", "/readyz").status == 200


def clock(*, quick: bool) -> list[Row]:
    """The clock is ahead while the collector runs, and when it starts again."""
    stored, seconds = (2_000, 1) if quick else (100_000, 10)
    with folder() as where:
        place, ahead = str(where / "collector.sqlite"), where / "ahead"
        prepared(open_store(place), task_kit())
        fill(place, stored)
        with Alive(place, where, program=(sys.executable, "-c", MOVED)) as process:
            before = loaded(process, batch=10, connections=4, seconds=seconds)
            ahead.touch()
            refused = loaded(process, batch=10, connections=4, seconds=seconds)
            process.end()
            process.start()
            time.sleep(seconds)  # the first sweep is at once
            is_unready = not process.takes()
            process.end()
            values, counts = _kept(place)
            ahead.unlink()
            process.start()
            recovery_s = normal_again_s(process)
            process.end()
    total = stored + before["acknowledged"]
    deleted, statuses = total - min(values, counts), refused["statuses"]
    return [
        Row(
            f"clock {DAYS} days ahead, running and restarted",
            "-",
            "0 deleted, only 503, normal in 10 s when right",
            f"{deleted} of {total:,} reports and counts deleted; {listed(statuses)}; normal in "
            f"{recovery_s:.1f} s",
            not deleted and is_unready and set(statuses) == {"503"} and recovery_s <= 10,
            {
                "reports": total,
                "deleted": deleted,
                "statuses": statuses,
                "normal_s": recovery_s,
            },
        )
    ]


def _kept(place: str) -> tuple[int, int]:
    """The number of reports with stored values, and the number of counted reports."""
    with closing(open_store(place).connect()) as connection:
        sql = "SELECT COUNT(*) FROM report WHERE value IS NOT NULL"
        ((values,),) = connection.rows(sql)
        ((counts,),) = connection.rows("SELECT SUM(n) FROM cell")
    return int(values), int(counts) // task_kit().code.entries


def corruption(*, quick: bool) -> list[Row]:
    """Overwrite three pages of a store at rest, then start the collector under load."""
    stored, bundle = 20_000 if quick else 1_000_000, task_kit()
    with folder() as where:
        path = where / "collector.sqlite"
        prepared(open_store(str(path)), bundle)
        fill(str(path), stored)
        overwrite_pages(path, _spread(str(path)))
        with Alive(str(path), where) as process:
            began_s = time.monotonic()
            load = Load(process.address, bundle)
            with load:
                is_seen = wait_until(lambda: not process.takes(), 60)
                unready_s = time.monotonic() - began_s
                time.sleep(0.2)  # wait for the answers of requests in progress
                before = len(load.acknowledged)
                time.sleep(1 if quick else 10)
            process.end()
        after = len(load.acknowledged) - before
        lost = len(load.acknowledged) - _stored(path, list(load.acknowledged))
    is_met = is_seen and unready_s <= 5 and not after + lost and load.statuses <= {200, 503}
    return [
        Row(
            f"3 overwritten pages of {stored:,} reports",
            "-",
            "unready in 5 s, then only 503, 0 lost",
            f"unready in {unready_s:.1f} s; {before:,} acknowledged before it, {after} after "
            f"it, {lost} of them lost",
            is_met,
            {"unready_s": unready_s, "before": before, "after": after, "lost": lost},
        )
    ]


def _spread(place: str) -> list[bytes]:
    """Ids far from each other, so that each is in a different page."""
    with closing(open_store(place).connect()) as connection:
        ids = [bytes(name) for (name,) in connection.rows("SELECT id FROM report ORDER BY id")]
    return [ids[len(ids) * k // 4] for k in (1, 2, 3)]


def _stored(path: Path, names: list[str]) -> int:
    ids = [report_id_bytes(name) for name in names]
    with closing(open_store(str(path)).connect()) as connection:
        pieces = [ids[k : k + 1000] for k in range(0, len(ids), 1000)]
        return sum(len(connection.known(1, piece)) for piece in pieces)
