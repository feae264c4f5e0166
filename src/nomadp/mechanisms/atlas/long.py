"""Long trajectories through a public number of control points, and back.

Only evenly spaced control points are perturbed; between the reported ones the journey is a
straight line, snapped to the nearest locations. It is post-processing.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from nomadp.laws import Ints
from nomadp.locations import LocationSet

__all__ = ["control_count", "control_positions", "interpolated"]

WHOLE = 8
FEWER = 4
FEWER_FROM = 6
_POINTS_AT_ONCE = 1 << 20


def control_count(epsilon: Fraction, length: int) -> int:
    """Of up to 8 points all; of more, 8 below epsilon 6 and 4 from there on.

    A book that tells many places apart has none to spare for points that lie between others.
    """
    return FEWER if length > WHOLE and epsilon >= FEWER_FROM else min(length, WHOLE)


def control_positions(length: int, count: int) -> Ints:
    """Which positions of a trajectory are its control points: all, or ``count`` of them."""
    return np.rint(np.linspace(0, length - 1, min(length, count))).astype(np.int64)


def interpolated(locations: LocationSet, control: Any, length: int) -> list[Any]:
    """A location for every position, from those of the control points, (count, ...)."""
    control = np.asarray(control)
    at, position = control_positions(length, len(control)), np.arange(length)
    k = np.searchsorted(at, position)
    back, gap = at[k] - position, at[k] - at[np.maximum(k - 1, 0)]
    share = np.divide(back, gap, out=np.zeros(length), where=back > 0)
    found = control[k].astype(np.int64)
    some = np.flatnonzero(share)
    step = max(1, _POINTS_AT_ONCE * len(control) // max(control.size, 1))
    for first in range(0, len(some), step):
        rows = some[first : first + step]
        part = share[rows].reshape(-1, *[1] * (control.ndim - 1))
        found[rows] = _between(locations, control[k[rows]], control[k[rows] - 1], part)
    return list(found) if control.ndim > 1 else found.tolist()


def _between(locations: LocationSet, start: Any, end: Any, share: Any) -> Any:
    """The location nearest to the point that lies this share of the way along."""
    lat, lng = locations.lat, locations.lng
    turn = lng[end] - lng[start]
    there = lng[start] + share * (turn - 360.0 * np.round(turn / 360.0))
    there = there - 360.0 * np.round(there / 360.0)
    return locations.nearest(lat[start] + share * (lat[end] - lat[start]), there)
