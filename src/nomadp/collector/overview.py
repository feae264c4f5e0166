"""An operator's view of each task: its reports, and how many were refused and why."""

from collections.abc import Sequence
from typing import Any

from nomadp.collector.loaded_task import (
    LoadedTask,
    counters_of,
    read_task,
    swept_through,
    task_rows,
    totals_of,
)
from nomadp.collector.retention import last_epoch
from nomadp.collector.store import EVERY_TASK, Connection

__all__ = ["overview", "would_delete"]


def overview(connection: Connection, tasks: Sequence[LoadedTask]) -> dict[str, Any]:
    counters = counters_of(connection)
    closed = {row.number for row in task_rows(connection) if row.closed}
    shown = [_shown(connection, loaded, counters, closed) for loaded in tasks]
    return {"tasks": shown, "collector": counters[EVERY_TASK]}


def _shown(
    connection: Connection,
    loaded: LoadedTask,
    counters: dict[int, dict[str, int]],
    closed: set[int],
) -> dict[str, Any]:
    task = loaded.bundle.task
    totals = totals_of(connection, loaded)
    return {
        "task_id": loaded.id,
        "purpose": task.purpose,
        "mechanism": task.mechanism,
        "epsilon": str(task.epsilon),
        "start": task.start,
        "end": task.end,
        "time_precision": task.time_precision,
        "min_batch_size": task.min_batch_size,
        "closed": loaded.number in closed,
        "reports": sum(totals.values()),
        "by_epoch": {str(epoch): n for epoch, n in totals.items()},
        "counters": counters.get(loaded.number, {}),
    }


def would_delete(connection: Connection, now_s: float) -> int:
    """The number of reports past their retention at a time that still have values."""
    count = 0
    for row in task_rows(connection):
        loaded = read_task(connection, row.id)
        if loaded is not None:
            last, swept = last_epoch(loaded, now_s), swept_through(connection, loaded)
            totals = totals_of(connection, loaded)
            count += sum(n for epoch, n in totals.items() if swept < epoch <= last)
    return count
