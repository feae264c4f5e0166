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
    at = control_positions(length, len(control))
    found = []
    for position in range(length):
        k = int(np.searchsorted(at, position))
        share = (at[k] - position) / (at[k] - at[k - 1]) if at[k] > position else 0.0
        place = _between(locations, control[k], control[k - 1], share) if share else control[k]
        found.append(place if np.ndim(place) else int(place))
    return found


def _between(locations: LocationSet, start: Any, end: Any, share: float) -> Any:
    """The location nearest to the point that lies this share of the way along."""
    lat, lng = locations.lat, locations.lng
    turn = lng[end] - lng[start]
    there = lng[start] + share * (turn - 360.0 * np.round(turn / 360.0))
    there = there - 360.0 * np.round(there / 360.0)
    return locations.nearest(lat[start] + share * (lat[end] - lat[start]), there)
