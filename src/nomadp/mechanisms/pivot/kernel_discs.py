"""The disc a copy of a trajectory is confined to, in a large set."""

from typing import Any

import numpy as np

from nomadp.geometry import EARTH_RADIUS_KM
from nomadp.mechanisms.fast.compiling import kernel, part
from nomadp.mechanisms.fast.draws import square_wave
from nomadp.mechanisms.fast.values import Balls, Plan
from nomadp.mechanisms.large.farthest import DEEPEST, farthest_km
from nomadp.mechanisms.large.pairs import km_between
from nomadp.mechanisms.large.rejection import anywhere
from nomadp.mechanisms.pivot.kernel_arcs import to_angles
from nomadp.mechanisms.pivot.kernel_region import explained, pulled

__all__ = ["draw_disc", "new_disc_room", "sampled_km"]

_DIAMETER_KM = 2 * EARTH_RADIUS_KM


@kernel
def new_disc_room(balls: Balls) -> Any:
    """Room for nodes that wait, and for the angles to the sample."""
    return np.empty(DEEPEST, dtype=np.int32), np.empty((3, balls.sample.shape[1]))


@part
def draw_disc(words: Any, used: int, secret: Any, balls: Balls, plan: Plan) -> Any:
    """Anchor, radius, span, and the words used so far; anchor -1 is the whole set.

    ``secret`` is the places, their mean location, and a `new_disc_room`.
    """
    places, mean, room = secret
    if plan.anchor[1] <= 0:
        return (-1, 0.0, plan.diameter_km), used
    scale = plan.anchor[0] / (2 * plan.diameter_km) if plan.diameter_km > 0 else 0.0
    anchor, used = anywhere(words, used, (mean, (scale, 0.0, plan.anchor[1])), balls)
    radius_km = plan.calibration[2]
    if radius_km < 0:
        radius_km = _radius(words[used:], anchor, (places, room), balls, plan)
        used += 1
    return (anchor, radius_km, min(plan.diameter_km, 2 * radius_km)), used


@part
def _radius(word: Any, anchor: int, secret: Any, balls: Balls, plan: Plan) -> float:
    """The perturbed, calibrated distance from the anchor to the farthest of the places."""
    places, (pending, angles) = secret
    farthest, reach = farthest_km(balls, anchor, pending), 0.0
    for place in places:
        reach = max(reach, km_between(balls.rows, anchor, place))
    resolution = plan.wave[0]
    relative = reach / farthest if farthest > 0 else 0.0
    cell = min(np.int64(relative * resolution), resolution - 1)
    reported = square_wave(word, 0, cell, plan.wave)
    return sampled_km(anchor, (reported, farthest), balls, plan, angles)


@part
def sampled_km(anchor: int, reported: Any, balls: Balls, plan: Plan, room: Any) -> float:
    """The calibrated radius of calibration.py, from the distances to its public sample.

    ``reported`` is a cell, and how far the farthest location is.
    """
    cell, farthest = reported
    if farthest == 0.0:
        return 0.0
    radius, first_km, last_km = explained(cell, farthest, plan)
    angles = room[0]
    _halves(balls, anchor, angles)
    to_angles(angles, room[1:])
    inside = outside = 0.0
    count, size = 0, len(angles)
    for k in range(size):
        km = _DIAMETER_KM * angles[k]
        if first_km <= km <= last_km:
            inside, count = inside + km, count + 1
        else:
            outside += km
    return pulled((radius, farthest), (count, inside), (size - count, outside), plan)


@part
def _halves(balls: Balls, anchor: int, squares: Any) -> None:
    """The squared sines of half the angles to the sample."""
    rows, sample = balls.rows, balls.sample
    sin_a, cos_a, sin_o, cos_o = (
        rows[anchor, 0],
        rows[anchor, 1],
        rows[anchor, 2],
        rows[anchor, 3],
    )
    for k in range(len(squares)):
        sin_lng = sample[2, k] * cos_o - sample[3, k] * sin_o
        cos_lng = sample[3, k] * cos_o + sample[2, k] * sin_o
        sin_lat = (sample[0, k] * cos_a - sample[1, k] * sin_a) * cos_lng
        cos_mid = (cos_a * sample[1, k] - sin_a * sample[0, k]) * sin_lng
        squares[k] = min(sin_lat * sin_lat + cos_mid * cos_mid, 1.0)
