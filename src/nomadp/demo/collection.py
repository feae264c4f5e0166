"""The whole system at work: tasks, a collector, devices, and an analyst's questions.

Reports that are marked as simulated never get this far: no device writes one down to be sent,
and the wire has no place for the mark. Those sent here are reports: the laws and the randomness
are real, only the journeys are invented. What says so is the task, in its purpose, which every
device reads and which its id is the hash of.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from nomadp.answers import run_query
from nomadp.answers.scene import scene_of
from nomadp.answers.summary import summary
from nomadp.datasets.city import synthetic_city
from nomadp.datasets.city_districts import city_districts
from nomadp.demo.analyst import Analyst
from nomadp.demo.collector import Running, running_collector
from nomadp.demo.devices import Population, report_all
from nomadp.inference.model import fit
from nomadp.protocol import TaskBundle
from nomadp.protocol.create import create_task
from nomadp.protocol.folder import write_task_folder
from nomadp.zones import Zones

__all__ = ["FULL", "QUICK", "CollectionPlan", "Finding", "Held", "held_collection"]

Stage = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
"""Begins a stage of so many pieces; what it yields is told how many more were finished."""

FrequencyOracle = Mapping[str, Any]
MARK = ": a demonstration in a simulated city, no person's data"
"""Ends every purpose: what a list of tasks has room for is how they begin."""
DIRECTLY: tuple[tuple[str, FrequencyOracle], ...] = (
    ("where trips end", {"kind": "hotspots", "at": "ends"}),
    ("from where to where", {"kind": "flows"}),
    ("where trips begin", {"kind": "hotspots", "at": "starts"}),
)
"""What the dashboard asks of trips, so that it opens on answers."""
BY_JOURNEYS: tuple[tuple[str, FrequencyOracle], ...] = (
    ("from where to where", {"kind": "flows"}),
)
"""What ATLAS can tell of so few reports, in areas that the dashboard has no rule for."""
DAYS = 30


@dataclass(frozen=True)
class CollectionPlan:
    """Who takes part in what."""

    seed: int = 1
    places: int = 1000
    devices: int = 8000
    """So many that districts and flows between them are told apart, in nearly every repeat."""
    epsilon: str = "4"
    length: int = 3
    journeys: int = 256
    """In the book of the ATLAS task."""

    @property
    def reports(self) -> int:
        return 2 * self.devices


FULL = CollectionPlan()
QUICK = CollectionPlan(places=150, devices=300, journeys=64)


class Finding(NamedTuple):
    """What one question found."""

    task: str
    """By what it was asked."""
    title: str
    summary: str


@dataclass(frozen=True)
class Held:
    """A collection that was held, at a collector that still runs."""

    running: Running
    reports: int
    findings: tuple[Finding, ...]
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
            districts = city_districts(city.locations, plan.seed)
            bundles = _bundle(plan, districts, advance)
            folders = [folder / bundle.task.mechanism for bundle in bundles]
            for bundle, where in zip(bundles, folders, strict=True):
                write_task_folder(where, bundle)
        with stage("starting a collector", 1) as advance:
            running = stack.enter_context(running_collector(folders, folder, port=port))
            advance(1)
        devices = len(city.trajectories)
        with stage(f"{devices:,} devices report", devices) as advance:
            ids = tuple(bundle.task.id for bundle in bundles)
            crowd = Population(running.address, ids, city.trajectories)
            reports = report_all(crowd, jobs, advance)
        running.check()
        with stage("asking the collector", len(DIRECTLY) + len(BY_JOURNEYS)) as advance:
            analyst = Analyst(running.address, running.token)
            findings = *_asked(analyst, bundles[0], advance), *_told(analyst, bundles, advance)
        yield Held(running, reports, findings, analyst.has_pages())


def _asked(
    analyst: Analyst, bundle: TaskBundle, advance: Callable[[int], None]
) -> Iterator[Finding]:
    """Worked out by the collector."""
    asked = analyst.ask(bundle.task.id, [question for _, question in DIRECTLY])
    # Together: what waits for the same counts is worked out at once.
    threads = ThreadPoolExecutor(len(asked))
    try:
        answers = threads.map(analyst.answer, asked)
        for (title, _), answer in zip(DIRECTLY, answers, strict=True):
            yield Finding("asked directly", title, answer["drawn"]["summary"])
            advance(1)
    finally:
        threads.shutdown(wait=False, cancel_futures=True)  # told to stop, nobody waits


def _told(
    analyst: Analyst, bundles: Sequence[TaskBundle], advance: Callable[[int], None]
) -> Iterator[Finding]:
    """Worked out here of the collector's counts, as whoever has areas of their own does."""
    trips, atlas = bundles
    counts = analyst.counts(atlas.task.id)
    learned = fit(atlas.mechanism, counts)
    terms = {"min_batch_size": atlas.task.min_batch_size, "task": atlas.task.id}
    for title, question in BY_JOURNEYS:
        asked = {**question, "areas": trips.book}
        found = run_query(atlas.mechanism, counts, asked, model=learned, **terms)
        said = summary(found, scene_of(found, atlas.locations))
        yield Finding("from whole journeys, by ATLAS", title, said)
        advance(1)


def _bundle(
    plan: CollectionPlan, districts: Zones, advance: Callable[[int], None]
) -> list[TaskBundle]:
    """Trips asked directly, on which the dashboard opens; and where people go, by journeys."""
    ends = datetime.now(UTC).date() + timedelta(days=DAYS)
    # No delay: people who wait for a demonstration do not want to wait for an hour.
    said: dict[str, Any] = {"epsilon": plan.epsilon, "end": ends, "send_within": 0}
    places = districts.locations
    purpose = f"Between which districts people travel{MARK}"
    trips = create_task(places, "trips", purpose=purpose, zones=districts, **said)
    advance(1)
    purpose = f"Where people go{MARK}"
    book = {"length": plan.length, "size": plan.journeys}
    atlas = create_task(places, "atlas", purpose=purpose, **said, **book)
    advance(1)
    return [trips, atlas]
