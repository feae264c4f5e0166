"""Distances, bearings and sectors on a spherical Earth: all trigonometry of the project.

Sines and cosines are taken once per place; what relates two places is then made of
+, -, * and sqrt, which IEEE arithmetic rounds the same way however many pairs are computed
at once. Sectors are decided by such signs alone, so every reader of a law sees the same
sector. Only a distance or a bearing in radians ends in one arctan2.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

from nomadp.errors import InvalidArgument

__all__ = [
    "DEGREE_KM",
    "EARTH_RADIUS_KM",
    "MAX_GRANULARITY",
    "Floats",
    "Places",
    "bearing_rad",
    "chord_to_km",
    "distance_km",
    "haversine_km",
    "km_to_chord",
    "lat_lng",
    "mean_lat_lng",
    "places",
    "search_tree",
    "sector_borders",
    "sector_seen",
    "unit_vectors",
    "usable_degrees",
]

Floats = NDArray[np.float64]
Sectors = NDArray[np.uint8]

EARTH_RADIUS_KM = 6371.0088
DEGREE_KM = math.radians(1.0) * EARTH_RADIUS_KM  # along a meridian
MAX_GRANULARITY = 256
_AT_HAND = 2**14  # places at a time
_PAIRS_AT_HAND = 2**20


class Places(NamedTuple):
    """Sines and cosines of places, computed once. Index with `at`."""

    sin_half_lat: Floats
    cos_half_lat: Floats
    sin_half_lng: Floats
    cos_half_lng: Floats
    sin_lat: Floats
    cos_lat: Floats

    def at(self, index: int | slice | NDArray[np.integer]) -> "Places":
        return Places(*(column[index] for column in self))


def places(lat: ArrayLike, lng: ArrayLike) -> Places:
    """The places at these coordinates in degrees.

    Both names of the date line, and all longitudes of a pole, give the same place.
    """
    lat_deg, lng_deg = np.broadcast_arrays(
        np.asarray(lat, dtype=np.float64), np.asarray(lng, dtype=np.float64)
    )
    if not (np.isfinite(lat_deg).all() and np.isfinite(lng_deg).all()):
        raise InvalidArgument(
            "latitudes and longitudes must be finite; their values are withheld",
            code="coordinates_not_finite",
        )
    lng_deg = np.where(
        np.abs(lat_deg) == 90.0, 0.0, np.where(lng_deg == -180.0, 180.0, lng_deg)
    )
    half_lat, half_lng = np.radians(lat_deg) / 2, np.radians(lng_deg) / 2
    return Places(
        np.sin(half_lat),
        np.cos(half_lat),
        np.sin(half_lng),
        np.cos(half_lng),
        np.sin(2 * half_lat),
        np.cos(2 * half_lat),
    )


def usable_degrees(lat: Floats, lng: Floats) -> tuple[Floats, Floats]:
    """Longitudes wrapped into [-180, 180), exactly; NaN for both where one is unusable."""
    usable = np.isfinite(lat) & np.isfinite(lng) & (np.abs(lat) <= 90.0)
    turned = np.fmod(np.where(usable, lng, 0.0), 360.0)
    turned = np.where(turned < -180.0, turned + 360.0, turned)
    turned = np.where(turned >= 180.0, turned - 360.0, turned)
    return np.where(usable, lat, np.nan), np.where(usable, turned, np.nan)


def distance_km(a: Places, b: Places) -> Floats:
    """Great-circle distance: symmetric to the bit, zero where the places coincide."""
    if np.ndim(a.sin_lat) == 0 and np.ndim(b.sin_lat) == 1 and len(b.sin_lat) > _AT_HAND:
        return _in_parts_km(a, b)
    sin_lng, cos_lng = _half_difference_lng(a, b)
    sin_lat, cos_lat = _half_difference_lat(a, b)
    sin_mid = a.sin_half_lat * b.cos_half_lat + a.cos_half_lat * b.sin_half_lat
    cos_mid = a.cos_half_lat * b.cos_half_lat - a.sin_half_lat * b.sin_half_lat
    # The haversine and its complement, each a sum of squares: nothing cancels at antipodes.
    near = _square(sin_lat * cos_lng) + _square(cos_mid * sin_lng)
    far = _square(cos_lat * cos_lng) + _square(sin_mid * sin_lng)
    return np.asarray(2 * EARTH_RADIUS_KM * np.arctan2(np.sqrt(near), np.sqrt(far)))


def _in_parts_km(a: Places, others: Places) -> Floats:
    """From one place to many, in parts small enough to stay in a processor's cache."""
    found = np.empty(len(others.sin_lat))
    for start in range(0, len(found), _AT_HAND):
        part = slice(start, start + _AT_HAND)
        found[part] = distance_km(a, others.at(part))
    return found


def sector_seen(a: Places, b: Places, granularity: int) -> Sectors:
    """The sector in which `a` sees `b`: 0 is centred on east, then clockwise.

    floor(((bearing - pi/2 + pi/g) mod 2 pi) / (2 pi/g)) for g sectors, half-open, decided
    exactly by the side of each border on which `b` lies. A place sees itself in sector 0.
    """
    borders = sector_borders(granularity).tolist()
    north, east = _direction(a, b)
    right = -north
    ahead = np.where((north == 0) & (east == 0), 1.0, east)
    in_first_half = _is_past(ahead, right, borders[0])
    seen = np.zeros(north.shape, dtype=np.uint8)
    for k in range(1, granularity):
        past = _is_past(ahead, right, borders[k])
        seen += past | ~in_first_half if 2 * k <= granularity else past & ~in_first_half
    return seen


def sector_borders(granularity: int) -> Floats:
    """Where each sector begins: components east and south of a unit step, shape (g, 2)."""
    if not 1 <= granularity <= MAX_GRANULARITY:
        raise InvalidArgument(
            f"granularity must be a number of sectors from 1 to {MAX_GRANULARITY}, "
            f"got granularity={granularity}",
            code="granularity_out_of_range",
            granularity=granularity,
        )
    return np.array([_border(k, granularity) for k in range(granularity)])


def haversine_km(lat1: ArrayLike, lng1: ArrayLike, lat2: ArrayLike, lng2: ArrayLike) -> Floats:
    return distance_km(places(lat1, lng1), places(lat2, lng2))


def bearing_rad(lat1: ArrayLike, lng1: ArrayLike, lat2: ArrayLike, lng2: ArrayLike) -> Floats:
    """Initial great-circle bearing in [0, 2 pi), clockwise; 0 where the two coincide."""
    north, east = _direction(places(lat1, lng1), places(lat2, lng2))
    angle = np.arctan2(east, north)
    turned = np.where(angle < 0, angle + 2 * math.pi, angle)
    # A hair west of north rounds to a full turn.
    return np.where(turned >= 2 * math.pi, 0.0, turned)


def unit_vectors(lat: ArrayLike, lng: ArrayLike) -> Floats:
    """Points of the unit sphere, shape (..., 3)."""
    lat_rad, lng_rad = np.broadcast_arrays(np.radians(lat), np.radians(lng))
    cos_lat = np.cos(lat_rad)
    columns = cos_lat * np.cos(lng_rad), cos_lat * np.sin(lng_rad), np.sin(lat_rad)
    return np.stack(columns, axis=-1)


def lat_lng(vectors: Floats) -> tuple[Floats, Floats]:
    """The coordinates in degrees of the points in these directions, the last axis being 3."""
    x, y, z = np.moveaxis(vectors, -1, 0)
    return np.degrees(np.arctan2(z, np.hypot(x, y))), np.degrees(np.arctan2(y, x))


def chord_to_km(chord: ArrayLike) -> Floats:
    """Distance along the surface from the straight-line distance on the unit sphere."""
    half = np.clip(np.asarray(chord, dtype=np.float64) / 2, 0.0, 1.0)
    return np.asarray(2 * EARTH_RADIUS_KM * np.arcsin(half))


def km_to_chord(km: ArrayLike) -> Floats:
    """Straight-line distance on the unit sphere; half the circumference and beyond give 2."""
    half_angle = np.asarray(km, dtype=np.float64) / (2 * EARTH_RADIUS_KM)
    return np.asarray(2 * np.sin(np.clip(half_angle, 0.0, math.pi / 2)))


def mean_lat_lng(lat: ArrayLike, lng: ArrayLike, axis: int = 0) -> tuple[Floats, Floats]:
    """Arithmetic mean of the coordinates (the paper's anchor), right across the date line."""
    lng_deg = np.asarray(lng, dtype=np.float64)
    first = np.take(lng_deg, [0], axis=axis)
    offset = lng_deg - first
    offset = offset - 360.0 * np.round(offset / 360.0)
    mean_lng = np.squeeze(first, axis=axis) + offset.mean(axis=axis)
    mean_lng = mean_lng - 360.0 * np.round(mean_lng / 360.0)
    return np.asarray(np.asarray(lat, dtype=np.float64).mean(axis=axis)), np.asarray(mean_lng)


def search_tree(points: Floats) -> "cKDTree | _AllPoints":
    """What finds the points nearest to others: scipy's k-d tree or, without scipy, all pairs.

    Both take the same squares in the same order.
    """
    try:
        from scipy.spatial import cKDTree  # slow to import, and few ask for it
    except ImportError:
        return _AllPoints(points)
    # Halves by place instead of by number are found sooner, and searched as fast.
    return cKDTree(points, balanced_tree=False)


class _AllPoints:
    """The two questions we ask a k-d tree, answered by looking at every pair."""

    def __init__(self, points: Floats) -> None:
        self._points = points

    def query(
        self, vectors: Floats, k: int = 1, distance_upper_bound: float = math.inf
    ) -> tuple[Floats, NDArray[np.int64]]:
        """Distances and indices of the ``k`` nearest, shape (n,) or (n, k); inf beyond."""
        found = [self._nearest(row, k) for row in self._rows(vectors)]
        index = np.concatenate([index for _, index in found])
        distance = np.concatenate([distance for distance, _ in found])
        distance[distance >= distance_upper_bound] = np.inf
        return (distance[:, 0], index[:, 0]) if k == 1 else (distance, index)

    def query_ball_point(self, vectors: Floats, radius: ArrayLike) -> NDArray[np.object_]:
        """Of each, the indices of all at most ``radius`` away."""
        reach = np.broadcast_to(np.asarray(radius), len(vectors))
        rows = (distance for block in self._rows(vectors) for distance in block)
        close = [np.flatnonzero(row <= r) for row, r in zip(rows, reach, strict=True)]
        return np.array([*close, None], dtype=object)[:-1]  # never a table, if all are as long

    def _rows(self, vectors: Floats) -> Iterator[Floats]:
        step = max(1, _PAIRS_AT_HAND // len(self._points))
        for start in range(0, max(1, len(vectors)), step):
            axes = zip(vectors[start : start + step].T, self._points.T, strict=True)
            square = sum(_square(theirs[:, None] - ours) for theirs, ours in axes)
            yield np.sqrt(square)

    @staticmethod
    def _nearest(distance: Floats, k: int) -> tuple[Floats, NDArray[np.int64]]:
        some = np.argpartition(distance, min(k, distance.shape[1]) - 1, axis=1)[:, :k]
        near = np.take_along_axis(distance, some, axis=1)
        order = np.lexsort((some, near))
        return np.take_along_axis(near, order, 1), np.take_along_axis(some, order, 1)


def _square(x: Floats) -> Floats:
    # Not x ** 2: numpy takes a lone number to pow, which may round otherwise than x * x.
    return x * x


def _half_difference_lat(a: Places, b: Places) -> tuple[Floats, Floats]:
    """Sine and cosine of half the difference in latitude, b minus a."""
    return (
        b.sin_half_lat * a.cos_half_lat - b.cos_half_lat * a.sin_half_lat,
        b.cos_half_lat * a.cos_half_lat + b.sin_half_lat * a.sin_half_lat,
    )


def _half_difference_lng(a: Places, b: Places) -> tuple[Floats, Floats]:
    """Sine and cosine of half the difference in longitude, b minus a."""
    return (
        b.sin_half_lng * a.cos_half_lng - b.cos_half_lng * a.sin_half_lng,
        b.cos_half_lng * a.cos_half_lng + b.sin_half_lng * a.sin_half_lng,
    )


def _direction(a: Places, b: Places) -> tuple[Floats, Floats]:
    """North and east components, up to a positive factor, of the way from a to b."""
    sin_lat, cos_lat = _half_difference_lat(a, b)
    sin_lng, cos_lng = _half_difference_lng(a, b)
    north = sin_lat * cos_lat + a.sin_lat * b.cos_lat * sin_lng * sin_lng
    east = sin_lng * cos_lng * b.cos_lat
    return np.asarray(north), np.asarray(east)


def _border(k: int, granularity: int) -> tuple[float, float]:
    """Components ahead and to the right of the border at which sector k begins.

    Reduced to the first quarter turn, so that opposite borders are exact negatives and the
    four cardinal directions are exact.
    """
    turn = Fraction(2 * k - 1, 2 * granularity) % 1
    quarter, rest = divmod(turn, Fraction(1, 4))
    angle = 2 * math.pi * float(rest)
    ahead, right = math.cos(angle), math.sin(angle)
    for _ in range(quarter):
        ahead, right = -right, ahead
    return ahead, right


def _is_past(ahead: Floats, right: Floats, border: list[float]) -> NDArray[np.bool_]:
    """Whether a direction lies on the border or less than half a turn clockwise of it."""
    border_ahead, border_right = border
    side = border_ahead * right - border_right * ahead
    along = border_ahead * ahead + border_right * right
    return np.asarray((side > 0) | ((side == 0) & (along > 0)))
