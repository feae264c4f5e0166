"""The discs that copies of trajectories are confined to: kernels/region.py in numpy."""

import math
from typing import NamedTuple

import numpy as np

from nomadp.geometry import Floats
from nomadp.laws import Ints
from nomadp.mechanisms.fast.arrays import leading, square_wave
from nomadp.mechanisms.fast.values import Plan, Tables
from nomadp.mechanisms.plain.ragged import runs
from nomadp.mechanisms.plain.rows import Domain, Near, Rows, draw_near

__all__ = [
    "Disc",
    "Journeys",
    "calibrated_km",
    "draw_discs",
    "explained",
    "points_of",
    "pulled",
    "reach_cells",
]


class Disc(NamedTuple):
    """Where each trajectory's copy is drawn; no anchors stand for the whole set."""

    domain: Domain
    anchor: Ints | None
    radius_km: Floats
    span_km: Floats

    def some(self, some: Ints) -> "Disc":
        """Those of some trajectories."""
        return Disc(
            Domain(self.domain.members, self.domain.start[some], self.domain.size[some]),
            None if self.anchor is None else self.anchor[some],
            self.radius_km[some],
            self.span_km[some],
        )


class Journeys(NamedTuple):
    """Trajectories, one after the other, and the location nearest to the mean of each."""

    offsets: Ints
    locations: Ints
    means: Ints


def _everywhere(size: int, rows: int) -> Domain:
    """The whole set, for so many draws."""
    return Domain(np.arange(size), np.zeros(rows, dtype=np.int64), np.full(rows, size))


def draw_discs(rows: Rows, which: Ints, secret: Journeys, tables: Tables, plan: Plan) -> Disc:
    """A disc for each of these trajectories; the whole set where the plan has none."""
    count, size = len(which), len(tables.distance_km)
    whole, diameter_km = _everywhere(size, count), np.full(count, plan.diameter_km)
    if plan.anchor[1] <= 0:
        return Disc(whole, None, np.zeros(count), diameter_km)
    scale = plan.anchor[0] / (2 * plan.diameter_km) if plan.diameter_km > 0 else 0.0
    law = np.full(count, scale), np.zeros(count), np.full(count, int(plan.anchor[1]))
    near = Near(secret.means[which], *law)
    anchor = draw_near(rows, which, near, whole, tables.distance_km)
    radius_km = np.full(count, float(plan.calibration[2]))
    if plan.calibration[2] < 0:
        cell = _cells(anchor, which, secret, tables, plan)
        reported = square_wave(rows.take(which), cell, plan.wave)
        radius_km = calibrated_km(anchor, reported, tables, plan)
    held = Domain(tables.order.reshape(-1), anchor * size, _within(tables, anchor, radius_km))
    if not plan.union:
        diameter_km = np.minimum(diameter_km, 2 * radius_km)
    return Disc(held, anchor, radius_km, diameter_km)


def _cells(anchor: Ints, which: Ints, secret: Journeys, tables: Tables, plan: Plan) -> Ints:
    """How far the farthest place of each trajectory is from its anchor, as a cell."""
    point, owner, begin = points_of(which, secret)
    place_km = tables.distance_km[anchor[owner], secret.locations[point]]
    reach_km = np.maximum.reduceat(place_km, begin)
    return reach_cells(reach_km, _farthest_km(tables, anchor), plan)


def points_of(which: Ints, secret: Journeys) -> tuple[Ints, Ints, Ints]:
    """The points of these trajectories, whose each is, and where those of each begin."""
    size = np.diff(secret.offsets)[which]
    return *runs(secret.offsets[which], size), np.cumsum(size) - size


def reach_cells(reach_km: Floats, farthest: Floats, plan: Plan) -> Ints:
    """How far trajectories reach, as cells of the way to the farthest location."""
    relative, resolution = _ratio(reach_km, farthest), int(plan.wave[0])
    return np.minimum((relative * resolution).astype(np.int64), resolution - 1)


def _farthest_km(tables: Tables, anchor: Ints) -> Floats:
    return np.asarray(tables.distance_km[anchor, tables.order[anchor, -1]])


def _within(tables: Tables, anchor: Ints, limit_km: Floats) -> Ints:
    """How many locations are at most that far from each anchor."""
    return leading(
        lambda at: tables.distance_km[anchor, tables.order[anchor, at]] <= limit_km,
        len(anchor),
        len(tables.order),
    )


def calibrated_km(anchor: Ints, cell: Ints, tables: Tables, plan: Plan) -> Floats:
    """The calibrated radii of calibration.py, from sorted distances and their sums."""
    farthest, size = _farthest_km(tables, anchor), len(tables.order)
    radius, first_km, last_km = explained(cell, farthest, plan)
    low = _within(tables, anchor, np.nextafter(first_km, -1.0))
    high = _within(tables, anchor, last_km)
    inside = tables.sums_km[anchor, high] - tables.sums_km[anchor, low]
    outside = tables.sums_km[anchor, size] - inside
    known = (high - low, inside), (size - high + low, outside)
    return pulled((radius, farthest), *known, plan)


Summed = tuple[Ints, Floats]
"""So many locations, and the sum of their distances."""


def pulled(radii: tuple[Floats, Floats], inside: Summed, outside: Summed, plan: Plan) -> Floats:
    """Radii pulled towards the centre; ``radii`` are they, and how far the farthest is."""
    radius, farthest = radii
    density = plan.calibration[1]
    weight = density * inside[0] + (1 - density) * outside[0]
    centre = _ratio(density * inside[1] + (1 - density) * outside[1], weight)
    calibrated = np.where(weight <= 0.0, radius, _pulled(radius, centre, farthest, plan))
    return np.where(farthest == 0.0, 0.0, calibrated)


def explained(cell: Ints, farthest: Floats, plan: Plan) -> tuple[Floats, Floats, Floats]:
    """The uncalibrated radius of a reported cell, and from where to where it is plausible."""
    width = plan.wave[1] / plan.wave[0]
    stretch = farthest / (2 * width + 1)
    reported = (cell + 0.5) / plan.wave[0] - width
    first, last = _plausible(reported, width)
    return (reported + width) * stretch, (first + width) * stretch, (last + width) * stretch


def _plausible(reported: Floats, width: float) -> tuple[Floats, Floats]:
    """The smallest and the largest test value that explain a report; else the nearest one."""
    first, last = np.full(len(reported), 2.0), np.full(len(reported), -1.0)
    nearest = np.zeros(len(reported))
    for value in (k / 10 for k in range(11)):
        apart = np.abs(value - reported)
        first = np.where(apart <= width, np.minimum(first, value), first)
        last = np.where(apart <= width, value, last)
        nearest = np.where(apart < np.abs(nearest - reported), value, nearest)
    return np.where(last < 0, nearest, first), np.where(last < 0, nearest, last)


def _pulled(radius: Floats, centre: Floats, farthest: Floats, plan: Plan) -> Floats:
    """Radii pulled towards the centre."""
    below_it = _ratio(centre - radius, centre)
    beyond_it = _ratio(radius - centre, farthest - centre)
    beta = np.where(radius <= centre, below_it, beyond_it)
    pull = math.exp(-plan.calibration[0]) / (1 + np.exp(-beta / 2))
    return np.clip(radius + (centre - radius) * pull, 0.0, farthest)


def _ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole, and 0 where there is no whole."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
