"""The most visited part of a location set, for the study of its size (figure 5a)."""

import math

import numpy as np

from nomadp.errors import DomainError, InvalidArgument
from nomadp.locations import LocationSet
from nomadp.sequences import Indices
from nomadp.trajectory import TrajectorySet

__all__ = ["most_popular", "most_visited"]

SHORTEST = 2


def most_visited(visits: Indices, share: float, least: int = 1) -> Indices:
    """The most visited `share` of the locations, but at least so many; the first in a tie."""
    if not 0 < share <= 1:
        raise InvalidArgument(
            f"share must be above 0 and at most 1, got share={share}",
            code="share_out_of_range",
            share=share,
        )
    # Rounded first: 0.07 of 100 is 7, not the 8 that binary fractions would give.
    count = max(least, math.ceil(round(share * len(visits), 9)))
    return np.argsort(-visits, kind="stable")[:count]


def most_popular(
    locations: LocationSet, trajectories: TrajectorySet, share: float
) -> tuple[LocationSet, TrajectorySet]:
    """The most visited `share` of the locations, and what is left of the trajectories.

    Locations keep their order; of equally visited ones the first are kept. Points elsewhere
    are dropped, then trajectories of fewer than 2 points. Depends on the trajectories: for
    experiments, not for a set that protects anybody.
    """
    trajectories.check_size(len(locations))
    visits = np.bincount(trajectories.locations, minlength=len(locations))
    kept = np.sort(most_visited(visits, share, least=2))
    index = np.full(len(locations), -1, dtype=np.int64)
    index[kept] = np.arange(len(kept))
    location = index[trajectories.locations]
    owner = trajectories.owner
    length = np.bincount(owner[location >= 0], minlength=len(trajectories))
    long = np.flatnonzero(length >= SHORTEST)
    points = location[(location >= 0) & (length[owner] >= SHORTEST)]
    if not len(long):
        raise DomainError(
            f"no trajectory has 2 points among the most visited {len(kept)} locations; "
            "use a larger share",
            code="no_trajectories",
        )
    offsets = np.concatenate([[0], np.cumsum(length[long])])
    names = tuple(trajectories.tids[k] for k in long)
    return locations.subset(kept), TrajectorySet(offsets, points, names)
