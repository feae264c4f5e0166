"""The most visited locations of a set, for the study of its size (figure 5a)."""

import math

import numpy as np

from nomadp.errors import DomainError, InvalidArgument
from nomadp.locations import LocationSet
from nomadp.sequences import Indices
from nomadp.trajectory import TrajectorySet

__all__ = ["most_popular", "most_visited"]

SHORTEST = 2


def most_visited(visits: Indices, share: float, least: int = 1) -> Indices:
    """The most visited `share` of the locations, but at least ``least`` of them.

    In a tie, the first locations are kept.
    """
    if not 0 < share <= 1:
        raise InvalidArgument(
            f"share must be above 0 and at most 1, got share={share}",
            code="share_out_of_range",
            share=share,
        )
    # Rounded before ceil: 0.07 of 100 is 7, but 7.000000000000001 in floats would give 8.
    count = max(least, math.ceil(round(share * len(visits), 9)))
    return np.argsort(-visits, kind="stable")[:count]


def most_popular(
    locations: LocationSet, trajectories: TrajectorySet, share: float
) -> tuple[LocationSet, TrajectorySet]:
    """The most visited `share` of the locations, and the trajectories restricted to them.

    Locations keep their order. Points elsewhere are dropped, then trajectories of fewer than 2
    points. The result depends on private data: use it for experiments only, never as the public
    location set of a task.
    """
    trajectories.check_size(len(locations))
    visits = np.bincount(trajectories.locations, minlength=len(locations))
    chosen = np.sort(most_visited(visits, share, least=2))
    index = np.full(len(locations), -1, dtype=np.int64)
    index[chosen] = np.arange(len(chosen))
    location = index[trajectories.locations]
    owner = trajectories.owner
    length = np.bincount(owner[location >= 0], minlength=len(trajectories))
    rows = np.flatnonzero(length >= SHORTEST)
    points = location[(location >= 0) & (length[owner] >= SHORTEST)]
    if not len(rows):
        raise DomainError(
            "at least one trajectory must have 2 points at the most visited "
            f"{len(chosen)} locations, got none; use a larger share",
            code="no_trajectories",
        )
    offsets = np.concatenate([[0], np.cumsum(length[rows])])
    names = tuple(trajectories.tids[k] for k in rows)
    return locations.subset(chosen), TrajectorySet(offsets, points, names)
