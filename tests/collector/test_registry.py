"""Questions to the store beside the writer: one at a time, whatever becomes of who asked."""

import asyncio
import threading
from contextlib import suppress

from nomadp.collector.registry import Reading
from nomadp.collector.store import Connection, Store


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
        reading = Reading(sqlite.connect, lambda error: None)
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
