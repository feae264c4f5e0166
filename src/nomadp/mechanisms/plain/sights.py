"""Distances, sectors and domains of pairs of locations, pair by pair: kernels/sights.py."""

import math
from typing import NamedTuple

import numpy as np

from nomadp.geometry import EARTH_RADIUS_KM, Floats
from nomadp.laws import Ints
from nomadp.mechanisms.fast.arrays import Booleans
from nomadp.mechanisms.fast.values import Balls

__all__ = [
    "Domains",
    "domains_of",
    "haversines",
    "holds",
    "km_between",
    "km_of",
    "sectors_between",
    "unit_vectors",
]

_DIAMETER_KM = 2 * EARTH_RADIUS_KM
_DOUBT = 1e-9  # far above any rounding: only what is closer to a disc's edge is measured


class Domains(NamedTuple):
    """Locations in discs (or none) and in sectors that up to two pivots (-1: none) report."""

    anchor: Ints | None
    radius_km: Floats
    edge: Floats  # the disc's, as a squared sine of half an angle
    pivots: tuple[Ints, Ints]
    reported: tuple[Ints, Ints]

    def some(self, some: Ints | slice) -> "Domains":
        return Domains(
            None if self.anchor is None else self.anchor[some],
            self.radius_km[some],
            self.edge[some],
            (self.pivots[0][some], self.pivots[1][some]),
            (self.reported[0][some], self.reported[1][some]),
        )


def domains_of(anchor: Ints | None, radius_km: Floats) -> Domains:
    """Discs alone, without pivots."""
    half = np.sin(np.minimum(radius_km / _DIAMETER_KM, math.pi / 2))
    nobody, nothing = np.full(len(half), -1), np.zeros(len(half), dtype=np.int64)
    return Domains(anchor, radius_km, half * half, (nobody, nobody), (nothing, nothing))


def haversines(rows: Floats, i: Ints, j: Ints) -> tuple[Floats, Floats]:
    """The squared sine and cosine of half the angle between two locations."""
    a, b = rows[i].T, rows[j].T
    sin_lng, cos_lng = b[2] * a[3] - b[3] * a[2], b[3] * a[3] + b[2] * a[2]
    sin_lat, cos_lat = b[0] * a[1] - b[1] * a[0], b[1] * a[1] + b[0] * a[0]
    sin_mid, cos_mid = a[0] * b[1] + a[1] * b[0], a[1] * b[1] - a[0] * b[0]
    near_lat, near_lng = sin_lat * cos_lng, cos_mid * sin_lng
    far_lat, far_lng = cos_lat * cos_lng, sin_mid * sin_lng
    return near_lat * near_lat + near_lng * near_lng, far_lat * far_lat + far_lng * far_lng


def km_of(near: Floats, far: Floats) -> Floats:
    """Distances, from haversines."""
    return np.asarray(_DIAMETER_KM * np.arctan2(np.sqrt(near), np.sqrt(far)))


def km_between(rows: Floats, i: Ints, j: Ints) -> Floats:
    return km_of(*haversines(rows, i, j))


def unit_vectors(rows: Floats, place: Ints) -> tuple[Floats, Floats, Floats]:
    """The locations as points of the unit sphere."""
    a = rows[place].T
    sin_lng, cos_lng = 2 * a[2] * a[3], a[3] * a[3] - a[2] * a[2]
    return a[5] * cos_lng, a[5] * sin_lng, a[4].copy()


def sectors_between(rows: Floats, i: Ints, j: Ints, borders: Floats) -> Ints:
    """The sector in which each `i` sees its `j`."""
    a, b = rows[i].T, rows[j].T
    sin_lng, cos_lng = b[2] * a[3] - b[3] * a[2], b[3] * a[3] + b[2] * a[2]
    sin_lat, cos_lat = b[0] * a[1] - b[1] * a[0], b[1] * a[1] + b[0] * a[0]
    right = -(sin_lat * cos_lat + a[4] * b[5] * sin_lng * sin_lng)
    ahead = sin_lng * cos_lng * b[5]
    ahead[(right == 0) & (ahead == 0)] = 1.0
    past = _are_past(ahead, right, borders)  # (sectors, pairs)
    half = len(borders) // 2
    # Whoever is not in the first half of the turn has passed all of its borders.
    first, second = (
        np.count_nonzero(some, axis=0) for some in (past[1 : half + 1], past[half + 1 :])
    )
    return np.asarray(np.where(past[0], first, half + second))


def _are_past(ahead: Floats, right: Floats, borders: Floats) -> Booleans:
    border_ahead, border_right = borders[:, :1], borders[:, 1:]
    side = border_ahead * right - border_right * ahead
    past, is_on = side > 0, side == 0
    if is_on.any():
        past |= is_on & (border_ahead * ahead + border_right * right > 0)
    return past


def holds(balls: Balls, domains: Domains, which: Ints, location: Ints) -> Booleans:
    """Whether each location lies in the disc and all sectors of its domain."""
    held = np.ones(len(location), dtype=np.bool_)
    if domains.anchor is not None:
        held = _in_disc(balls.rows, domains, which, location)
    for pivots, sectors in zip(domains.pivots, domains.reported, strict=True):
        pivot = pivots[which]
        asked = np.flatnonzero(held & (pivot >= 0))
        seen = sectors_between(balls.rows, pivot[asked], location[asked], balls.borders)
        held[asked] = seen == sectors[which[asked]]
    return held


def _in_disc(rows: Floats, domains: Domains, which: Ints, location: Ints) -> Booleans:
    anchor = np.zeros(0, dtype=np.int64) if domains.anchor is None else domains.anchor
    near, far = haversines(rows, anchor[which], location)
    edge = domains.edge[which]
    held = near < edge * (1 - _DOUBT)
    unsure = np.flatnonzero(~held & ~(near > edge * (1 + _DOUBT)))
    if len(unsure):
        held[unsure] = km_of(near[unsure], far[unsure]) <= domains.radius_km[which[unsure]]
    return held
