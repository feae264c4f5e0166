"""What a store of reports does, whichever database it is."""

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
    "Written",
    "cells_of",
]

EVERY_TASK = 0
"""As the number of a task: counted for the collector as a whole."""

Counters = Mapping[tuple[int, str], int]
Cell = tuple[int, int, int, int]
"""A task, an epoch, a released number, and how often it came in."""


class StoreRefused(NomadpError, RuntimeError):
    """A store cannot be opened, or is not what it must be."""

    kind = "store"


class StoreUnavailable(StoreRefused):
    """Nothing can be read or written at the moment: a database is away, or a lock is held."""


class StoreCorrupt(StoreRefused):
    """What is stored is damaged: nothing more may be written to it."""

    reason: str

    def __init__(self, reason: str, *, code: str | None = None) -> None:
        super().__init__(
            f"a store must be intact, and this one is damaged ({reason}); stop the collector, "
            'keep a copy of the store as it is, and run "nomadp collector check"',
            code=code,
            reason=reason,
        )


class StoreFull(StoreRefused):
    """The disk has no room for more."""


class StoredReport(NamedTuple):
    """What is stored under an id; no value once its retention has passed."""

    epoch: int
    value: bytes | None


@dataclass(frozen=True, eq=False)
class Arrivals:
    """Reports of one task in one commit: distinct ids, sorted."""

    task: int
    ids: Sequence[bytes]
    epochs: Sequence[int]
    values: Sequence[bytes]
    numbers: Ints
    """What each value says, (reports, entries)."""


class Written(NamedTuple):
    """What a commit found, before it wrote the rest."""

    known: dict[tuple[int, bytes], StoredReport]
    """Those of the arrivals that were there already, by task and id."""
    closed: frozenset[int]
    """Tasks that take nothing new: of them nothing was written."""


class Connection(ABC):
    """One connection to a store; for one thread at a time. Parameters are written ``?``."""

    @abstractmethod
    def rows(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]: ...

    @abstractmethod
    def run(self, sql: str, *parameters: Any) -> int:
        """Returns how many rows it changed."""

    @abstractmethod
    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None: ...

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """All of it or nothing; on disk when it is left."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[None]:
        """Inside, the store is seen as it is now, whatever others write meanwhile."""

    @abstractmethod
    def add(self, arrivals: Arrivals) -> dict[bytes, StoredReport]:
        """Insert what is new; returns what was there under the others' ids."""

    @abstractmethod
    def known(self, task: int, ids: Sequence[bytes]) -> dict[bytes, StoredReport]:
        """What is stored under these ids."""

    @abstractmethod
    def add_cells(self, cells: Sequence[Cell]) -> None: ...

    @abstractmethod
    def damage(self, *, quick: bool = False) -> tuple[list[str], list[str]]:
        """What the database itself finds wrong, and what it was not asked.

        ``quick`` looks at less, in less time.
        """

    @abstractmethod
    def interrupt(self) -> None:
        """From another thread: what is running ends with `StoreUnavailable`."""

    def warn_others(self) -> None:  # noqa: B027 - most have none
        """Let other collectors on this store know that it is damaged, while this is open."""

    def is_warned(self) -> bool:
        """Whether another collector on this store has said so."""
        return False

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def make(self, name: str, columns: str) -> None:
        """Create a table where it is missing."""

    @abstractmethod
    def has_others(self) -> bool:
        """Whether a collector has the store; of a file, whether anybody else has it open."""

    def layout(self) -> int:
        """That of the tables that are there, 0 if there are none; in a transaction."""
        self.make("about", "name TEXT PRIMARY KEY, said TEXT NOT NULL")
        said = self.rows("SELECT said FROM about WHERE name = 'schema'")
        text = said[0][0] if said else "0"
        if said and text not in map(str, range(1, LAYOUT + 1)):
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
        """Refuse to change tables that a collector of an older version still uses."""
        if self.has_others():
            raise StoreRefused(
                f"a store of layout {layout} must not be in use while it is migrated to layout "
                f"{LAYOUT}, and a collector or another program has it open; stop that program, "
                "make a backup and run the same command again",
                code="store_in_use",
                layout=layout,
            )

    def migrate(self) -> None:
        """From the layout that is there to the newest, in the transaction of the caller."""
        found = self.layout()
        if found == LAYOUT:
            return
        if found:
            log(
                "store_migrated",
                "migrated the store to a newer layout",
                before=found,
                after=LAYOUT,
            )
        for change in MIGRATIONS[found:]:
            change(self)
        self.run(
            "INSERT INTO about (name, said) VALUES ('schema', ?) "
            "ON CONFLICT (name) DO UPDATE SET said = excluded.said",
            str(LAYOUT),
        )

    def newest_time(self) -> int | None:
        """The newest time that a collector took to be right; none before the first."""
        sql = "SELECT seconds FROM clock WHERE name = ?"
        rows = self.rows(sql, NEWEST_TIME)
        return int(rows[0][0]) if rows else None

    def keep_time(self, seconds: int) -> None:
        """A time that was right: only a newer one is kept."""
        self.run(
            "INSERT INTO clock (name, seconds) VALUES (?, ?) "
            "ON CONFLICT (name) DO UPDATE SET seconds = excluded.seconds "
            "WHERE excluded.seconds > clock.seconds",
            NEWEST_TIME,
            seconds,
        )

    def confirm_time(self, seconds: int) -> None:
        """The operator says that it is right, even if it is an older one."""
        with self.transaction():
            self.run("DELETE FROM clock WHERE name = ?", NEWEST_TIME)
            self.keep_time(seconds)

    def write(
        self,
        arrivals: Sequence[Arrivals],
        told: Callable[[Written], Counters],
        seconds: int | None = None,
    ) -> Written:
        """One commit: reports, the counts of their numbers, what became of all, and the time.

        Reports first, then cells, then counters, each sorted: writers side by side then take
        their locks in the same order, and none waits for one that waits for it.
        """
        with self.transaction():
            tasks = self.rows("SELECT number, closed, swept FROM task")
            closed = frozenset(number for number, is_closed, _ in tasks if is_closed)
            swept = {number: last for number, _, last in tasks}
            known: dict[tuple[int, bytes], StoredReport] = {}
            cells: list[Cell] = []
            for each in sorted(arrivals, key=lambda a: a.task):
                is_closed = each.task in closed
                found = self.known(each.task, each.ids) if is_closed else self.add(each)
                known |= {(each.task, name): kept for name, kept in found.items()}
                if not is_closed:
                    cells += cells_of(each, found)
                    if each.epochs and min(each.epochs) <= swept.get(each.task, -1):
                        self._sweep_again(each.task, min(each.epochs))
            self.add_cells(cells)
            written = Written(known, closed)
            self.add_counters(told(written))
            if seconds is not None:
                self.keep_time(seconds)
        return written

    def _sweep_again(self, task: int, epoch: int) -> None:
        """Retention has passed an epoch that reports still come in for: the clock was ahead."""
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
        """Which of those that write side by side this is."""
        return 0


class Store(ABC):
    """A database that holds one collector's tasks and reports."""

    name: str
    """What may be shown: without passwords."""
    shared: bool
    """Whether several processes may write side by side."""

    @abstractmethod
    def connect(self, *, writes: bool = False) -> Connection:
        """A new connection; the one that ``writes`` reports takes a part of its own."""

    @abstractmethod
    def is_in_use(self) -> bool:
        """Whether a collector writes to it; of a file, whether anybody else has it open."""

    @abstractmethod
    def free_bytes(self) -> int | None:
        """Room left on the disk, if that can be known."""

    def tidy(self) -> None:  # noqa: B027 - most have nothing to do
        """Leave nothing of what was deleted beside the store, nor in which order it came."""


def cells_of(arrivals: Arrivals, known: Mapping[bytes, Any]) -> list[Cell]:
    """The numbers of those that are new, counted by epoch; sorted."""
    new = [k for k, name in enumerate(arrivals.ids) if name not in known]
    if not new:
        return []
    numbers = arrivals.numbers[new]
    epochs = np.repeat(np.asarray(arrivals.epochs, dtype=np.int64)[new], numbers.shape[1])
    pairs = np.stack([epochs, numbers.reshape(-1)], axis=1)
    found, often = np.unique(pairs, axis=0, return_counts=True)
    rows = zip(found.tolist(), often.tolist(), strict=True)
    return [(arrivals.task, epoch, value, n) for (epoch, value), n in rows]
