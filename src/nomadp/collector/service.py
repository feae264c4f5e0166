"""The parts of one collector process: store, writer, tasks and background work."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress

from nomadp.collector.basemap import Basemap
from nomadp.collector.clock import Clock
from nomadp.collector.condition import Condition
from nomadp.collector.disk_space import DiskSpace
from nomadp.collector.jobs import Jobs
from nomadp.collector.logs import log, log_failure
from nomadp.collector.metrics import Metrics
from nomadp.collector.registry import Registry, StoreReader
from nomadp.collector.retention import Retention
from nomadp.collector.store import Connection, Store, StoreCorrupt, StoreRefused
from nomadp.collector.tokens import WrongTokens
from nomadp.collector.writer import Writer

__all__ = ["Service"]

SWEEP_S = 600.0
WATCH_S = 5.0
"""How often to check the clock, and what other collectors have found out."""
CHECK_S = 86_400.0
"""How often to check the whole store for damage; the first time is at the start."""


class Service:
    """Must be created inside the event loop that serves it."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock | None = None,
        space: DiskSpace | None = None,
        basemap: Basemap | None = None,
        worker: str = "",
    ) -> None:
        self.store, self.basemap = store, basemap
        self.clock = clock or Clock()
        self.condition = Condition(self.clock, space or DiskSpace(store.free_bytes))
        self.writer = Writer(store, asyncio.get_running_loop(), self.condition)
        self.read = StoreReader(store.connect, self.condition.record)
        self.retention = Retention(store, self.clock)
        self.registry = Registry(self.read)
        self.jobs = Jobs(self.read)
        self.metrics = Metrics(worker)
        self.wrong_tokens = WrongTokens(self.metrics)
        self._work: list[asyncio.Task[None]] = []
        self._is_over = asyncio.Event()
        self._checking: Connection | None = None
        self._checked_s = -CHECK_S

    async def start(self) -> None:
        await asyncio.to_thread(self.writer.start)
        try:
            await self._check_clock()
            await self.registry.all_tasks()
        except BaseException:  # a thread that still uses a connection could crash at exit
            await self.stop()
            raise
        self._work = [
            asyncio.create_task(self._repeat(SWEEP_S, self._sweep)),
            asyncio.create_task(self._repeat(WATCH_S, self._exchange_warnings)),
        ]

    async def stop(self) -> None:
        """Call after the last reply. Waits for every thread that uses a connection."""
        self._is_over.set()
        self.retention.stop()
        if self._checking is not None:
            self._checking.interrupt()
        await asyncio.gather(*self._work)
        self.wrong_tokens.stop()
        await self.jobs.stop()
        await asyncio.to_thread(self.writer.stop)
        await asyncio.to_thread(self.read.close)

    async def refusal(self) -> str | None:
        """The kind of problem that an upload would get now; None if it would be accepted."""
        if (refusal := self.condition.refusal) is not None:
            return refusal
        if not self.writer.is_well:
            return "unavailable"
        try:
            await self.read(lambda connection: connection.rows("SELECT 1"))
        except StoreRefused:
            return self.condition.refusal or "unavailable"
        return None

    async def _repeat(self, pause_s: float, work: Callable[[], Awaitable[None]]) -> None:
        """Run ``work`` now and after every pause, until the end; never cancel it halfway."""
        reason = ""
        while not self._is_over.is_set():
            try:
                await work()
                reason = ""
            except StoreRefused as error:
                self.condition.record(error)
                if str(error) != reason and not self._is_over.is_set():
                    reason = str(error)
                    log(
                        "store_work_waits",
                        "background work on the store is waiting",
                        reason=reason,
                    )
            except Exception as error:
                log_failure("store_work_failed", "background work on the store failed", error)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_over.wait(), pause_s)

    async def _exchange_warnings(self) -> None:
        """Tell other collectors about damage, find out what they know, and check the clock."""
        if self.condition.is_corrupt:
            await self.read(lambda connection: connection.warn_others())
        elif await self.read(lambda connection: connection.is_warned()):
            raise StoreCorrupt(
                "another collector that uses it found damage", code="store_corrupt"
            )
        await self._check_clock()

    async def _check_clock(self) -> None:
        """Compare the clock with the stored time, and store a newer one."""
        clock = self.clock
        clock.set_newest(await self.read(Connection.newest_time))
        seconds = clock.time_to_store()
        if seconds is not None and not self.condition.is_corrupt:
            await self.read(Connection.keep_time, seconds)
            clock.mark_stored(seconds)

    async def _sweep(self) -> None:
        if time.monotonic() - self._checked_s >= CHECK_S:
            await asyncio.to_thread(self._check)
            self._checked_s = time.monotonic()
        for loaded in await self.registry.all_tasks():
            if not self.condition.is_corrupt:
                await asyncio.to_thread(self.retention.sweep, loaded)
        if not self.condition.is_corrupt:
            await asyncio.to_thread(self.store.tidy)

    def _check(self) -> None:
        with closing(self.store.connect()) as connection:
            self._checking = connection
            try:
                if self._is_over.is_set():
                    return
                damage, _ = connection.damage(quick=True)
            finally:
                self._checking = None
        if damage:
            raise StoreCorrupt(damage[0], code="store_corrupt")
