"""The tasks that a process knows. Each is loaded when it is first needed."""

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
"""Unknown ids are looked up at most this often, because anybody can make them up."""


class StoreReader:
    """Reads from the store one after the other, over a connection of its own."""

    def __init__(
        self, connect: Callable[[], Connection], on_error: Callable[[StoreRefused], None]
    ) -> None:
        self._connect, self._on_error = connect, on_error
        self._connection: Connection | None = None
        self._is_closed = False
        self._lock = asyncio.Lock()  # one reader at a time, without occupying a thread
        # The thread needs a lock too: its caller may be cancelled while it still reads.
        self._in_use = threading.Lock()

    async def __call__(self, read: Callable[..., T], *arguments: object) -> T:
        async with self._lock:
            return await asyncio.to_thread(self._run, read, *arguments)

    def _run(self, read: Callable[..., T], *arguments: object) -> T:
        with self._in_use:
            try:
                if self._is_closed:
                    raise StoreUnavailable(
                        "the collector is stopping", code="collector_stopping"
                    )
                if self._connection is None:
                    self._connection = self._connect()
                return read(self._connection, *arguments)
            except StoreRefused as error:
                self._on_error(error)
                if isinstance(error, StoreUnavailable) and self._connection is not None:
                    self._connection.close()
                    self._connection = None  # the next read connects again
                raise

    def close(self) -> None:
        """Wait for a running read first: closing its connection may crash the process."""
        with self._in_use:
            self._is_closed = True
            if self._connection is not None:
                self._connection.close()
                self._connection = None


class Registry:
    """Loaded tasks by id. Another process may add a task to the store at any time."""

    def __init__(self, read: StoreReader) -> None:
        self._read = read
        self._ready: dict[str, LoadedTask] = {}
        self._ids: frozenset[str] = frozenset()
        self._looked_up_s = -LOOK_AGAIN_S
        self._loading = asyncio.Lock()
        self.get = self._ready.get
        """A task that is already loaded, or None."""

    async def find(self, task_id: str) -> LoadedTask | None:
        """A task, loaded from the store if necessary, or None."""
        if (loaded := self._ready.get(task_id)) is not None or not is_task_id(task_id):
            return loaded
        if task_id not in self._ids:
            await self._look_up()
        if task_id not in self._ids:
            return None
        async with self._loading:
            if task_id not in self._ready:
                loaded = await self._read(read_task, task_id)
                if loaded is not None:
                    self._ready[task_id] = loaded
        return self._ready.get(task_id)

    async def _look_up(self, *, now: bool = False) -> None:
        if now or time.monotonic() - self._looked_up_s >= LOOK_AGAIN_S:
            self._looked_up_s = time.monotonic()
            self._ids = frozenset(row.id for row in await self._read(task_rows))

    async def refresh(self) -> None:
        """Read the ids of all tasks now."""
        await self._look_up(now=True)

    async def all_tasks(self) -> list[LoadedTask]:
        """All tasks, loaded and in the order in which they were added."""
        await self.refresh()
        tasks = [await self.find(task_id) for task_id in sorted(self._ids)]
        return sorted((task for task in tasks if task), key=lambda task: task.number)
