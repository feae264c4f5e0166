"""Does all the work that is not in the store yet, on one core or several.

Repetitions of a setting go to one process, as reported and decoded: it builds their mechanism
and draws their reports once. Every result is in the store before it is reported as done, so an
interruption at any moment loses at most what was being computed.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context, parent_process

from nomadp.paper.cells import Cell, Work
from nomadp.paper.datasets import Catalogue
from nomadp.paper.store import Store

__all__ = ["Progress", "complete_all", "missing"]

Progress = Callable[[int], None]
"""Told how many pieces of work were finished since it was last called."""


def missing(works: Iterable[Work], catalogue: Catalogue, store: Store) -> list[Work]:
    """What is not in the store, each once, in the order given."""
    return [each for each in dict.fromkeys(works) if store.find(each, catalogue) is None]


def complete_all(
    works: Sequence[Work], catalogue: Catalogue, store: Store, *, jobs: int, progress: Progress
) -> None:
    """Do this work and put it into the store; a failure stops the rest and is raised."""
    batches = _batches(works)
    workers = min(jobs, len(batches))
    for count in (
        _in_processes(batches, catalogue, store, workers)
        if workers > 1
        else (_complete(batch, catalogue, store) for batch in batches)
    ):
        progress(count)


def _batches(works: Iterable[Work]) -> list[list[Work]]:
    """What needs the same mechanism together, and of that what needs the same reports."""
    batches: dict[object, list[Work]] = {}
    for work in works:
        key = work.setting.reports if isinstance(work, Cell) else work
        batches.setdefault(key, []).append(work)
    return [sorted(batch, key=_repetition) for batch in batches.values()]


def _repetition(work: Work) -> int:
    return work.repetition if isinstance(work, Cell) else 0


def _complete(batch: Sequence[Work], catalogue: Catalogue, store: Store) -> int:
    for work in batch:
        store.complete(work, catalogue)
    return len(batch)


def _in_processes(
    batches: Sequence[Sequence[Work]], catalogue: Catalogue, store: Store, workers: int
) -> Iterator[int]:
    executor = ProcessPoolExecutor(
        workers,
        # Not fork: a copy of a process that has threads (Arrow's, BLAS's) may hang.
        mp_context=get_context("spawn"),
        initializer=_start_worker,
    )
    try:
        pending = [executor.submit(_complete, batch, catalogue, store) for batch in batches]
        for future in as_completed(pending):
            yield future.result()
    finally:
        executor.shutdown(cancel_futures=True)


def _start_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    # A killed parent cannot tell its workers to stop: they would wait for work for ever.
    threading.Thread(target=_leave_with_the_parent, daemon=True).start()


def _leave_with_the_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
