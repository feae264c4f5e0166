"""``nomadp collector clock``: compares the clock with the store, or confirms it."""

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import click

from nomadp.cli.collector import open_store, store_option
from nomadp.cli.output import Result, json_option

__all__ = ["clock"]


@click.command()
@store_option
@click.option("--confirm", is_flag=True, help="Confirm that this machine's clock is right.")
@json_option
def clock(*, store: str, confirm: bool) -> Result:
    """Compare this machine's clock with the newest time in the store.

    If they differ by more than three days, a collector neither accepts nor deletes reports
    until you correct or confirm the clock. A running collector notices within seconds.

    \b
    Example:
      nomadp collector clock
      nomadp collector clock --confirm
    """
    comparison = _compare(store, confirm=confirm)
    return Result(comparison, "\n".join(_lines(comparison)))


def _compare(store: str, *, confirm: bool) -> dict[str, Any]:
    with closing(open_store(store).connect()) as connection:
        from nomadp.collector.clock import Clock
        from nomadp.collector.overview import would_delete

        now_s = time.time()
        machine_clock = Clock(lambda: now_s)
        if confirm:
            connection.confirm_time(machine_clock.hour)
        newest = connection.newest_time()
        machine_clock.set_newest(newest)
        off_s = machine_clock.off_s
        return {
            "clock": int(now_s),
            "newest_time": newest,
            "days_off": round(off_s / 86_400, 1),
            "is_suspect": off_s != 0,
            "would_delete": would_delete(connection, now_s),
            "confirmed": confirm,
        }


def _lines(comparison: dict[str, Any]) -> Iterator[str]:
    from nomadp.collector.clock import utc

    newest, days = comparison["newest_time"], comparison["days_off"]
    yield f"this machine's clock: {utc(comparison['clock'])}"
    yield f"newest time in the store: {'none yet' if newest is None else utc(newest)}"
    yield f"reports past their retention period by this clock: {comparison['would_delete']}"
    if comparison["is_suspect"]:
        yield (
            f"the clock is {abs(days)} days {'ahead' if days > 0 else 'behind'}: correct it, "
            "or run this command again with --confirm if it is right"
        )
    if comparison["confirmed"]:
        yield "confirmed"
