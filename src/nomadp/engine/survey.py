"""One look at all trajectories before the first draw: what cannot be perturbed is refused here.

A tid that occurred twice would give two trajectories the same words, and their reports would
tell about each other. So the tids are compared exactly, in 8 bytes of memory for each.
"""

from dataclasses import dataclass

import numpy as np

from nomadp.engine.local import Progress
from nomadp.errors import SchemaError
from nomadp.formats.nested_files import NestedFile, repeated_tids
from nomadp.locations import LocationSet

__all__ = ["Survey", "survey"]


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
    points = single = 0
    for row, batch in source.batches():
        found = source.trajectories(row, batch, locations)
        points += len(found.locations)
        single += int(np.count_nonzero(found.lengths == 1))
        if progress is not None:
            progress(len(found))
    again = repeated_tids(source)
    if again:
        raise SchemaError(
            f"{source.path}: every tid must name one trajectory, got {again} repeated of "
            f"{source.rows}; number the trajectories, or keep only one of each tid"
        )
    return Survey(source.rows, points, single)
