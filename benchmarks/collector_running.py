"""Run a collector on an empty or filled store, with senders in other processes."""

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
"""The variable that names a folder for filled stores, so that later runs can use them."""


@dataclass(frozen=True)
class Row:
    what: str
    probe: str
    goal: str
    measured: str
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
    """Codeword indices of simulated reports, drawn from a seed."""
    city = nomadp.synthetic_city(seed=1, places=PLACES, trips=TRIPS)
    journeys = city.trajectories.resampled(4)
    randomness = nomadp.SeededRandom(1)
    return nomadp.perturb_set(task_kit().mechanism, journeys, randomness).numbers


@contextmanager
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="nomadp-bench-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def running(where: Path, rows: int = 0) -> Iterator[Process]:
    """Run a collector on a store with this many reports."""
    place = where / "collector.sqlite"
    if rows:
        shutil.copy(filled(rows), place)
        with place.open("rb+") as copy:
            os.fsync(copy.fileno())  # otherwise the first commits would wait for the flush
    else:
        prepared(open_store(str(place)), task_kit())
    with Process(str(place), where) as process:
        yield process
        process.end()


def filled(rows: int) -> Path:
    """A store with this many reports. It is filled once, which takes minutes."""
    stores = Path(os.environ.get(STORES) or _temporary_folder())
    stores.mkdir(parents=True, exist_ok=True)
    path = stores / f"{task_kit().task.id}-{rows}.sqlite"
    if not path.exists():
        part = path.with_suffix(".part")
        part.unlink(missing_ok=True)
        prepared(open_store(str(part)), task_kit())
        fill(str(part), rows)
        part.replace(path)
    return path


@cache
def _temporary_folder() -> str:
    path = tempfile.mkdtemp(prefix="nomadp-bench-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def fill(place: str, rows: int, at_once: int = 250_000) -> None:
    connection, rng = open_store(place).connect(writes=True), np.random.default_rng(1)
    for first in range(0, rows, at_once):
        count = min(at_once, rows - first)
        raw = rng.bytes(16 * count)
        ids = sorted(raw[k : k + 16] for k in range(0, len(raw), 16))
        numbers = rng.choice(released(), (len(ids), 1))
        values = [task_kit().code.raw((int(index),)) for index in numbers[:, 0]]
        epochs = [today()] * len(ids)
        connection.write([Arrivals(1, ids, epochs, values, numbers)], lambda _: {})
    connection.close()


def loaded(process: Process, **options: Any) -> dict[str, Any]:
    """Run a load generator and return its results."""
    output = started(process, **options).communicate()[0]
    results: dict[str, Any] = json.loads(output)
    return results


def started(process: Process, **how: Any) -> "subprocess.Popen[bytes]":
    code, values = task_kit().code, released()[:512]
    options = {
        "port": process.address.port,
        "task": task_kit().task.id,
        "epoch": today(),
        "values": [code.text((int(index),)) for index in values],
        **how,
    }
    with tempfile.TemporaryFile() as stdin:
        stdin.write(json.dumps(options).encode())
        stdin.seek(0)
        return subprocess.Popen(
            [sys.executable, str(HERE / "collector_load.py")],
            stdin=stdin,
            stdout=subprocess.PIPE,
        )


def normal_again_s(process: Process) -> float:
    """The time until a collector accepts single reports within 0.1 s again."""
    began_s = time.monotonic()
    while True:
        results = loaded(process, batch=1, connections=4, seconds=0.5)
        if set(results["statuses"]) == {"200"} and results["p99_ms"] < 100:
            return time.monotonic() - began_s
        if time.monotonic() - began_s > 60:
            return float("inf")


def listed(statuses: dict[str, int]) -> str:
    return ", ".join(f"{n:,} x {status}" for status, n in sorted(statuses.items()))
