"""The whole system in one run: tasks, a collector, devices, and an analyst's queries.

The reports are real: laws and randomness are those of a phone, and only the trajectories
are invented. (Reports marked as simulated are something else: a device refuses to send them.)
The tasks say that the data are simulated, in their purpose, which every device reads and which
is part of the hash in the task's id.
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

__all__ = ["FULL", "QUICK", "CollectionPlan", "Collection", "Finding", "run_collection"]

Stage = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
"""Starts a stage with this many steps; yields a function that counts finished steps."""

Query = Mapping[str, Any]
PURPOSE_SUFFIX = ": a demonstration in a simulated city, no person's data"
"""Ends every purpose. A list of tasks shows only how the purposes begin."""
ORACLE_QUERIES: tuple[tuple[str, Query], ...] = (
    ("destinations", {"kind": "hotspots", "at": "ends"}),
    ("origin-destination flows", {"kind": "flows"}),
    ("origins", {"kind": "hotspots", "at": "starts"}),
)
"""The dashboard's first queries to the trips task, so that it opens with results."""
ATLAS_QUERIES: tuple[tuple[str, Query], ...] = (
    ("origin-destination flows", {"kind": "flows"}),
)
"""Queries to the ATLAS task in areas that the dashboard cannot name."""
DAYS = 30


@dataclass(frozen=True)
class CollectionPlan:
    """The size of the city and of the collection."""

    seed: int = 1
    places: int = 1000
    devices: int = 8000
    """Enough that some districts and flows are significant in nearly every repeat."""
    epsilon: str = "4"
    length: int = 3
    codewords: int = 256
    """Codewords in the codebook of the ATLAS task."""

    @property
    def reports(self) -> int:
        return 2 * self.devices


FULL = CollectionPlan()
QUICK = CollectionPlan(places=150, devices=300, codewords=64)


class Finding(NamedTuple):
    """The result of one query."""

    task: str
    """The kind of mechanism that collected the reports."""
    title: str
    summary: str


@dataclass(frozen=True)
class Collection:
    """A finished collection whose collector still runs."""

    running: Running
    reports: int
    findings: tuple[Finding, ...]
    has_pages: bool


@contextmanager
def run_collection(
    plan: CollectionPlan, jobs: int, stage: Stage, *, port: int = 0
) -> Iterator[Collection]:
    """Run a whole collection. The collector and its store exist until the context ends."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="nomadp-demo-")))
        with stage("creating two tasks in a simulated city", 3) as advance:
            city = synthetic_city(plan.seed, places=plan.places, trips=plan.devices)
            advance(1)
            districts = city_districts(city.locations, plan.seed)
            bundles = _bundles(plan, districts, advance)
            folders = [folder / bundle.task.mechanism for bundle in bundles]
            for bundle, target in zip(bundles, folders, strict=True):
                write_task_folder(target, bundle)
        with stage("starting a collector", 1) as advance:
            running = stack.enter_context(running_collector(folders, folder, port=port))
            advance(1)
        devices = len(city.trajectories)
        with stage(f"{devices:,} devices report", devices) as advance:
            ids = tuple(bundle.task.id for bundle in bundles)
            population = Population(running.address, ids, city.trajectories)
            reports = report_all(population, jobs, advance)
        running.check()
        with stage(
            "querying the collector", len(ORACLE_QUERIES) + len(ATLAS_QUERIES)
        ) as advance:
            analyst = Analyst(running.address, running.token)
            findings = (
                *_oracle_findings(analyst, bundles[0], advance),
                *_atlas_findings(analyst, bundles, advance),
            )
        yield Collection(running, reports, findings, analyst.has_pages())


def _oracle_findings(
    analyst: Analyst, bundle: TaskBundle, advance: Callable[[int], None]
) -> Iterator[Finding]:
    """Results that the collector computes."""
    jobs = analyst.start(bundle.task.id, [query for _, query in ORACLE_QUERIES])
    # Fetched at the same time, because the collector answers waiting jobs of one task together.
    threads = ThreadPoolExecutor(len(jobs))
    try:
        results = threads.map(analyst.result, jobs)
        for (title, _), result in zip(ORACLE_QUERIES, results, strict=True):
            yield Finding("frequency oracle", title, result["drawn"]["summary"])
            advance(1)
    finally:
        threads.shutdown(wait=False, cancel_futures=True)  # do not wait after Ctrl-C


def _atlas_findings(
    analyst: Analyst, bundles: Sequence[TaskBundle], advance: Callable[[int], None]
) -> Iterator[Finding]:
    """Results computed here from the collector's counts, as an analyst does for own areas."""
    trips, atlas = bundles
    counts = analyst.counts(atlas.task.id)
    model = fit(atlas.mechanism, counts)
    task_options = {"min_batch_size": atlas.task.min_batch_size, "task": atlas.task.id}
    for title, query in ATLAS_QUERIES:
        in_districts = {**query, "areas": trips.domain}
        table = run_query(atlas.mechanism, counts, in_districts, model=model, **task_options)
        sentence = summary(table, scene_of(table, atlas.locations))
        yield Finding("ATLAS, from whole trajectories", title, sentence)
        advance(1)


def _bundles(
    plan: CollectionPlan, districts: Zones, advance: Callable[[int], None]
) -> list[TaskBundle]:
    """Create both tasks; the dashboard opens on the first, a frequency oracle for trips."""
    ends = datetime.now(UTC).date() + timedelta(days=DAYS)
    # No random delay: nobody wants to wait for an hour in a demonstration.
    options: dict[str, Any] = {"epsilon": plan.epsilon, "end": ends, "send_within": 0}
    places = districts.locations
    purpose = f"Between which districts people travel{PURPOSE_SUFFIX}"
    trips = create_task(places, "trips", purpose=purpose, zones=districts, **options)
    advance(1)
    purpose = f"Where people go{PURPOSE_SUFFIX}"
    codebook = {"length": plan.length, "size": plan.codewords}
    atlas = create_task(places, "atlas", purpose=purpose, **options, **codebook)
    advance(1)
    return [trips, atlas]
