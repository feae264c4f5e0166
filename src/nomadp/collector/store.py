"""The interface of a store of reports, for any database."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from nomadp.collector.logs import log
from nomadp.collector.schema import LAYOUT, MIGRATIONS, NEWEST_TIME
from nomadp.errors import NomadpError
from nomadp.laws import Ints

__all__ = [
    "EVERY_TASK",
    "Arrivals",
    "Connection",
    "StoredReport",
    "Store",
    "StoreCorrupt",
    "StoreFull",
    "StoreRefused",
    "StoreUnavailable",
    "Existing",
    "cells_of",
]

EVERY_TASK = 0
"""Instead of a task's number: a counter of the collector as a whole."""

Counters = Mapping[tuple[int, str], int]
Cell = tuple[int, int, int, int]
"""A task, an epoch, a reported value, and how often it was reported."""


class StoreRefused(NomadpError, RuntimeError):
    """A store cannot be opened or is not valid."""

    kind = "store"


class StoreUnavailable(StoreRefused):
    """Nothing can be read or written now, because of a lock or a lost connection."""


class StoreCorrupt(StoreRefused):
    """The store is damaged, and nothing more may be written to it."""

    reason: str

    def __init__(self, reason: str, *, code: str | None = None) -> None:
        super().__init__(
            f"a store must be intact, but this one is damaged ({reason}); stop the collector, "
            'keep a copy of the store as it is, and run "nomadp collector check"',
            code=code,
            reason=reason,
        )


class StoreFull(StoreRefused):
    """The disk is full."""


class StoredReport(NamedTuple):
    """What is stored for an id; the value is None after its retention period."""

    epoch: int
    value: bytes | None


@dataclass(frozen=True, eq=False)
class Arrivals:
    """The reports of one task in one commit, sorted by their distinct ids."""

    task: int
    ids: Sequence[bytes]
    epochs: Sequence[int]
    values: Sequence[bytes]
    numbers: Ints
    """The decoded values, (reports, entries)."""


class Existing(NamedTuple):
    """What the store contained before a commit wrote new reports."""

    known: dict[tuple[int, bytes], StoredReport]
    """Stored reports with the id of an arrival, by task and id."""
    closed: frozenset[int]
    """Closed tasks, for which nothing was written."""


class Connection(ABC):
    """A connection to a store, for one thread at a time. Parameters in SQL are ``?``."""

    @abstractmethod
    def rows(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]: ...

    @abstractmethod
    def run(self, sql: str, *parameters: Any) -> int:
        """Run a statement; returns the number of changed rows."""

    @abstractmethod
    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None: ...

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """A transaction, which is on disk when the context ends without an error."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[None]:
        """A context that reads the store as it is now, whatever others write later."""

    @abstractmethod
    def add(self, arrivals: Arrivals) -> dict[bytes, StoredReport]:
        """Insert new reports; returns the stored reports under the other ids."""

    @abstractmethod
    def known(self, task: int, ids: Sequence[bytes]) -> dict[bytes, StoredReport]:
        """The stored reports with these ids."""

    @abstractmethod
    def add_cells(self, cells: Sequence[Cell]) -> None: ...

    @abstractmethod
    def damage(self, *, quick: bool = False) -> tuple[list[str], list[str]]:
        """The damage that the database reports, and notes on what it did not check.

        ``quick`` checks less, in less time.
        """

    @abstractmethod
    def interrupt(self) -> None:
        """Called from another thread: the running statement fails with `StoreUnavailable`."""

    def warn_others(self) -> None:  # noqa: B027 - most have none
        """Tell other collectors, as long as this is open, that the store is damaged."""

    def is_warned(self) -> bool:
        """Whether another collector reports that the store is damaged."""
        return False

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def make(self, name: str, columns: str) -> None:
        """Create a table if it does not exist."""

    @abstractmethod
    def has_others(self) -> bool:
        """Whether another collector uses the store; for a file, whether anybody has it open."""

    def layout(self) -> int:
        """The layout of the tables, 0 if there are none. Call it in a transaction."""
        self.make("about", "name TEXT PRIMARY KEY, said TEXT NOT NULL")
        rows = self.rows("SELECT said FROM about WHERE name = 'schema'")
        text = rows[0][0] if rows else "0"
        if rows and text not in map(str, range(1, LAYOUT + 1)):
            is_newer = text.isascii() and text.isdecimal() and int(text[:9]) > LAYOUT
            raise StoreRefused(
                f"a store must be of layout 1 to {LAYOUT}, got {text[:20]}; "
                + (
                    "a newer nomadp wrote it: install that version again, or restore a backup "
                    "made before the upgrade"
                    if is_newer
                    else "restore a backup"
                ),
                code="store_layout_unsupported",
                layout=text[:20],
                is_newer=is_newer,
            )
        return int(text)

    def check_alone(self, layout: int) -> None:
        """Refuse to change tables that an older collector may still use."""
        if self.has_others():
            raise StoreRefused(
                f"a store of layout {layout} must not be in use while it is migrated to layout "
                f"{LAYOUT}, but a collector or another program has it open; stop that program, "
                "make a backup and run the same command again",
                code="store_in_use",
                layout=layout,
            )

    def migrate(self) -> None:
        """Bring the tables to the newest layout, in the caller's transaction."""
        layout = self.layout()
        if layout == LAYOUT:
            return
        if layout:
            log(
                "store_migrated",
                "migrated the store to a newer layout",
                before=layout,
                after=LAYOUT,
            )
        for change in MIGRATIONS[layout:]:
            change(self)
        self.run(
            "INSERT INTO about (name, said) VALUES ('schema', ?) "
            "ON CONFLICT (name) DO UPDATE SET said = excluded.said",
            str(LAYOUT),
        )

    def newest_time(self) -> int | None:
        """The newest trusted time, or None if there is none yet."""
        sql = "SELECT seconds FROM clock WHERE name = ?"
        rows = self.rows(sql, NEWEST_TIME)
        return int(rows[0][0]) if rows else None

    def keep_time(self, seconds: int) -> None:
        """Store a trusted time if it is newer than the stored one."""
        self.run(
            "INSERT INTO clock (name, seconds) VALUES (?, ?) "
            "ON CONFLICT (name) DO UPDATE SET seconds = excluded.seconds "
            "WHERE excluded.seconds > clock.seconds",
            NEWEST_TIME,
            seconds,
        )

    def confirm_time(self, seconds: int) -> None:
        """Store a time that the operator confirms, even if it is older than the stored one."""
        with self.transaction():
            self.run("DELETE FROM clock WHERE name = ?", NEWEST_TIME)
            self.keep_time(seconds)

    def write(
        self,
        arrivals: Sequence[Arrivals],
        settle: Callable[[Existing], Counters],
        seconds: int | None = None,
    ) -> Existing:
        """Commit new reports, the counts of their values, their outcomes and the time.

        Everything is one transaction, so that after a crash the counts are exactly those of
        the stored reports. Reports are written first, then cells, then counters, each in
        sorted order. Concurrent writers then take their locks in the same order, which rules
        out deadlocks.
        """
        with self.transaction():
            tasks = self.rows("SELECT number, closed, swept FROM task")
            closed = frozenset(number for number, is_closed, _ in tasks if is_closed)
            swept = {number: last for number, _, last in tasks}
            known: dict[tuple[int, bytes], StoredReport] = {}
            cells: list[Cell] = []
            for batch in sorted(arrivals, key=lambda a: a.task):
                task, is_closed = batch.task, batch.task in closed
                stored = self.known(task, batch.ids) if is_closed else self.add(batch)
                known |= {(task, name): report for name, report in stored.items()}
                if not is_closed:
                    cells += cells_of(batch, stored)
                    if batch.epochs and min(batch.epochs) <= swept.get(task, -1):
                        self._sweep_again(task, min(batch.epochs))
            self.add_cells(cells)
            existing = Existing(known, closed)
            self.add_counters(settle(existing))
            if seconds is not None:
                self.keep_time(seconds)
        return existing

    def _sweep_again(self, task: int, epoch: int) -> None:
        """Sweep an expired epoch again if it gets reports, because the clock had been ahead."""
        sql = "UPDATE task SET swept = ? WHERE number = ? AND swept >= ?"
        self.run(sql, epoch - 1, task, epoch)

    def add_counters(self, counters: Counters) -> None:
        rows = [(task, reason, self.part, n) for (task, reason), n in sorted(counters.items())]
        if rows:
            self.run_many(
                "INSERT INTO counter (task, reason, part, n) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (task, reason, part) DO UPDATE SET n = counter.n + excluded.n",
                rows,
            )

    @property
    def part(self) -> int:
        """The index of this writer (the counter shard)."""
        return 0


class Store(ABC):
    """A database with tasks and reports."""

    name: str
    """A name without passwords, which may be shown."""
    shared: bool
    """Whether several processes may write at the same time."""

    @abstractmethod
    def connect(self, *, writes: bool = False) -> Connection:
        """A new connection; one that ``writes`` reports gets a counter shard of its own."""

    @abstractmethod
    def is_in_use(self) -> bool:
        """Whether a collector uses it; for a file, whether anybody else has it open."""

    @abstractmethod
    def free_bytes(self) -> int | None:
        """Free space on the disk, if it is known."""

    def tidy(self) -> None:  # noqa: B027 - most have nothing to do
        """Remove deleted values, and traces of the order of arrival, from the log."""


def cells_of(arrivals: Arrivals, known: Mapping[bytes, Any]) -> list[Cell]:
    """The values of the new reports, counted by epoch and sorted."""
    new = [k for k, name in enumerate(arrivals.ids) if name not in known]
    if not new:
        return []
    numbers = arrivals.numbers[new]
    epochs = np.repeat(np.asarray(arrivals.epochs, dtype=np.int64)[new], numbers.shape[1])
    pairs = np.stack([epochs, numbers.reshape(-1)], axis=1)
    cells, counts = np.unique(pairs, axis=0, return_counts=True)
    rows = zip(cells.tolist(), counts.tolist(), strict=True)
    return [(arrivals.task, epoch, value, n) for (epoch, value), n in rows]
