"""One commit: the reports of several requests, and the outcome of each report."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from nomadp.collector.loaded_task import LoadedTask
from nomadp.collector.messages import (
    ACCEPTED,
    ACCEPTED_AGAIN,
    INVALID_MESSAGE,
    REPLAYED,
    REPORT_DROPPED,
)
from nomadp.collector.store import Arrivals, Existing, StoredReport

__all__ = ["Group", "Pending", "group_by_task"]


@dataclass(slots=True, eq=False)
class Pending:
    """The reports of one request, which wait for a commit."""

    loaded: LoadedTask
    ids: list[bytes]
    epochs: list[int]
    values: list[bytes]
    done: "asyncio.Future[list[str]]"
    outcomes: list[str] = field(default_factory=list)
    """The outcome of each report, as it is counted."""
    error: Exception | None = None


class Group:
    """The requests of one task in one commit."""

    def __init__(self, loaded: LoadedTask, requests: list[Pending]) -> None:
        self._loaded, self._requests = loaded, requests
        values = [value for request in requests for value in request.values]
        numbers, self._good = loaded.code.numbers(values)
        names = [name for request in requests for name in request.ids]
        epochs = [epoch for request in requests for epoch in request.epochs]
        self._rows = list(zip(names, epochs, values, strict=True))
        # If several reports have the same id, the first in the queue counts.
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

    def settle(self, existing: Existing) -> Counter[tuple[int, str]]:
        """Give every request the outcomes of its reports; returns counts of outcomes."""
        task = self._loaded.number
        # Computed inside the transaction, so that a counter and its reports commit together.
        outcomes = [self._outcome(k, existing) for k in range(len(self._rows))]
        remaining = iter(outcomes)
        for request in self._requests:
            request.outcomes = [next(remaining) for _ in request.ids]
        return Counter({(task, outcome): n for outcome, n in Counter(outcomes).items()})

    def _outcome(self, k: int, existing: Existing) -> str:
        if not self._good[k]:
            return INVALID_MESSAGE
        # An id is accepted once. The same bytes again are a retry, whose reply got lost; other
        # bytes under the same id would be a second draw for one charge.
        name, epoch, value = self._rows[k]
        task = self._loaded.number
        stored = existing.known.get((task, name))
        if stored is None:
            if task in existing.closed:
                return REPORT_DROPPED
            first = self._first[name]
            if first == k:
                return ACCEPTED
            stored = StoredReport(*self._rows[first][1:])
        return ACCEPTED_AGAIN if stored == (epoch, value) else REPLAYED


def group_by_task(requests: Iterable[Pending]) -> list[Group]:
    by_task: dict[LoadedTask, list[Pending]] = {}
    for request in requests:
        by_task.setdefault(request.loaded, []).append(request)
    return [Group(loaded, pending) for loaded, pending in by_task.items()]
