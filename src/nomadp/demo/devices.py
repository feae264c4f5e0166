"""Thousands of simulated devices, each of which reports once to every task.

The trajectories are invented, and everything else is as on a phone. A device fetches the task
and checks its hash, perturbs with the audited program and the system's randomness, and sends a
report over its own connection. While the collector is busy, it sends the same bytes again. Only
the ledger is missing, because there is no person whose privacy budget it would track.
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

DEVICES_PER_UPDATE = 100
"""Devices that report between two updates of the progress."""
CONNECTIONS = 16
"""Devices per process that report at the same time; each waits until its report is on disk."""
PATIENCE_S = 20.0


@dataclass(frozen=True, repr=False)
class Population:
    """All participants, each with a trajectory, and the tasks of one collector."""

    address: str
    task_ids: tuple[str, ...]
    trajectories: TrajectorySet

    def __repr__(self) -> str:
        return f"Population({len(self.trajectories)} devices)"


def report_all(population: Population, jobs: int, progress: Callable[[int], None]) -> int:
    """Send a report from every device to every task; returns how many were accepted."""
    parts = [
        range(first, min(first + DEVICES_PER_UPDATE, len(population.trajectories)))
        for first in range(0, len(population.trajectories), DEVICES_PER_UPDATE)
    ]
    n_accepted = 0
    with closing(
        run_all(population, [partial(_report_some, part) for part in parts], jobs)
    ) as results:
        for position, count in results:
            n_accepted += count
            progress(len(parts[position]))
    return n_accepted


def _report_some(part: range, population: Population) -> int:
    with ThreadPoolExecutor(CONNECTIONS) as threads:
        for outcome in threads.map(partial(_report, population), part):
            if outcome.state != "accepted":
                raise UploadFailed(
                    "the collector of the demonstration must accept every report, but one is "
                    f"{outcome.state}: {outcome.reason}",
                    code="report_not_taken",
                    state=outcome.state,
                )
    return len(part) * len(population.task_ids)


def _report(population: Population, k: int) -> Outcome:
    """Send one device's report to each task, until one is not accepted."""
    outcome = Outcome("accepted")
    for task_id in population.task_ids:
        if outcome.state == "accepted":
            outcome = _send(_fetched_task(population.address, task_id), population, k)
    return outcome


@lru_cache(maxsize=8)
def _fetched_task(address: str, task_id: str) -> TaskBundle:
    """Fetch a task once per process, as a device fetches it once."""
    return fetched(Address.parse(address), task_id)


def _send(bundle: TaskBundle, population: Population, k: int) -> Outcome:
    address = Address.parse(population.address)
    private = PrivateTrajectory.of(population.trajectories[k], bundle, None)
    name = fresh_id()
    body = upload_body(bundle, private, name, bundle.task.epoch(time.time()))
    deadline_s, attempts = time.monotonic() + PATIENCE_S, 0
    while True:
        outcome = tried_once(address, bundle.task.id, name, body)
        if outcome.state != "waiting" or time.monotonic() > deadline_s:
            return outcome
        time.sleep(pause_s(attempts, outcome.retry_after_s))
        attempts += 1
