"""The tasks that a process knows, made ready when they are first asked for."""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from nomadp.collector.loaded_task import LoadedTask, read_task, task_rows
from nomadp.collector.store import Connection, StoreRefused, StoreUnavailable
from nomadp.protocol.task import is_task_id

__all__ = ["StoreReader", "Registry"]

T = TypeVar("T")

LOOK_AGAIN_S = 1.0
"""Ids that are not known are looked for at most so often: anybody can make them up."""


class StoreReader:
    """Questions to the store that do not wait for the writer, one after the other."""

    def __init__(
        self, connect: Callable[[], Connection], saw: Callable[[StoreRefused], None]
    ) -> None:
        self._connect, self._saw = connect, saw
        self._connection: Connection | None = None
        self._is_closed = False
        self._lock = asyncio.Lock()
        # Of the thread, too: who asked may be cancelled while the question is still asked.
        self._in_use = threading.Lock()

    async def __call__(self, ask: Callable[..., T], *arguments: object) -> T:
        async with self._lock:
            return await asyncio.to_thread(self._asked, ask, *arguments)

    def _asked(self, ask: Callable[..., T], *arguments: object) -> T:
        with self._in_use:
            try:
                if self._is_closed:
                    raise StoreUnavailable(
                        "the collector is stopping", code="collector_stopping"
                    )
                if self._connection is None:
                    self._connection = self._connect()
                return ask(self._connection, *arguments)
            except StoreRefused as error:
                self._saw(error)
                if isinstance(error, StoreUnavailable) and self._connection is not None:
                    self._connection.close()
                    self._connection = None  # and again with the next question
                raise

    def close(self) -> None:
        """Waits for what is still asked: a connection that is closed beneath it may crash."""
        with self._in_use:
            self._is_closed = True
            if self._connection is not None:
                self._connection.close()
                self._connection = None


class Registry:
    """By id. What is not there may have been added by another process a moment ago."""

    def __init__(self, read: StoreReader) -> None:
        self._read = read
        self._ready: dict[str, LoadedTask] = {}
        self._ids: frozenset[str] = frozenset()
        self._looked_s = -LOOK_AGAIN_S
        self._making = asyncio.Lock()
        self.get = self._ready.get
        """A task that is ready, or None."""

    async def find(self, task_id: str) -> LoadedTask | None:
        """The same, looking for it in the store."""
        if (loaded := self._ready.get(task_id)) is not None or not is_task_id(task_id):
            return loaded
        if task_id not in self._ids:
            await self._look()
        if task_id not in self._ids:
            return None
        async with self._making:
            if task_id not in self._ready:
                made = await self._read(read_task, task_id)
                if made is not None:
                    self._ready[task_id] = made
        return self._ready.get(task_id)

    async def _look(self, *, now: bool = False) -> None:
        if now or time.monotonic() - self._looked_s >= LOOK_AGAIN_S:
            self._looked_s = time.monotonic()
            self._ids = frozenset(row.id for row in await self._read(task_rows))

    async def refresh(self) -> None:
        """At once: a task was added here."""
        await self._look(now=True)

    async def all_tasks(self) -> list[LoadedTask]:
        """All of them, made ready."""
        await self.refresh()
        found = [await self.find(task_id) for task_id in sorted(self._ids)]
        return sorted((each for each in found if each), key=lambda each: each.number)
