"""Thousands of devices of a simulated city, each of which reports once to every task.

The journeys are invented; all else is as on a phone. A device fetches the task by its address
and checks its hash, perturbs by the audited program with the system's randomness, and sends one
report over a connection of its own, the same bytes again while the collector is busy. Only a
ledger is missing: nobody is here whose budget it would keep.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache, partial

from nomadp.client.body import upload_body
from nomadp.client.bundles import fetched
from nomadp.client.ledger_file import fresh_id
from nomadp.client.private_trajectory import PrivateTrajectory
from nomadp.client.sending import Outcome, pause_s, tried_once
from nomadp.engine.workers import run_all
from nomadp.errors import UploadFailed
from nomadp.protocol import TaskBundle
from nomadp.protocol.address import Address
from nomadp.trajectory import TrajectorySet

__all__ = ["Population", "report_all"]

AT_ONCE = 100
"""Devices that report before progress is told."""
CONNECTIONS = 16
"""Devices of a process that are under way together: each waits until its report is on disk."""
PATIENCE_S = 20.0


@dataclass(frozen=True, repr=False)
class Population:
    """Everybody who takes part: a journey each, and the tasks of one collector."""

    address: str
    task_ids: tuple[str, ...]
    journeys: TrajectorySet

    def __repr__(self) -> str:
        return f"Population({len(self.journeys)} devices)"


def report_all(crowd: Population, jobs: int, progress: Callable[[int], None]) -> int:
    """How many reports the collector acknowledged: one of every device to every task."""
    parts = [
        range(first, min(first + AT_ONCE, len(crowd.journeys)))
        for first in range(0, len(crowd.journeys), AT_ONCE)
    ]
    acknowledged = 0
    with closing(run_all(crowd, [partial(_report_some, part) for part in parts], jobs)) as done:
        for position, count in done:
            acknowledged += count
            progress(len(parts[position]))
    return acknowledged


def _report_some(part: range, crowd: Population) -> int:
    with ThreadPoolExecutor(CONNECTIONS) as threads:
        for outcome in threads.map(partial(_report, crowd), part):
            if outcome.state != "accepted":
                raise UploadFailed(
                    "the collector of the demonstration must take every report, and one is "
                    f"{outcome.state}: {outcome.reason}",
                    code="report_not_taken",
                    state=outcome.state,
                )
    return len(part) * len(crowd.task_ids)


def _report(crowd: Population, k: int) -> Outcome:
    """One device, one report to each task; the first that is not taken ends it."""
    outcome = Outcome("accepted")
    for task_id in crowd.task_ids:
        if outcome.state == "accepted":
            outcome = _reported(_joined(crowd.address, task_id), crowd, k)
    return outcome


@lru_cache(maxsize=8)
def _joined(address: str, task_id: str) -> TaskBundle:
    """Fetched by each process once: a device does so once, too."""
    return fetched(Address.parse(address), task_id)


def _reported(bundle: TaskBundle, crowd: Population, k: int) -> Outcome:
    address = Address.parse(crowd.address)
    private = PrivateTrajectory.of(crowd.journeys[k], bundle, None)
    name = fresh_id()
    body = upload_body(bundle, private, name, bundle.task.epoch(time.time()))
    deadline_s, attempts = time.monotonic() + PATIENCE_S, 0
    while True:
        outcome = tried_once(address, bundle.task.id, name, body)
        if outcome.state != "waiting" or time.monotonic() > deadline_s:
            return outcome
        time.sleep(pause_s(attempts, outcome.retry_after_s))
        attempts += 1
