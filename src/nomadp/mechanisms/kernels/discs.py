"""The disc a copy of a trajectory is confined to, in a large set."""

import math
from typing import Any

import numpy as np

from nomadp.geometry import EARTH_RADIUS_KM
from nomadp.mechanisms.kernels.compiling import part
from nomadp.mechanisms.kernels.draws import square_wave
from nomadp.mechanisms.kernels.farthest import farthest_km
from nomadp.mechanisms.kernels.proposals import anywhere
from nomadp.mechanisms.kernels.region import explained, pulled
from nomadp.mechanisms.kernels.sights import km_between
from nomadp.mechanisms.kernels.values import Balls, Plan

__all__ = ["draw_disc", "sampled_km"]

_DIAMETER_KM = 2 * EARTH_RADIUS_KM


@part
def draw_disc(words: Any, used: int, secret: Any, balls: Balls, plan: Plan) -> Any:
    """Anchor, radius, span, and the words used so far; anchor -1 is the whole set.

    ``secret`` is the places, their mean location, and room for nodes that wait.
    """
    places, mean, pending = secret
    if plan.anchor[1] <= 0:
        return (-1, 0.0, plan.diameter_km), used
    scale = plan.anchor[0] / (2 * plan.diameter_km) if plan.diameter_km > 0 else 0.0
    anchor, used = anywhere(words, used, (mean, (scale, 0.0, plan.anchor[1])), balls)
    radius_km = plan.calibration[2]
    if radius_km < 0:
        radius_km = _radius(words[used:], anchor, (places, pending), balls, plan)
        used += 1
    return (anchor, radius_km, min(plan.diameter_km, 2 * radius_km)), used


@part
def _radius(word: Any, anchor: int, secret: Any, balls: Balls, plan: Plan) -> float:
    """The perturbed, calibrated distance from the anchor to the farthest of the places."""
    places, pending = secret
    farthest, reach = farthest_km(balls, anchor, pending), 0.0
    for place in places:
        reach = max(reach, km_between(balls.rows, anchor, place))
    resolution = plan.wave[0]
    relative = reach / farthest if farthest > 0 else 0.0
    cell = min(np.int64(relative * resolution), resolution - 1)
    return sampled_km(anchor, square_wave(word, 0, cell, plan.wave), farthest, balls, plan)


@part
def sampled_km(anchor: int, cell: int, farthest: float, balls: Balls, plan: Plan) -> float:
    """The calibrated radius of calibration.py, from the distances to its public sample."""
    if farthest == 0.0:
        return 0.0
    radius, first_km, last_km = explained(cell, farthest, plan)
    rows, sample = balls.rows, balls.sample
    sin_a, cos_a, sin_o, cos_o = (
        rows[anchor, 0],
        rows[anchor, 1],
        rows[anchor, 2],
        rows[anchor, 3],
    )
    inside = outside = 0.0
    count, size = 0, sample.shape[1]
    for k in range(size):
        sin_lng = sample[2, k] * cos_o - sample[3, k] * sin_o
        cos_lng = sample[3, k] * cos_o + sample[2, k] * sin_o
        sin_lat = (sample[0, k] * cos_a - sample[1, k] * sin_a) * cos_lng
        cos_mid = (cos_a * sample[1, k] - sin_a * sample[0, k]) * sin_lng
        half = math.sqrt(sin_lat * sin_lat + cos_mid * cos_mid)
        km = _DIAMETER_KM * math.asin(min(half, 1.0))
        if first_km <= km <= last_km:
            inside, count = inside + km, count + 1
        else:
            outside += km
    return pulled((radius, farthest), (count, inside), (size - count, outside), plan)
