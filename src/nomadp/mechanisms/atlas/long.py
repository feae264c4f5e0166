"""Long trajectories through a public number of control points, and back.

Only evenly spaced control points are perturbed; between the reported ones the journey is a
straight line, snapped to the nearest locations. It is post-processing.
"""

from fractions import Fraction

import numpy as np

from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.walks import TrajectoryTable

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


def interpolated(locations: LocationSet, control: Ints | TrajectoryTable, length: int) -> Ints:
    """A location for every position, (length, ...), from those of the control points."""
    at, lat, lng = control_positions(length, len(control)), locations.lat, locations.lng
    found = np.empty((length, *control.shape[1:]), dtype=np.int64)
    found[at] = control
    for k in np.flatnonzero(np.diff(at) > 1):
        start, end, gap = control[k + 1], control[k], at[k + 1] - at[k]
        share = (np.arange(gap - 1, 0, -1) / gap).reshape(-1, *[1] * (control.ndim - 1))
        turn = lng[end] - lng[start]
        there = lng[start] + share * (turn - 360.0 * np.round(turn / 360.0))
        there -= 360.0 * np.round(there / 360.0)
        here = lat[start] + share * (lat[end] - lat[start])
        found[at[k] + 1 : at[k + 1]] = locations.nearest(here, there)
    return found
