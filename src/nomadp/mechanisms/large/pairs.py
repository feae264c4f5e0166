"""Distances and sectors between two locations, without a table.

These functions repeat the operations of geometry.py in the same order. So a sector is always
the reference's, and a distance is, up to the last bit of an arctangent. Locations are rows of
`Balls.rows`.
"""

import math
from typing import Any

from nomadp.geometry import EARTH_RADIUS_KM
from nomadp.mechanisms.fast.compiling import part
from nomadp.mechanisms.fast.values import Balls, Domain

__all__ = ["domain_of", "haversines", "holds", "km_between", "sector_between", "unit_vector"]

_DIAMETER_KM = 2 * EARTH_RADIUS_KM
_DOUBT = 1e-9  # far above any rounding: only locations closer to a disc's edge are measured


@part
def haversines(rows: Any, i: int, j: int) -> Any:
    """The squared sine and cosine of half the angle between two locations."""
    # The columns of `rows` have sines and cosines of half angles, so no trigonometry is needed.
    # Both results are sums of squares: 1 - sin^2 would lose half the digits near the antipode.
    sin_lng = rows[j, 2] * rows[i, 3] - rows[j, 3] * rows[i, 2]
    cos_lng = rows[j, 3] * rows[i, 3] + rows[j, 2] * rows[i, 2]
    sin_lat = rows[j, 0] * rows[i, 1] - rows[j, 1] * rows[i, 0]
    cos_lat = rows[j, 1] * rows[i, 1] + rows[j, 0] * rows[i, 0]
    sin_mid = rows[i, 0] * rows[j, 1] + rows[i, 1] * rows[j, 0]
    cos_mid = rows[i, 1] * rows[j, 1] - rows[i, 0] * rows[j, 0]
    near = (sin_lat * cos_lng) * (sin_lat * cos_lng) + (cos_mid * sin_lng) * (cos_mid * sin_lng)
    far = (cos_lat * cos_lng) * (cos_lat * cos_lng) + (sin_mid * sin_lng) * (sin_mid * sin_lng)
    return near, far


@part
def km_between(rows: Any, i: int, j: int) -> float:
    near, far = haversines(rows, i, j)
    return _DIAMETER_KM * math.atan2(math.sqrt(near), math.sqrt(far))


@part
def unit_vector(rows: Any, place: int) -> Any:
    """The location as a point of the unit sphere."""
    sin_lng = 2 * rows[place, 2] * rows[place, 3]
    cos_lng = rows[place, 3] * rows[place, 3] - rows[place, 2] * rows[place, 2]
    return rows[place, 5] * cos_lng, rows[place, 5] * sin_lng, rows[place, 4]


@part
def sector_between(rows: Any, i: int, j: int, borders: Any) -> int:
    """The sector in which `i` sees `j`, for true locations and for members of a domain."""
    sin_lng = rows[j, 2] * rows[i, 3] - rows[j, 3] * rows[i, 2]
    cos_lng = rows[j, 3] * rows[i, 3] + rows[j, 2] * rows[i, 2]
    sin_lat = rows[j, 0] * rows[i, 1] - rows[j, 1] * rows[i, 0]
    cos_lat = rows[j, 1] * rows[i, 1] + rows[j, 0] * rows[i, 0]
    right = -(sin_lat * cos_lat + rows[i, 4] * rows[j, 5] * sin_lng * sin_lng)
    ahead = sin_lng * cos_lng * rows[j, 5]
    if right == 0 and ahead == 0:
        ahead = 1.0
    in_first_half = _is_past(ahead, right, borders, 0)
    # The sector is the number of borders passed. A sign distinguishes half a turn only, so the
    # side of border 0 decides for the others.
    sector, count = 0, len(borders)
    for k in range(1, count):
        past = _is_past(ahead, right, borders, k)
        if (past or not in_first_half) if 2 * k <= count else (past and not in_first_half):
            sector += 1
    return sector


@part
def _is_past(ahead: float, right: float, borders: Any, k: int) -> bool:
    # The sign of a cross product, and on the border's line that of the inner product.
    side = borders[k, 0] * right - borders[k, 1] * ahead
    if side == 0:
        return borders[k, 0] * ahead + borders[k, 1] * right > 0
    return side > 0


@part
def domain_of(disc: Any, pivots: Any, reported: Any) -> Domain:
    """A disc (anchor, radius), or none (-1, 0), and two pivots with the sectors they report."""
    half = math.sin(min(disc[1] / _DIAMETER_KM, math.pi / 2))
    return Domain(disc[0], disc[1], half * half, pivots, reported)


@part
def holds(balls: Balls, domain: Domain, location: int) -> bool:
    """Whether a location lies in the disc and in every reported sector."""
    rows, borders = balls.rows, balls.borders
    if domain.anchor >= 0 and not _in_disc(rows, domain, location):
        return False
    for k in range(2):
        pivot, sector = domain.pivots[k], domain.reported[k]
        if pivot >= 0 and sector_between(rows, pivot, location, borders) != sector:
            return False
    return True


@part
def _in_disc(rows: Any, domain: Domain, location: int) -> bool:
    # Away from the edge, squared sines decide without an arctangent.
    near, far = haversines(rows, domain.anchor, location)
    if near < domain.edge * (1 - _DOUBT):
        return True
    if near > domain.edge * (1 + _DOUBT):
        return False
    return _DIAMETER_KM * math.atan2(math.sqrt(near), math.sqrt(far)) <= domain.radius_km
