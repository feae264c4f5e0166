"""Questions to the store beside the writer: one at a time, whatever becomes of who asked."""

import asyncio
import threading
from contextlib import suppress

import pytest

from nomadp.collector.registry import StoreReader
from nomadp.collector.store import Connection, Store, StoreUnavailable


def test_a_question_whose_asker_has_gone_is_not_interrupted_by_the_next(sqlite: Store) -> None:
    may_end, inside = threading.Event(), []

    def slow(connection: Connection) -> None:
        with connection.transaction():
            inside.append("began")
            may_end.wait(10)
            inside.append("ended")

    def quick(connection: Connection) -> None:
        with connection.transaction():
            inside.append("next")

    async def ask() -> None:
        reading = StoreReader(sqlite.connect, lambda error: None)
        first = asyncio.create_task(reading(slow))
        while not inside:
            await asyncio.sleep(0.01)
        first.cancel()
        with suppress(asyncio.CancelledError):
            await first
        second = asyncio.create_task(reading(quick))
        await asyncio.sleep(0.1)
        may_end.set()
        await second
        reading.close()

    asyncio.run(ask())
    assert inside == ["began", "ended", "next"]


def test_a_connection_is_closed_when_nobody_uses_it_and_not_opened_again(sqlite: Store) -> None:
    may_end, seen = threading.Event(), []

    def slow(connection: Connection) -> None:
        seen.append("began")
        may_end.wait(10)
        seen.append(connection.rows("SELECT 1"))

    async def ask() -> None:
        reading = StoreReader(sqlite.connect, lambda error: None)
        first = asyncio.create_task(reading(slow))
        while not seen:
            await asyncio.sleep(0.01)
        first.cancel()
        with suppress(asyncio.CancelledError):
            await first
        closing = asyncio.create_task(asyncio.to_thread(reading.close))
        await asyncio.sleep(0.1)
        may_end.set()
        await closing
        with pytest.raises(StoreUnavailable):
            await reading(slow)

    asyncio.run(ask())
    assert seen == ["began", [(1,)]]
