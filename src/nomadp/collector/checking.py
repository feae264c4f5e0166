"""Check a store: its database, its tasks, and its counts against its reports."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from nomadp.collector.loaded_task import LoadedTask, read_task, task_rows
from nomadp.collector.store import Arrivals, Connection, Store, StoreCorrupt, cells_of
from nomadp.errors import NomadpError

__all__ = ["StoreCheck", "check_store"]

AT_ONCE = 20_000
Progress = Callable[[int], object]


@dataclass
class StoreCheck:
    """What is wrong with a store, and how much of it was checked."""

    damage: list[str] = field(default_factory=list)
    """Damage that the database itself reports."""
    differences: list[str] = field(default_factory=list)
    """Inconsistencies in a database that can be read."""
    notes: list[str] = field(default_factory=list)
    """What could not be checked."""
    tasks: int = 0
    reports: int = 0

    @property
    def is_whole(self) -> bool:
        return not self.damage and not self.differences


def check_store(store: Store, progress: Progress = lambda count: None) -> StoreCheck:
    """Check a snapshot of the whole store, which may be in use."""
    result = StoreCheck()
    with closing(store.connect()) as connection:
        try:
            damage, result.notes = connection.damage()
            result.damage += damage
            with connection.snapshot():
                result.differences += _orphans(connection)
                for row in task_rows(connection):
                    result.tasks += 1
                    _check_task(connection, row.id, result, progress)
        except StoreCorrupt as error:
            if error.reason not in result.damage:
                result.damage.append(error.reason)
    return result


def _orphans(connection: Connection) -> Iterator[str]:
    """Rows whose task does not exist, although tasks are never deleted."""
    for table in ("report", "cell", "outline", "job"):
        sql = f"SELECT COUNT(*) FROM {table} WHERE task NOT IN (SELECT number FROM task)"
        ((count,),) = connection.rows(sql)
        if count:
            yield f"table {table}: {count} rows belong to no task"


def _check_task(
    connection: Connection, task_id: str, result: StoreCheck, progress: Progress
) -> None:
    try:
        loaded = read_task(connection, task_id)
    except StoreCorrupt:
        raise
    except NomadpError:  # the error's text may quote stored content
        loaded = None
    if loaded is None:
        result.differences.append(
            f"task {task_id}: the task or one of its files does not match the task's id"
        )
        return
    recount = _Recount(loaded)
    for rows in _pieces(connection, loaded.number):
        recount.add(rows)
        result.reports += len(rows)
        progress(len(rows))
    sql = "SELECT epoch, value, SUM(n) FROM cell WHERE task = ? GROUP BY epoch, value"
    stored = {(epoch, value): int(n) for epoch, value, n in connection.rows(sql, loaded.number)}
    result.differences += [f"task {task_id}: {text}" for text in recount.differences(stored)]


def _pieces(connection: Connection, task: int) -> Iterator[list[tuple[Any, ...]]]:
    last = b""
    while True:
        rows = connection.rows(
            "SELECT id, epoch, value FROM report WHERE task = ? AND id > ? ORDER BY id LIMIT ?",
            task,
            last,
            AT_ONCE,
        )
        if not rows:
            return
        last = bytes(rows[-1][0])
        yield rows


class _Recount:
    """The counts of one task, computed again from its reports."""

    def __init__(self, loaded: LoadedTask) -> None:
        self._loaded = loaded
        self._reports: Counter[int] = Counter()
        self._values: Counter[int] = Counter()
        self._cells: Counter[tuple[int, int]] = Counter()
        self._bad = 0

    def add(self, rows: list[tuple[Any, ...]]) -> None:
        self._reports.update(epoch for _, epoch, _ in rows)
        complete = [
            (bytes(name), epoch, bytes(value))
            for name, epoch, value in rows
            if value is not None
        ]
        if not complete:
            return
        names, epochs, values = zip(*complete, strict=True)
        numbers, good = self._loaded.code.numbers(list(values))
        self._bad += int((~good).sum())
        self._values.update(epochs)
        arrivals = Arrivals(self._loaded.number, names, epochs, values, numbers)
        wrong = {
            name for name, is_good in zip(names, good.tolist(), strict=True) if not is_good
        }
        for _, epoch, value, n in cells_of(arrivals, dict.fromkeys(wrong)):
            self._cells[epoch, value] += n

    def differences(self, stored: dict[tuple[int, int], int]) -> Iterator[str]:
        if self._bad:
            yield f"{self._bad} reports have values that the task's mechanism cannot produce"
        totals: Counter[int] = Counter()
        for (epoch, _), n in stored.items():
            totals[epoch] += n
        for epoch in sorted(self._reports.keys() | totals.keys()):
            if not self._matches(epoch, totals[epoch], stored):
                count = self._reports[epoch]
                yield f"the counts of epoch {epoch} do not match its {count} reports"

    def _matches(self, epoch: int, total: int, stored: dict[tuple[int, int], int]) -> bool:
        reports, entries = self._reports[epoch], self._loaded.code.entries
        if self._values[epoch] == reports:
            keys = {key for key in (*self._cells, *stored) if key[0] == epoch}
            return all(self._cells[key] == stored.get(key, 0) for key in keys)
        # Retention deleted some or all values. Counts stay, unless the task deletes them too;
        # layout 1 deleted the counts of every task. So only bounds can be checked here.
        if total == 0:
            return self._values[epoch] == 0
        least = self._values[epoch] if self._loaded.bundle.task.delete_counts else reports
        return least * entries <= total <= reports * entries and all(
            n <= stored.get(key, 0) for key, n in self._cells.items() if key[0] == epoch
        )
