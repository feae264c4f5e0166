"""Tasks in a store, and their counts and counters."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from nomadp.collector.store import EVERY_TASK, Connection
from nomadp.errors import TaskRefused
from nomadp.protocol.bundle import TaskBundle
from nomadp.protocol.canonical import base64url
from nomadp.protocol.outlines import OUTLINES, checked_outlines, outlines_bytes, with_outlines
from nomadp.protocol.task import Task
from nomadp.protocol.values import ValueCode

if TYPE_CHECKING:
    from nomadp.reports.counts import Counts

__all__ = [
    "LoadedTask",
    "TaskRow",
    "add_task",
    "close_task",
    "counters_of",
    "counts_of",
    "is_closed",
    "read_task",
    "swept_through",
    "task_rows",
    "totals_of",
]


@dataclass(frozen=True, eq=False)
class LoadedTask:
    """A task with its files and mechanism, ready to accept reports."""

    number: int
    bundle: TaskBundle
    code: ValueCode
    files: Mapping[str, bytes]
    tags: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, number: int, bundle: TaskBundle) -> "LoadedTask":
        files = {"task": bundle.task.content, **bundle.files}
        if (outlines := outlines_bytes(bundle)) is not None:
            files[OUTLINES] = outlines
        tags = {
            name: f'"{base64url(hashlib.sha256(content).digest())}"'
            for name, content in files.items()
        }
        return cls(number, bundle, bundle.code, files, tags)

    @cached_property
    def id(self) -> str:
        return self.bundle.task.id

    @cached_property
    def span(self) -> tuple[int, int, int, int]:
        """start, end, retention, and an epoch in seconds; cached, as each report needs it."""
        task = self.bundle.task
        return task.start, task.end, task.retention, task.time_precision

    @property
    def report_length(self) -> int:
        """The length that `Counts` use."""
        return self.code.entries if self.bundle.task.is_oracle else self.bundle.report_length


class TaskRow(NamedTuple):
    number: int
    id: str
    content: bytes
    closed: bool


def task_rows(connection: Connection) -> list[TaskRow]:
    rows = connection.rows("SELECT number, id, content, closed FROM task ORDER BY number")
    return [TaskRow(n, name, bytes(content), bool(closed)) for n, name, content, closed in rows]


def read_task(connection: Connection, task_id: str) -> LoadedTask | None:
    """Load a task and construct its mechanism, which takes a moment."""
    rows = connection.rows(
        "SELECT number, content, locations, book FROM task WHERE id = ?", task_id
    )
    if not rows:
        return None
    number, *parts = rows[0]
    content, locations, book = map(bytes, parts)
    task = Task.from_bytes(content, task_id)
    files = {"locations": locations, "zones" if task.is_oracle else "atlas": book}
    bundle = TaskBundle.from_files(task, files)
    outlines = connection.rows("SELECT content FROM outline WHERE task = ?", number)
    return LoadedTask.of(
        number, with_outlines(bundle, bytes(outlines[0][0])) if outlines else bundle
    )


def add_task(connection: Connection, bundle: TaskBundle) -> bool:
    """Store a task, and its outlines unless it has some; returns whether the task is new."""
    is_new = _add_task(connection, bundle)
    if (outlines := checked_outlines(bundle)) is not None:
        with connection.transaction():
            connection.run(
                "INSERT INTO outline (task, content) SELECT number, ? FROM task WHERE id = ? "
                "ON CONFLICT DO NOTHING",
                outlines,
                bundle.task.id,
            )
    return is_new


def _add_task(connection: Connection, bundle: TaskBundle) -> bool:
    files = dict(bundle.files)
    locations = files.pop("locations")
    (book,) = files.values()
    with connection.transaction():
        if connection.rows("SELECT 1 FROM task WHERE id = ?", bundle.task.id):
            return False
        ((last,),) = connection.rows("SELECT COALESCE(MAX(number), 0) FROM task")
        changed = connection.run(
            "INSERT INTO task (number, id, content, locations, book) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING",
            last + 1,
            bundle.task.id,
            bundle.task.content,
            locations,
            book,
        )
    if not changed:  # another collector took this number, or added the task, in the meantime
        return _add_task(connection, bundle)
    return True


def is_closed(connection: Connection, task_id: str) -> bool:
    return bool(connection.rows("SELECT 1 FROM task WHERE id = ? AND closed = 1", task_id))


def close_task(connection: Connection, task_id: str) -> None:
    """Accept no new reports; acknowledged reports stay."""
    with connection.transaction():
        if not connection.run("UPDATE task SET closed = 1 WHERE id = ?", task_id):
            raise TaskRefused(
                "a task must be in the store to be closed, but this one is not",
                code="task_not_in_store",
            )


def counters_of(connection: Connection) -> dict[int, dict[str, int]]:
    """Counters by task number and reason; those of no task are under `EVERY_TASK`."""
    counters: dict[int, dict[str, int]] = {EVERY_TASK: {}}
    sql = "SELECT task, reason, SUM(n) FROM counter GROUP BY task, reason ORDER BY task, reason"
    for task, reason, n in connection.rows(sql):
        counters.setdefault(task, {})[reason] = int(n)
    return counters


def swept_through(connection: Connection, loaded: LoadedTask) -> int:
    """The last epoch whose values retention has deleted; -1 if there is none."""
    rows = connection.rows("SELECT swept FROM task WHERE number = ?", loaded.number)
    return int(rows[0][0])


def totals_of(connection: Connection, loaded: LoadedTask) -> dict[int, int]:
    """The number of reports in each epoch."""
    sql = "SELECT epoch, SUM(n) FROM cell WHERE task = ? GROUP BY epoch ORDER BY epoch"
    rows = connection.rows(sql, loaded.number)
    return {epoch: int(n) // loaded.code.entries for epoch, n in rows}


def counts_of(
    connection: Connection, loaded: LoadedTask, epochs: tuple[int, int] | None = None
) -> "Counts":
    """How often each value was reported in a half-open range of epochs; by default all."""
    from nomadp.reports.counts import Counts  # slow to import, and not needed to start

    low, high = epochs or (loaded.span[0], loaded.span[1])
    rows: list[tuple[Any, ...]] = connection.rows(
        "SELECT value, SUM(n) FROM cell WHERE task = ? AND epoch >= ? AND epoch < ? "
        "GROUP BY value ORDER BY value",
        loaded.number,
        low,
        high,
    )
    law, length = loaded.bundle.mechanism.identity, loaded.report_length
    return Counts({(law, length, value): int(n) for value, n in rows})
