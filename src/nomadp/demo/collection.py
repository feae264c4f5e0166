"""The whole system at work: tasks, a collector, devices, and an analyst's questions.

Reports that are marked as simulated never get this far: no device writes one down to be sent,
and the wire has no place for the mark. Those sent here are reports: the laws and the randomness
are real, only the journeys are invented. What says so is the task, in its purpose, which every
device reads and which its id is the hash of.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nomadp.datasets.city import City, synthetic_city
from nomadp.demo.analyst import Analyst
from nomadp.demo.collector import Running, running_collector
from nomadp.demo.devices import Crowd, report_all
from nomadp.locations import LocationSet
from nomadp.protocol import Kit
from nomadp.protocol.create import create_task
from nomadp.protocol.folder import write_task_folder

__all__ = ["FULL", "QUICK", "CollectionPlan", "Held", "held_collection"]

Stage = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
"""Begins a stage of so many pieces; what it yields is told how many more were finished."""

Question = Mapping[str, Any]
PURPOSE = "Demonstration in a simulated city, no person's data: "
ATLAS: tuple[Question, ...] = (
    {"ask": "density", "areas": "grid:8"},
    {"ask": "flows"},
    {"ask": "hotspots"},
    {"ask": "journeys"},
)
TRIPS: tuple[Question, ...] = ({"ask": "hotspots"}, {"ask": "flows"})
"""What the dashboard asks first, so that it opens on answers."""
DAYS = 30


@dataclass(frozen=True)
class CollectionPlan:
    """Who takes part in what."""

    seed: int = 1
    places: int = 1000
    devices: int = 5000
    epsilon: str = "4"
    length: int = 3
    journeys: int = 256
    """In the book of the ATLAS task."""
    zones: str = "grid:4"

    @property
    def reports(self) -> int:
        return 2 * self.devices


FULL = CollectionPlan()
QUICK = CollectionPlan(places=150, devices=300, journeys=64)


@dataclass(frozen=True)
class Held:
    """A collection that was held, at a collector that still runs."""

    running: Running
    reports: int
    findings: tuple[tuple[str, str], ...]
    """Each answer's title, and its first sentence."""
    has_pages: bool


@contextmanager
def held_collection(
    plan: CollectionPlan, jobs: int, stage: Stage, *, port: int = 0
) -> Iterator[Held]:
    """Hold it from beginning to end; the collector runs, and its store is there, inside."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="nomadp-demo-")))
        with stage("making two tasks in a simulated city", 3) as advance:
            city = synthetic_city(plan.seed, places=plan.places, trips=plan.devices)
            advance(1)
            kits = _kits(plan, city.locations, advance)
            folders = [folder / kit.task.mechanism for kit in kits]
            for kit, where in zip(kits, folders, strict=True):
                write_task_folder(where, kit)
        with stage("starting a collector", 1) as advance:
            running = stack.enter_context(running_collector(folders, folder, port=port))
            advance(1)
        yield _collected(kits, city, running, jobs, stage)


def _collected(kits: list[Kit], city: City, running: Running, jobs: int, stage: Stage) -> Held:
    ids = tuple(kit.task.id for kit in kits)
    with stage(f"{len(city.trajectories):,} devices report", len(city.trajectories)) as advance:
        reports = report_all(Crowd(running.address, ids, city.trajectories), jobs, advance)
    running.check()
    analyst = Analyst(running.address, running.token)
    asked = [
        each
        for kit in kits
        for each in analyst.ask(kit.task.id, TRIPS if kit.task.asks else ATLAS)
    ]
    findings = []
    # Together: what waits for the same counts is worked out at once.
    threads = ThreadPoolExecutor(len(asked))
    try:
        with stage("asking the collector", len(asked)) as advance:
            for answer in threads.map(analyst.answer, asked):
                drawn = answer["drawn"]
                findings.append((drawn["title"], drawn["summary"]))
                advance(1)
    finally:
        threads.shutdown(wait=False, cancel_futures=True)  # told to stop, nobody waits
    return Held(running, reports, tuple(findings), analyst.has_pages())


def _kits(
    plan: CollectionPlan, locations: LocationSet, advance: Callable[[int], None]
) -> list[Kit]:
    """Trips asked directly, on which the dashboard opens; and where people go, by journeys."""
    ends = datetime.now(UTC).date() + timedelta(days=DAYS)
    # No delay: people who wait for a demonstration do not want to wait for an hour.
    said: dict[str, Any] = {"epsilon": plan.epsilon, "end": ends, "send_within": 0}
    purpose = f"{PURPOSE}between which areas people travel"
    trips = create_task(locations, "trips", purpose=purpose, zones=plan.zones, **said)
    advance(1)
    purpose = f"{PURPOSE}where people go"
    book = {"length": plan.length, "size": plan.journeys}
    atlas = create_task(locations, "atlas", purpose=purpose, **said, **book)
    advance(1)
    return [trips, atlas]
