"""One commit: the reports of several requests, and what becomes of each of them."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from nomadp.collector.loaded_task import LoadedTask
from nomadp.collector.messages import AGAIN, INVALID_MESSAGE, REPLAYED, REPORT_DROPPED, TAKEN
from nomadp.collector.store import Arrivals, StoredReport, Written

__all__ = ["Group", "Pending", "group_by_task"]


@dataclass(slots=True, eq=False)
class Pending:
    """Reports of one request, on their way to disk."""

    loaded: LoadedTask
    ids: list[bytes]
    epochs: list[int]
    values: list[bytes]
    done: "asyncio.Future[list[str]]"
    outcomes: list[str] = field(default_factory=list)
    """What became of each, by the name it is counted under."""
    error: Exception | None = None


class Group:
    """The requests of one task in one commit."""

    def __init__(self, loaded: LoadedTask, requests: list[Pending]) -> None:
        self._loaded, self._requests = loaded, requests
        values = [value for each in requests for value in each.values]
        numbers, self._good = loaded.code.numbers(values)
        names = [name for each in requests for name in each.ids]
        epochs = [epoch for each in requests for epoch in each.epochs]
        self._rows = list(zip(names, epochs, values, strict=True))
        # Of several under one id the first in the queue is the report.
        self._first: dict[bytes, int] = {}
        for k in np.flatnonzero(self._good).tolist():
            self._first.setdefault(names[k], k)
        order = [self._first[name] for name in sorted(self._first)]
        self.arrivals = Arrivals(
            loaded.number,
            [names[k] for k in order],
            [epochs[k] for k in order],
            [values[k] for k in order],
            numbers[order],
        )

    def settle(self, written: Written) -> Counter[tuple[int, str]]:
        """Tell every request what became of its reports; how many became what."""
        task = self._loaded.number
        outcomes = [self._outcome(k, written) for k in range(len(self._rows))]
        left = iter(outcomes)
        for each in self._requests:
            each.outcomes = [next(left) for _ in each.ids]
        return Counter({(task, outcome): n for outcome, n in Counter(outcomes).items()})

    def _outcome(self, k: int, written: Written) -> str:
        if not self._good[k]:
            return INVALID_MESSAGE
        name, epoch, value = self._rows[k]
        task = self._loaded.number
        kept = written.known.get((task, name))
        if kept is None:
            if task in written.closed:
                return REPORT_DROPPED
            first = self._first[name]
            if first == k:
                return TAKEN
            kept = StoredReport(*self._rows[first][1:])
        return AGAIN if kept == (epoch, value) else REPLAYED


def group_by_task(requests: Iterable[Pending]) -> list[Group]:
    by_task: dict[LoadedTask, list[Pending]] = {}
    for each in requests:
        by_task.setdefault(each.loaded, []).append(each)
    return [Group(loaded, those) for loaded, those in by_task.items()]
