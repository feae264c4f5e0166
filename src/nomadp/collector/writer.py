"""The only thread that writes. Requests that arrive during a commit form the next one.

This is group commit. A sender gets its answer after the commit with its reports is on disk, and
never before. The queue is bounded: requests that do not fit are refused at once.
"""

import asyncio
import queue
import threading
import time
from collections import Counter
from contextlib import suppress

from nomadp.collector.commits import Group, Pending, group_by_task
from nomadp.collector.condition import Condition
from nomadp.collector.loaded_task import LoadedTask
from nomadp.collector.logs import log, log_failure
from nomadp.collector.store import (
    Connection,
    Existing,
    Store,
    StoreCorrupt,
    StoreRefused,
    StoreUnavailable,
)

__all__ = ["Overloaded", "Writer"]

QUEUE_REPORTS = 20_000
COMMIT_REPORTS = 5_000
FLUSH_S = 0.2
"""How long counters of refusals may wait for a commit with reports."""
RECONNECT_S = 0.5


class Overloaded(Exception):
    """The queue is full."""


class Writer:
    """The writer of one store, for one event loop."""

    def __init__(
        self, store: Store, loop: asyncio.AbstractEventLoop, condition: Condition
    ) -> None:
        self._store, self._loop, self._condition = store, loop, condition
        self._queue: queue.SimpleQueue[Pending | None] = queue.SimpleQueue()
        self._refusals: Counter[tuple[int, str]] = Counter()
        self._lock = threading.Lock()  # for _refusals, which both threads change
        self._is_stopping = False
        self._connection: Connection | None = None
        self._thread = threading.Thread(target=self._work, name="writer", daemon=True)
        self.waiting = 0
        """The number of queued reports; only the event loop's thread changes it."""
        self.commits = 0

    def start(self) -> None:
        self._connection = self._store.connect(writes=True)
        self._thread.start()

    @property
    def is_well(self) -> bool:
        return self._thread.is_alive() and self._connection is not None

    def submit(
        self, loaded: LoadedTask, ids: list[bytes], epochs: list[int], values: list[bytes]
    ) -> "asyncio.Future[list[str]]":
        """The outcome of each report, once it is on disk. Raises `Overloaded`."""
        if self._is_stopping or self.waiting + len(ids) > QUEUE_REPORTS:
            raise Overloaded
        self.waiting += len(ids)
        pending = Pending(loaded, ids, epochs, values, self._loop.create_future())
        self._queue.put(pending)
        return pending.done

    def count(self, task: int, reason: str, n: int = 1) -> None:
        """Count refused reports; a later commit stores the counter.

        Counters may be lost in a crash, reports may not: nobody waits for this commit.
        """
        with self._lock:
            is_first = not self._refusals
            self._refusals[task, reason] += n
        if is_first:  # wakes the writer, once for all refusals before its next commit
            self._queue.put(None)

    def stop(self) -> None:
        """Write and answer all queued requests, and wait until that is done."""
        self._is_stopping = True
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        is_over = False
        while not is_over:
            batch, is_over = self._next_batch()
            self._commit(batch)
        if self._connection is not None:
            self._connection.close()

    def _next_batch(self) -> tuple[list[Pending], bool]:
        """Wait for requests; returns them, and whether they are the last."""
        batch: list[Pending] = []
        size, item = 0, self._queue.get()
        deadline_s = time.monotonic() + FLUSH_S
        with suppress(queue.Empty):
            while True:
                if item is not None:
                    batch.append(item)
                    size += len(item.ids)
                if size >= COMMIT_REPORTS:
                    return batch, False
                if batch or self._is_stopping:
                    item = self._queue.get_nowait()
                else:  # counters alone wait for reports
                    item = self._queue.get(timeout=max(0.0, deadline_s - time.monotonic()))
        return batch, self._is_stopping

    def _commit(self, batch: list[Pending]) -> None:
        # Taken before the write: refusals that are counted during it belong to the next commit.
        with self._lock:
            refusals, self._refusals = self._refusals, Counter()
        if not batch and not refusals:
            return
        try:
            if self._condition.is_corrupt:
                raise StoreCorrupt("damage was found earlier", code="store_corrupt")
            self._write(group_by_task(batch), refusals)
        except StoreCorrupt as error:  # the refusal counters are lost too
            self._condition.record(error)
            for pending in batch:
                pending.error = error
        except Exception as error:
            self._failed(batch, refusals, error)
        self.commits += 1
        # Only now, after the transaction has ended, may a sender delete its report.
        with suppress(RuntimeError):  # the loop is closed, so nobody waits for an answer
            self._loop.call_soon_threadsafe(self._answer, batch)

    def _write(self, groups: list[Group], refusals: Counter[tuple[int, str]]) -> None:
        if self._connection is None:
            self._connection = self._store.connect(writes=True)

        def settle(existing: Existing) -> Counter[tuple[int, str]]:
            return sum((group.settle(existing) for group in groups), refusals)

        clock = self._condition.clock
        seconds = clock.time_to_store()
        self._connection.write([group.arrivals for group in groups], settle, seconds)
        if seconds is not None:
            clock.mark_stored(seconds)

    def _failed(
        self, batch: list[Pending], refusals: Counter[tuple[int, str]], error: Exception
    ) -> None:
        """Acknowledge nothing; the next commit stores the refusal counters."""
        for pending in batch:
            pending.error = error
        with self._lock:
            self._refusals.update(refusals)
        if not isinstance(error, StoreRefused):
            log_failure("commit_failed", "commit failed", error)
        elif self.is_well:
            log("commit_failed", "commit failed", reason=str(error))
        if isinstance(error, StoreUnavailable) or not isinstance(error, StoreRefused):
            # The outcome of the commit may be unknown. If it did succeed, the retries of the
            # senders find their reports stored, and count as accepted again.
            if self._connection is not None:
                with suppress(Exception):
                    self._connection.close()
            self._connection = None
            time.sleep(0 if self._is_stopping else RECONNECT_S)
        if not self._is_stopping:
            self._queue.put(None)  # so that the next commit stores the counters

    def _answer(self, batch: list[Pending]) -> None:
        for pending in batch:
            self.waiting -= len(pending.ids)
            if pending.done.done():  # the sender has closed the connection
                continue
            if pending.error is None:
                pending.done.set_result(pending.outcomes)
            else:
                pending.done.set_exception(pending.error)
