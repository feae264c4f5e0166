"""Long trajectories through a public number of control points, and back.

A GPS track of hundreds of points says little more about where somebody went than a few of
them do. Only evenly spaced control points are perturbed; between the reported ones the
journey is a straight line, snapped to the nearest locations. It is post-processing.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nomadp.locations import LocationSet

__all__ = ["control_count", "control_positions", "interpolated"]

WHOLE = 8
"""Trajectories of up to so many points are reported through all of them."""


def control_count(epsilon: Fraction, length: int) -> int:
    """Through how many points a trajectory is reported: 4 of a longer one from epsilon 6 on.

    A book tells few places apart: more of them only where each is told apart well enough.
    """
    return 4 if length > WHOLE and epsilon >= 6 else WHOLE


def control_positions(length: int, count: int) -> NDArray[np.int64]:
    """Which positions of a trajectory are its control points: all, or ``count`` of them."""
    if length <= count:
        return np.arange(length)
    return np.rint(np.linspace(0, length - 1, count)).astype(np.int64)


def interpolated(locations: LocationSet, control: Any, length: int) -> list[Any]:
    """A location for every position, from those of the control points, (count, ...)."""
    if length == len(control):
        return [place if np.ndim(place) else int(place) for place in control]
    positions = control_positions(length, len(control))
    after = np.clip(np.searchsorted(positions, np.arange(length), "right"), 1, len(control) - 1)
    found = []
    for position, k in enumerate(after.tolist()):
        share = (position - positions[k - 1]) / (positions[k] - positions[k - 1])
        place = _between(locations, control[k - 1], control[k], share)
        found.append(place if np.ndim(place) else int(place))
    return found


def _between(locations: LocationSet, start: Any, end: Any, share: float) -> Any:
    """The location nearest to the point that lies this share of the way along."""
    if share in (0.0, 1.0):
        return end if share else start
    lat, lng = locations.lat, locations.lng
    turn = lng[end] - lng[start]
    turn = turn - 360.0 * np.round(turn / 360.0)
    there = lng[start] + share * turn
    there = there - 360.0 * np.round(there / 360.0)
    return locations.nearest(lat[start] + share * (lat[end] - lat[start]), there)
