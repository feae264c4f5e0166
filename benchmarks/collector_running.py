"""A collector that runs, on a store that may be full, and senders beside it."""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from collecting import SALT, Process, prepared, today

import nomadp
from nomadp.collector.connections import open_store
from nomadp.collector.store import Arrivals
from nomadp.mechanisms.atlas import build_pinned
from nomadp.protocol.bundle import TaskBundle
from nomadp.protocol.task import Task

HERE = Path(__file__).resolve().parent
PLACES, TRIPS = 1000, 20_000
MILLION = 1_000_000
STORES = "NOMADP_BENCH_STORES"
"""A folder in which filled stores are kept for the next run; by default they are not."""


@dataclass(frozen=True)
class Row:
    what: str
    probe: str
    goal: str
    said: str
    is_met: bool
    figures: dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        return "met" if self.is_met else "MISSED"


@cache
def task_kit() -> TaskBundle:
    places = nomadp.synthetic_city(seed=1, places=PLACES, trips=1).locations
    book = build_pinned(places, [4], Fraction(4))
    task = Task(
        purpose="To see how much a collector takes.",
        mechanism="atlas",
        version=3,
        epsilon=Fraction(4),
        length=4,
        locations_sha256=places.sha256,
        domain_sha256=book.sha256,
        start=today() - 1,
        end=today() + 30,
        retention=60,
        salt=SALT,
    )
    return TaskBundle(task, places, book)


@cache
def released() -> Any:
    """The numbers that people's journeys led to, drawn from a seed."""
    city = nomadp.synthetic_city(seed=1, places=PLACES, trips=TRIPS)
    journeys = city.trajectories.resampled(4)
    randomness = nomadp.SeededRandom(1)
    return nomadp.perturb_set(task_kit().mechanism, journeys, randomness).numbers


@contextmanager
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="nomadp-bench-"))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def running(where: Path, rows: int = 0) -> Iterator[Process]:
    """A collector, on a store that has so many reports already."""
    place = where / "collector.sqlite"
    if rows:
        shutil.copy(filled(rows), place)
        with place.open("rb+") as copy:
            os.fsync(copy.fileno())  # else the first commits would wait for all of it
    else:
        prepared(open_store(str(place)), task_kit())
    with Process(str(place), where) as process:
        yield process
        process.end()


def filled(rows: int) -> Path:
    """A store with so many reports, made once: that takes minutes."""
    kept = Path(os.environ.get(STORES) or _until_the_end())
    kept.mkdir(parents=True, exist_ok=True)
    made = kept / f"{task_kit().task.id}-{rows}.sqlite"
    if not made.exists():
        part = made.with_suffix(".part")
        part.unlink(missing_ok=True)
        prepared(open_store(str(part)), task_kit())
        fill(str(part), rows)
        part.replace(made)
    return made


@cache
def _until_the_end() -> str:
    made = tempfile.mkdtemp(prefix="nomadp-bench-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def fill(place: str, rows: int, at_once: int = 250_000) -> None:
    connection, rng = open_store(place).connect(writes=True), np.random.default_rng(1)
    for first in range(0, rows, at_once):
        count = min(at_once, rows - first)
        raw = rng.bytes(16 * count)
        ids = sorted(raw[k : k + 16] for k in range(0, len(raw), 16))
        numbers = rng.choice(released(), (len(ids), 1))
        values = [task_kit().code.raw((int(each),)) for each in numbers[:, 0]]
        epochs = [today()] * len(ids)
        connection.write([Arrivals(1, ids, epochs, values, numbers)], lambda _: {})
    connection.close()


def loaded(process: Process, **how: Any) -> dict[str, Any]:
    """What a process of senders measured."""
    done = started(process, **how).communicate()[0]
    found: dict[str, Any] = json.loads(done)
    return found


def started(process: Process, **how: Any) -> "subprocess.Popen[bytes]":
    code, values = task_kit().code, released()[:512]
    options = {
        "port": process.address.port,
        "task": task_kit().task.id,
        "epoch": today(),
        "values": [code.text((int(each),)) for each in values],
        **how,
    }
    with tempfile.TemporaryFile() as said:
        said.write(json.dumps(options).encode())
        said.seek(0)
        return subprocess.Popen(
            [sys.executable, str(HERE / "collector_load.py")],
            stdin=said,
            stdout=subprocess.PIPE,
        )


def normal_again_s(process: Process) -> float:
    """How long until a single report is taken in a tenth of a second."""
    began_s = time.monotonic()
    while True:
        found = loaded(process, batch=1, connections=4, seconds=0.5)
        if set(found["statuses"]) == {"200"} and found["p99_ms"] < 100:
            return time.monotonic() - began_s
        if time.monotonic() - began_s > 60:
            return float("inf")


def listed(statuses: dict[str, int]) -> str:
    return ", ".join(f"{n:,} x {status}" for status, n in sorted(statuses.items()))
