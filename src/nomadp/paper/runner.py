"""Does all the work that is not in the store yet, on one core or several.

Repetitions of a setting go to one process, as reported and decoded: it builds their mechanism
and draws their reports once. Every result is in the store before it is reported as done, so an
interruption at any moment loses at most what was being computed.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from functools import partial

from nomadp.engine.workers import run_all
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
    calls = [partial(_complete, batch) for batch in batches]
    with closing(run_all((catalogue, store), calls, jobs)) as finished:
        for _, count in finished:
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


def _complete(batch: Sequence[Work], shared: tuple[Catalogue, Store]) -> int:
    catalogue, store = shared
    for work in batch:
        store.complete(work, catalogue)
    return len(batch)
