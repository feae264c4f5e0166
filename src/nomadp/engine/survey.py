"""One look at all trajectories before the first draw: what cannot be perturbed is refused here.

A tid that occurred twice would give two trajectories the same words, and their reports would
tell about each other. So the tids are compared exactly, in 8 bytes of memory for each.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nomadp.engine.local import Progress
from nomadp.errors import SchemaError
from nomadp.formats.nested_files import NestedFile
from nomadp.locations import LocationSet

__all__ = ["Survey", "survey"]

SUSPECTS_MAX = 100_000
"""Tids compared in full at a time."""


@dataclass(frozen=True)
class Survey:
    """What a file of trajectories holds. All of it is public: lengths are."""

    trajectories: int
    points: int
    single: int
    """Trajectories of one location."""


def survey(
    source: NestedFile, locations: LocationSet, progress: Progress | None = None
) -> Survey:
    """Every trajectory is over these locations, and no tid occurs twice; or a refusal."""
    hashes = np.empty(source.rows, dtype=np.int64)
    points = single = 0
    for row, batch in source.batches():
        found = source.trajectories(row, batch, locations)
        hashes[row : row + len(found)] = _hashes(found.tids)
        points += len(found.locations)
        single += int(np.count_nonzero(found.lengths == 1))
        if progress is not None:
            progress(len(found))
    _check_unique(source, locations, hashes)
    return Survey(source.rows, points, single)


def _hashes(tids: tuple[str, ...]) -> NDArray[np.int64]:
    # Python's own hash: 64 bits, under a key that changes from process to process.
    return np.fromiter(map(hash, tids), np.int64, len(tids))


def _check_unique(
    source: NestedFile, locations: LocationSet, hashes: NDArray[np.int64]
) -> None:
    hashes.sort()
    twice = hashes[1:][hashes[1:] == hashes[:-1]]
    # Equal tids have equal hashes; once in a great while different ones do, too.
    for first in range(0, len(twice), SUSPECTS_MAX):
        suspects = np.unique(twice[first : first + SUSPECTS_MAX])
        if _any_equal(_tids_with(source, locations, suspects)):
            raise SchemaError(
                f"{source.path}: every tid must name one trajectory, got {len(twice)} repeated "
                f"of {source.rows}; number the trajectories, or keep only one of each tid"
            )


def _tids_with(
    source: NestedFile, locations: LocationSet, suspects: NDArray[np.int64]
) -> Iterator[str]:
    for row, batch in source.batches():
        tids = source.trajectories(row, batch, locations).tids
        for k in np.flatnonzero(np.isin(_hashes(tids), suspects)):
            yield tids[k]


def _any_equal(tids: Iterator[str]) -> bool:
    seen: set[Any] = set()
    for tid in tids:
        if tid in seen:
            return True
        seen.add(tid)
    return False
