"""Statistics of tracks before there is a location set: counts, lengths, intervals and gaps.

These are exact statistics of the raw data for the person who has them, without any privacy
protection. They contain no places; a bounding box is given only on request, and is coarse.
"""

import math
from dataclasses import dataclass

import numpy as np

from nomadp.datasets.statistics import quantiles
from nomadp.formats.points import HOUR_US, Points

__all__ = ["TrackDescription", "coarse_box", "describe_tracks"]

QUANTILES = (0.0, 0.05, 0.5, 0.95, 1.0)
SECOND_US = 1_000_000
DAY_US = 24 * HOUR_US
GAP_HOURS = 1
TENTHS = 10
"""A coarse box is in tenths of a degree, which is about 11 km."""


@dataclass(frozen=True)
class TrackDescription:
    """Quantiles are over trajectories; those of intervals are over consecutive points."""

    trajectories: int
    points: int
    users: int | None
    """None if no source has user ids."""
    of_one_point: int
    timed: bool
    days: int | None
    """From the first to the last day, inclusive; None without times."""
    points_each: dict[str, float]
    way_km: dict[str, float]
    """Length of the straight lines between the points."""
    hours: dict[str, float] | None
    interval_s: dict[str, float] | None
    gaps: int | None
    """Number of intervals of more than an hour within trajectories."""


def describe_tracks(points: Points) -> TrackDescription:
    """The statistics of the points of trajectories."""
    first, last = points.offsets[:-1], points.offsets[1:] - 1
    is_step = np.diff(points.owner) == 0
    moment_us = points.moment_us
    days = hours = interval_s = gaps = None
    if moment_us is not None:
        days = int(moment_us.max() // DAY_US - moment_us.min() // DAY_US) + 1
        hours = quantiles(QUANTILES, (moment_us[last] - moment_us[first]) / HOUR_US)
        interval_us = np.diff(moment_us)[is_step]
        interval_s = quantiles(QUANTILES, interval_us / SECOND_US) if len(interval_us) else None
        gaps = int(np.count_nonzero(interval_us > GAP_HOURS * HOUR_US))
    return TrackDescription(
        trajectories=len(points.tids),
        points=len(points),
        users=None if points.people is None else points.people.count,
        of_one_point=int(np.count_nonzero(points.lengths == 1)),
        timed=moment_us is not None,
        days=days,
        points_each=quantiles(QUANTILES, points.lengths),
        way_km=quantiles(QUANTILES, np.add.reduceat(points.steps_km(), first)),
        hours=hours,
        interval_s=interval_s,
        gaps=gaps,
    )


def coarse_box(points: Points) -> str:
    """The bounding box west,south,east,north, rounded outwards to tenths of a degree."""
    sides = (
        math.floor(float(points.lng.min()) * TENTHS),
        math.floor(float(points.lat.min()) * TENTHS),
        math.ceil(float(points.lng.max()) * TENTHS),
        math.ceil(float(points.lat.max()) * TENTHS),
    )
    return ",".join(f"{side / TENTHS:g}" for side in sides)
