"""Results on disk: one file for each unit of work, so that an interrupted run can resume.

Files are written atomically, so each is complete or absent. A file is named by the hash of its
work's identity and repeats the identity, so a result is never used for other work. All
repetitions of a setting, reported and decoded, run in one process, which constructs their
mechanism and draws their reports once.
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nomadp.engine.workers import run_all
from nomadp.formats.atomic import write_file
from nomadp.paper.cells import Cell, Work
from nomadp.paper.datasets import Catalogue

__all__ = ["Progress", "Store", "complete_all", "missing"]

ABANDONED_S = 600
"""A partial file of this age belongs to a run that was killed: writing one takes no time."""


@dataclass(frozen=True)
class Store:
    """The folder of an experiment's results."""

    folder: Path

    def find(self, work: Work, catalogue: Catalogue) -> dict[str, Any] | None:
        """The result, or None if there is no valid file for exactly this work."""
        identity = work.identity(catalogue)
        try:
            record = json.loads(self._path(work, identity).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        expected = json.loads(json.dumps(identity))  # tuples become lists
        if not isinstance(record, dict) or record.get("identity") != expected:
            return None
        result = record.get("result")
        return result if isinstance(result, dict) else None

    def complete(self, work: Work, catalogue: Catalogue) -> None:
        """Compute a unit of work and store its result."""
        started_s = time.perf_counter()
        result = work.compute(catalogue)
        identity = work.identity(catalogue)
        seconds = round(time.perf_counter() - started_s, 3)
        record = {"identity": identity, "result": result, "seconds": seconds}
        content = json.dumps(record, indent=1, allow_nan=False).encode()
        write_file(self._path(work, identity), content)

    def remove_abandoned_parts(self) -> None:
        """Delete the partial files of runs that were killed while writing."""
        for part in self.folder.glob("*/.part-*"):
            if time.time() - part.stat().st_mtime > ABANDONED_S:
                part.unlink(missing_ok=True)

    def _path(self, work: Work, identity: dict[str, Any]) -> Path:
        text = json.dumps(identity, sort_keys=True)
        key = hashlib.sha256(text.encode()).hexdigest()[:24]
        return self.folder / work.kind / f"{key}.json"


Progress = Callable[[int], None]
"""Called with the number of units of work that were finished since its last call."""


def missing(works: Iterable[Work], catalogue: Catalogue, store: Store) -> list[Work]:
    """The works that are not in the store, without duplicates, in the same order."""
    return [work for work in dict.fromkeys(works) if store.find(work, catalogue) is None]


def complete_all(
    works: Sequence[Work], catalogue: Catalogue, store: Store, *, jobs: int, progress: Progress
) -> None:
    """Compute and store these works in parallel; the first failure stops all and is raised."""
    batches = _batches(works)
    calls = [partial(_complete, batch) for batch in batches]
    with closing(run_all((catalogue, store), calls, jobs)) as finished:
        for _, count in finished:
            progress(count)


def _batches(works: Iterable[Work]) -> list[list[Work]]:
    """Group works that share a mechanism, and within a group sort those that share reports."""
    batches: dict[object, list[Work]] = {}
    for work in works:
        key = work.setting.reports if isinstance(work, Cell) else work
        batches.setdefault(key, []).append(work)
    # The cache of reports (`cells._reported`) is small: keep equal repetitions adjacent.
    return [
        sorted(batch, key=lambda work: getattr(work, "repetition", 0))
        for batch in batches.values()
    ]


def _complete(batch: Sequence[Work], shared: tuple[Catalogue, Store]) -> int:
    catalogue, store = shared
    for work in batch:
        store.complete(work, catalogue)
    return len(batch)
