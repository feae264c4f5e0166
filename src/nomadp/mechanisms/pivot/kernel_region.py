"""The disc a copy of a trajectory is confined to."""

import math
from typing import Any

import numpy as np

from nomadp.mechanisms.fast.compiling import kernel, part
from nomadp.mechanisms.fast.draws import near, square_wave, within
from nomadp.mechanisms.fast.values import Plan, Tables

__all__ = ["calibrated_km", "draw_anchor", "draw_radius", "explained", "pulled"]


@kernel
def draw_anchor(words: Any, used: int, mean: int, tables: Tables, plan: Plan) -> Any:
    """The perturbed mean location, and the words used so far."""
    everywhere = np.arange(len(tables.distance_km))
    scale = plan.anchor[0] / (2 * plan.diameter_km) if plan.diameter_km > 0 else 0.0
    law = (scale, 0.0, plan.anchor[1])
    return near(words, used, everywhere, tables.distance_km[mean], law)


@kernel
def draw_radius(word: Any, anchor: int, places: Any, tables: Tables, plan: Plan) -> float:
    """The perturbed, calibrated distance from the anchor to the farthest of the places."""
    row_km, order = tables.distance_km[anchor], tables.order[anchor]
    farthest, reach = row_km[order[len(order) - 1]], 0.0
    for place in places:
        reach = max(reach, row_km[place])
    resolution = plan.wave[0]
    relative = reach / farthest if farthest > 0 else 0.0
    cell = min(np.int64(relative * resolution), resolution - 1)
    return calibrated_km(anchor, square_wave(word, 0, cell, plan.wave), tables, plan)


@kernel
def calibrated_km(anchor: int, cell: int, tables: Tables, plan: Plan) -> float:
    """The calibrated radius of calibration.py, from sorted distances and their sums."""
    order, row_km = tables.order[anchor], tables.distance_km[anchor]
    size = len(order)
    farthest = row_km[order[size - 1]]
    if farthest == 0.0:
        return 0.0
    radius, first_km, last_km = explained(cell, farthest, plan)
    low = within(row_km, order, np.nextafter(first_km, -1.0))
    high = within(row_km, order, last_km)
    inside = tables.sums_km[anchor, high] - tables.sums_km[anchor, low]
    outside = tables.sums_km[anchor, size] - inside
    return pulled((radius, farthest), (high - low, inside), (size - high + low, outside), plan)


@part
def explained(cell: int, farthest: float, plan: Plan) -> Any:
    """The uncalibrated radius of a reported cell, and from where to where it is plausible."""
    width = plan.wave[1] / plan.wave[0]
    stretch = farthest / (2 * width + 1)
    reported = (cell + 0.5) / plan.wave[0] - width
    first, last = _plausible(reported, width)
    return (reported + width) * stretch, (first + width) * stretch, (last + width) * stretch


@part
def pulled(radii: Any, inside: Any, outside: Any, plan: Plan) -> float:
    """A radius pulled towards the centre; in- and outside are (locations, summed km)."""
    radius, farthest = radii
    density = plan.calibration[1]
    weight = density * inside[0] + (1 - density) * outside[0]
    if weight <= 0.0:
        return radius
    centre = (density * inside[1] + (1 - density) * outside[1]) / weight
    if radius <= centre:
        beta = (centre - radius) / centre if centre > 0 else 0.0
    else:
        beta = (radius - centre) / (farthest - centre)
    pull = math.exp(-plan.calibration[0]) / (1 + math.exp(-beta / 2))
    return min(max(radius + (centre - radius) * pull, 0.0), farthest)


@part
def _plausible(reported: float, width: float) -> Any:
    """The smallest and the largest test value that explain a report; else the nearest one."""
    first, last, nearest = 2.0, -1.0, 0.0
    for k in range(11):
        value = k / 10
        if abs(value - reported) <= width:
            first, last = min(first, value), value
        if abs(value - reported) < abs(nearest - reported):
            nearest = value
    return (nearest, nearest) if last < 0 else (first, last)
