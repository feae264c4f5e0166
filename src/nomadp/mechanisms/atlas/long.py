"""Long trajectories: reduced to a public number of control points, and interpolated again.

Only evenly spaced control points are perturbed. Between the reported ones, the trajectory is a
straight line, snapped to the nearest locations. This is post-processing.
"""

from fractions import Fraction

import numpy as np

from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.walks import TrajectoryTable

__all__ = ["control_count", "control_positions", "interpolated"]

WHOLE = 8  # length up to which all points are control points
FEWER = 4  # control points of longer trajectories, from the epsilon `FEWER_FROM` on
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
    places = np.empty((length, *control.shape[1:]), dtype=np.int64)
    places[at] = control
    for k in np.flatnonzero(np.diff(at) > 1):
        after, before, gap = control[k + 1], control[k], at[k + 1] - at[k]
        # The weight of the control point before falls from (gap - 1) / gap to 1 / gap.
        weight = (np.arange(gap - 1, 0, -1) / gap).reshape(-1, *[1] * (control.ndim - 1))
        # Take the short way around the date line, and return to [-180, 180].
        turn = lng[before] - lng[after]
        point_lng = lng[after] + weight * (turn - 360.0 * np.round(turn / 360.0))
        point_lng -= 360.0 * np.round(point_lng / 360.0)
        point_lat = lat[after] + weight * (lat[before] - lat[after])
        places[at[k] + 1 : at[k + 1]] = locations.nearest(point_lat, point_lng)
    return places
