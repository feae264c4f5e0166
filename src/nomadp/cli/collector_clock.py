"""``nomadp collector clock``: compares the clock with the store, or confirms it."""

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import click

from nomadp.cli.collector import opened_store, store_option
from nomadp.cli.output import Answer, json_option

__all__ = ["clock"]


@click.command()
@store_option
@click.option("--confirm", is_flag=True, help="Confirm that this machine's clock is right.")
@json_option
def clock(*, store: str, confirm: bool) -> Answer:
    """Compare this machine's clock with the newest time in the store.

    If they differ by more than three days, a collector neither accepts nor deletes reports
    until the clock is set or you confirm it. A running collector notices within seconds.

    \b
    Example:
      nomadp collector clock
      nomadp collector clock --confirm
    """
    found = _compared(store, confirm=confirm)
    return Answer(found, "\n".join(_lines(found)))


def _compared(store: str, *, confirm: bool) -> dict[str, Any]:
    with closing(opened_store(store).connect()) as connection:
        from nomadp.collector.clock import Clock
        from nomadp.collector.overview import would_delete

        now_s = time.time()
        believed = Clock(lambda: now_s)
        if confirm:
            connection.confirm_time(believed.hour)
        newest = connection.newest_time()
        believed.set_newest(newest)
        off_s = believed.off_s
        return {
            "clock": int(now_s),
            "newest_time": newest,
            "days_off": round(off_s / 86_400, 1),
            "is_suspect": off_s != 0,
            "would_delete": would_delete(connection, now_s),
            "confirmed": confirm,
        }


def _lines(found: dict[str, Any]) -> Iterator[str]:
    from nomadp.collector.clock import utc

    newest, days = found["newest_time"], found["days_off"]
    yield f"this machine's clock: {utc(found['clock'])}"
    yield f"newest time in the store: {'none yet' if newest is None else utc(newest)}"
    yield f"reports past their retention period by this clock: {found['would_delete']}"
    if found["is_suspect"]:
        yield (
            f"the clock is {abs(days)} days {'ahead' if days > 0 else 'behind'}: correct it, "
            "or run this again with --confirm if it is right"
        )
    if found["confirmed"]:
        yield "confirmed"
