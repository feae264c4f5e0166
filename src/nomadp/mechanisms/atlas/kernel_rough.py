"""ATLAS: how far every journey is, roughly.

A distance is a series in the chord, in single precision: nothing is looked up, so a processor
works on many journeys at once. `Chart.off_km` says how far that can be off.
"""

import math
from typing import Any

import numpy as np

from nomadp.geometry import EARTH_RADIUS_KM
from nomadp.mechanisms.atlas.kernel_values import Chart
from nomadp.mechanisms.fast.compiling import part

__all__ = ["count_below", "rough_totals"]

_NOTHING = np.float32(0)
_QUARTER, _FARTHEST = np.float32(2), np.float32(4)  # squared chords of a quarter and half round
_HALF_ROUND_KM = np.float32(math.pi * EARTH_RADIUS_KM)


@part
def rough_totals(places: Any, chart: Chart, total_km: Any) -> None:
    """The summed distance of every journey to the places, up to ``off_km``."""
    total_km[:] = _NOTHING
    for position in range(len(places)):
        point, axis = chart.point[places[position]], chart.axis[position]
        if chart.folds:
            _add_arcs(point, axis, chart.series, total_km)
        else:
            _add_short_arcs(point, axis, chart.series, total_km)


@part
def _add_short_arcs(point: Any, axis: Any, series: Any, total_km: Any) -> None:
    x, y, z = point[0], point[1], point[2]
    a, b, c, d = series[0], series[1], series[2], series[3]
    for k in range(len(total_km)):
        east, north, up = axis[0, k] - x, axis[1, k] - y, axis[2, k] - z
        square = east * east + north * north + up * up
        total_km[k] += math.sqrt(square) * (a + square * (b + square * (c + square * d)))


@part
def _add_arcs(point: Any, axis: Any, series: Any, total_km: Any) -> None:
    """Arcs of more than a quarter are half a round less the arc from the far end."""
    x, y, z = point[0], point[1], point[2]
    a, b, c, d = series[0], series[1], series[2], series[3]
    for k in range(len(total_km)):
        east, north, up = axis[0, k] - x, axis[1, k] - y, axis[2, k] - z
        square = east * east + north * north + up * up
        is_long = square > _QUARTER
        square = max(_NOTHING, _FARTHEST - square) if is_long else square
        arc_km = math.sqrt(square) * (a + square * (b + square * (c + square * d)))
        total_km[k] += _HALF_ROUND_KM - arc_km if is_long else arc_km


@part
def count_below(values: Any, limit: Any) -> int:
    smaller = 0
    for k in range(len(values)):
        if values[k] < limit:
            smaller += 1
    return smaller
