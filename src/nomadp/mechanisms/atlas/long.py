"""Long trajectories: reduced to a public number of control points, and interpolated back.

Only evenly spaced control points are perturbed. Between the reported ones, the trajectory is a
straight line, snapped to the nearest locations. This is post-processing.
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
    """Number of control points: all of up to 8; of more, 8 below epsilon 6 and 4 from there on.

    At a large epsilon a codebook distinguishes many places, and codewords are better spent on
    places than on intermediate points.
    """
    return FEWER if length > WHOLE and epsilon >= FEWER_FROM else min(length, WHOLE)


def control_positions(length: int, count: int) -> Ints:
    """Positions of the control points: all, or ``count`` evenly spaced ones."""
    return np.rint(np.linspace(0, length - 1, min(length, count))).astype(np.int64)


def interpolated(locations: LocationSet, control: Ints | TrajectoryTable, length: int) -> Ints:
    """Locations at all positions, (length, ...), from those of the control points."""
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
