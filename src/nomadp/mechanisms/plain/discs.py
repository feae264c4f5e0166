"""The discs that copies of trajectories are confined to, in a large set."""

import math
from typing import NamedTuple

import numpy as np

from nomadp.geometry import EARTH_RADIUS_KM, Floats
from nomadp.laws import Ints
from nomadp.mechanisms.fast.arrays import square_wave
from nomadp.mechanisms.fast.values import Balls, Plan
from nomadp.mechanisms.plain.farthest import farthest_km
from nomadp.mechanisms.plain.proposals import Draws, anywhere
from nomadp.mechanisms.plain.region import Journeys, explained, points_of, pulled, reach_cells
from nomadp.mechanisms.plain.rows import Near, Rows
from nomadp.mechanisms.plain.sights import km_between

__all__ = ["LargeDisc", "draw_large_discs", "sampled_km"]

_DIAMETER_KM = 2 * EARTH_RADIUS_KM
_AT_ONCE = 2**16  # anchors times locations of the sample: what stays in a processor's cache


class LargeDisc(NamedTuple):
    """Where each trajectory's copy is drawn; no anchors stand for the whole set."""

    anchor: Ints | None
    radius_km: Floats
    span_km: Floats

    def some(self, some: Ints) -> "LargeDisc":
        anchor = None if self.anchor is None else self.anchor[some]
        return LargeDisc(anchor, self.radius_km[some], self.span_km[some])


def draw_large_discs(
    rows: Rows, which: Ints, secret: Journeys, balls: Balls, plan: Plan
) -> LargeDisc:
    """A disc for each of these trajectories; the whole set where the plan has none."""
    count, diameter_km = len(which), np.full(len(which), plan.diameter_km)
    if plan.anchor[1] <= 0:
        return LargeDisc(None, np.zeros(count), diameter_km)
    scale = plan.anchor[0] / (2 * plan.diameter_km) if plan.diameter_km > 0 else 0.0
    law = np.full(count, scale), np.zeros(count), np.full(count, int(plan.anchor[1]))
    anchor = anywhere(Draws(rows, which, Near(secret.means[which], *law), balls))
    radius_km = np.full(count, float(plan.calibration[2]))
    if plan.calibration[2] < 0:
        point, owner, begin = points_of(which, secret)
        place_km = km_between(balls.rows, anchor[owner], secret.locations[point])
        far_km = farthest_km(balls, anchor)
        cell = reach_cells(np.maximum.reduceat(place_km, begin), far_km, plan)
        reported = square_wave(rows.take(which), cell, plan.wave)
        radius_km = sampled_km(anchor, (reported, far_km), balls, plan)
    return LargeDisc(anchor, radius_km, np.minimum(diameter_km, 2 * radius_km))


def sampled_km(anchor: Ints, reported: tuple[Ints, Floats], balls: Balls, plan: Plan) -> Floats:
    """The calibrated radii of calibration.py, from the distances to its public sample.

    ``reported`` are cells, and how far the farthest location is.
    """
    cell, far_km = reported
    radius, first_km, last_km = explained(cell, far_km, plan)
    count = np.empty(len(anchor), dtype=np.int64)
    inside, outside = np.empty((2, len(anchor)))
    step = max(1, _AT_ONCE // balls.sample.shape[1])
    for start in range(0, len(anchor), step):
        some = slice(start, start + step)
        km = _DIAMETER_KM * _angles(_halves(balls, anchor[some]))
        within = (first_km[some, None] <= km) & (km <= last_km[some, None])
        count[some] = np.count_nonzero(within, axis=1)
        inside[some] = _summed(np.where(within, km, 0.0))
        outside[some] = _summed(np.where(within, 0.0, km))
    size = balls.sample.shape[1]
    return pulled((radius, far_km), (count, inside), (size - count, outside), plan)


def _summed(km: Floats) -> Floats:
    """The sum of each row, one after the other: numpy's own sum would pair them up."""
    return np.asarray(np.cumsum(km, axis=1)[:, -1])


def _halves(balls: Balls, anchor: Ints) -> Floats:
    """The squared sines of half the angles to the sample: (anchors, sample)."""
    sin_a, cos_a, sin_o, cos_o = balls.rows[anchor, :4].T[:, :, None]
    sample = balls.sample
    sin_lng = sample[2] * cos_o - sample[3] * sin_o
    cos_lng = sample[3] * cos_o + sample[2] * sin_o
    sin_lat = (sample[0] * cos_a - sample[1] * sin_a) * cos_lng
    cos_mid = (cos_a * sample[1] - sin_a * sample[0]) * sin_lng
    return np.asarray(np.minimum(sin_lat * sin_lat + cos_mid * cos_mid, 1.0))


def _angles(squares: Floats) -> Floats:
    """The angle of each squared sine, by the kernels' series: a border may depend on it."""
    smaller = np.minimum(squares, 1 - squares)
    at, value = 4 * smaller - 1, np.full(squares.shape, kernel_arcs.SERIES[0])
    for following in kernel_arcs.SERIES[1:]:
        value = value * at + following
    angle = np.sqrt(smaller) * value
    return np.asarray(np.where(squares <= 0.5, angle, math.pi / 2 - angle))
