"""All that one collector process has: its store, its writer, its tasks, its work."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from nomadp.collector.basemap import Basemap
from nomadp.collector.jobs import Jobs
from nomadp.collector.logs import log, log_failure
from nomadp.collector.metrics import Metrics
from nomadp.collector.registry import Reading, Registry
from nomadp.collector.retention import swept
from nomadp.collector.space import Space
from nomadp.collector.store import Store, StoreRefused
from nomadp.collector.writer import Writer

__all__ = ["Service"]

SWEEP_S = 600.0


class Service:
    """Made inside the event loop that it serves."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Callable[[], float] = time.time,
        space: Space | None = None,
        basemap: Basemap | None = None,
        worker: str = "",
    ) -> None:
        self.store, self.clock, self.basemap = store, clock, basemap
        self.space = space or Space(store.free_bytes)
        self.writer = Writer(store, asyncio.get_running_loop())
        self.reading = Reading(store.connect)
        self.registry = Registry(self.reading)
        self.jobs = Jobs(self.reading)
        self.metrics = Metrics(worker)
        self._sweeping: asyncio.Task[None] | None = None

    async def start(self) -> None:
        await asyncio.to_thread(self.writer.start)
        await self.registry.every()
        self._sweeping = asyncio.create_task(self._sweep())

    async def stop(self) -> None:
        """After the last request was answered."""
        if self._sweeping is not None:
            self._sweeping.cancel()
            with suppress(asyncio.CancelledError):
                await self._sweeping
        await self.jobs.stop()
        await asyncio.to_thread(self.writer.stop)
        self.reading.close()

    async def is_ready(self) -> bool:
        """Whether a report could be taken now."""
        if not self.writer.is_well or self.space.is_full:
            return False
        try:
            await self.reading(lambda connection: connection.rows("SELECT 1"))
        except StoreRefused:
            return False
        return True

    async def _sweep(self) -> None:
        while True:
            try:
                for held in await self.registry.every():
                    count = await asyncio.to_thread(swept, self.store, held, self.clock())
                    if count:
                        log("values deleted after their retention", task=held.id, reports=count)
                await asyncio.to_thread(self.store.tidy)
            except StoreRefused as error:
                log("retention waits for the store", reason=str(error))
            except Exception as error:
                log_failure("retention failed", error)
            await asyncio.sleep(SWEEP_S)
