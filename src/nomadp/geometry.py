"""Distances, bearings and sectors on a spherical Earth: all trigonometry of the project.

Sines and cosines are computed once per place. Everything between two places then uses only
+, -, * and sqrt. IEEE arithmetic rounds these the same way however many pairs are computed at
once. Sectors depend on the signs of such numbers alone, so every reader of a law gets the same
sector. Only a distance or a bearing in radians ends with one arctan2.
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
_BLOCK_PLACES = 2**14  # their sines and cosines fit into a processor's cache
_BLOCK_PAIRS = 2**20


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

    Longitudes -180 and 180 give the same place, and so do all longitudes at a pole.
    """
    lat_deg, lng_deg = np.broadcast_arrays(
        np.asarray(lat, dtype=np.float64), np.asarray(lng, dtype=np.float64)
    )
    if not (np.isfinite(lat_deg).all() and np.isfinite(lng_deg).all()):
        raise InvalidArgument(
            "latitudes and longitudes must be finite; the values are not shown",
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
    """Longitudes wrapped exactly into [-180, 180); NaN for both where either is unusable."""
    usable = np.isfinite(lat) & np.isfinite(lng) & (np.abs(lat) <= 90.0)
    turned = np.fmod(np.where(usable, lng, 0.0), 360.0)
    turned = np.where(turned < -180.0, turned + 360.0, turned)
    turned = np.where(turned >= 180.0, turned - 360.0, turned)
    return np.where(usable, lat, np.nan), np.where(usable, turned, np.nan)


def distance_km(a: Places, b: Places) -> Floats:
    """Great-circle distance: symmetric to the bit, zero where the places coincide."""
    if np.ndim(a.sin_lat) == 0 and np.ndim(b.sin_lat) == 1 and len(b.sin_lat) > _BLOCK_PLACES:
        return _in_blocks_km(a, b)
    sin_lng, cos_lng = _half_difference_lng(a, b)
    sin_lat, cos_lat = _half_difference_lat(a, b)
    sin_mid = a.sin_half_lat * b.cos_half_lat + a.cos_half_lat * b.sin_half_lat
    cos_mid = a.cos_half_lat * b.cos_half_lat - a.sin_half_lat * b.sin_half_lat
    # The haversine and its complement, each as a sum of squares: no cancellation near
    # antipodes, where arcsin of the haversine alone would lose half the digits.
    near = _square(sin_lat * cos_lng) + _square(cos_mid * sin_lng)
    far = _square(cos_lat * cos_lng) + _square(sin_mid * sin_lng)
    return np.asarray(2 * EARTH_RADIUS_KM * np.arctan2(np.sqrt(near), np.sqrt(far)))


def _in_blocks_km(a: Places, others: Places) -> Floats:
    """Distances from one place to many, in blocks that fit into a processor's cache."""
    distances = np.empty(len(others.sin_lat))
    for start in range(0, len(distances), _BLOCK_PLACES):
        block = slice(start, start + _BLOCK_PLACES)
        distances[block] = distance_km(a, others.at(block))
    return distances


def sector_seen(a: Places, b: Places, granularity: int) -> Sectors:
    """The sector in which `b` lies as seen from `a`: 0 is centred on east, then clockwise.

    floor(((bearing - pi/2 + pi/g) mod 2 pi) / (2 pi/g)) for g half-open sectors. The sign of a
    cross product with each border decides, without an angle. A place is in its own sector 0.
    """
    borders = sector_borders(granularity).tolist()
    north, east = _direction(a, b)
    right = -north
    ahead = np.where((north == 0) & (east == 0), 1.0, east)
    in_first_half = _is_past(ahead, right, borders[0])
    sector = np.zeros(north.shape, dtype=np.uint8)
    # The sector is the number of borders passed. A sign sees half a turn only, so the side of
    # border 0 says which half of the turn the direction is in.
    for k in range(1, granularity):
        past = _is_past(ahead, right, borders[k])
        sector += past | ~in_first_half if 2 * k <= granularity else past & ~in_first_half
    return sector


def sector_borders(granularity: int) -> Floats:
    """The border at which each sector begins, as unit vectors (east, south), shape (g, 2)."""
    if not 1 <= granularity <= MAX_GRANULARITY:
        raise InvalidArgument(
            f"granularity (the number of sectors) must be from 1 to {MAX_GRANULARITY}, "
            f"got granularity={granularity}",
            code="granularity_out_of_range",
            granularity=granularity,
        )
    return np.array([_border(k, granularity) for k in range(granularity)])


def haversine_km(lat1: ArrayLike, lng1: ArrayLike, lat2: ArrayLike, lng2: ArrayLike) -> Floats:
    return distance_km(places(lat1, lng1), places(lat2, lng2))


def bearing_rad(lat1: ArrayLike, lng1: ArrayLike, lat2: ArrayLike, lng2: ArrayLike) -> Floats:
    """Initial great-circle bearing in [0, 2 pi), clockwise from north; 0 for equal places."""
    north, east = _direction(places(lat1, lng1), places(lat2, lng2))
    angle = np.arctan2(east, north)
    turned = np.where(angle < 0, angle + 2 * math.pi, angle)
    # A bearing just west of north can round to a full turn.
    return np.where(turned >= 2 * math.pi, 0.0, turned)


def unit_vectors(lat: ArrayLike, lng: ArrayLike) -> Floats:
    """Points of the unit sphere, shape (..., 3)."""
    lat_rad, lng_rad = np.broadcast_arrays(np.radians(lat), np.radians(lng))
    cos_lat = np.cos(lat_rad)
    columns = cos_lat * np.cos(lng_rad), cos_lat * np.sin(lng_rad), np.sin(lat_rad)
    return np.stack(columns, axis=-1)


def lat_lng(vectors: Floats) -> tuple[Floats, Floats]:
    """Latitudes and longitudes in degrees of these directions, shape (..., 3)."""
    x, y, z = np.moveaxis(vectors, -1, 0)
    return np.degrees(np.arctan2(z, np.hypot(x, y))), np.degrees(np.arctan2(y, x))


def chord_to_km(chord: ArrayLike) -> Floats:
    """Great-circle distance for a chord (straight-line distance) of the unit sphere."""
    half = np.clip(np.asarray(chord, dtype=np.float64) / 2, 0.0, 1.0)
    return np.asarray(2 * EARTH_RADIUS_KM * np.arcsin(half))


def km_to_chord(km: ArrayLike) -> Floats:
    """The chord of the unit sphere for a distance; half the circumference or more gives 2."""
    half_angle = np.asarray(km, dtype=np.float64) / (2 * EARTH_RADIUS_KM)
    return np.asarray(2 * np.sin(np.clip(half_angle, 0.0, math.pi / 2)))


def mean_lat_lng(lat: ArrayLike, lng: ArrayLike, axis: int = 0) -> tuple[Floats, Floats]:
    """Arithmetic mean of the coordinates (the paper's anchor), correct across the date line."""
    lng_deg = np.asarray(lng, dtype=np.float64)
    first = np.take(lng_deg, [0], axis=axis)
    offset = lng_deg - first
    offset = offset - 360.0 * np.round(offset / 360.0)
    mean_lng = np.squeeze(first, axis=axis) + offset.mean(axis=axis)
    mean_lng = mean_lng - 360.0 * np.round(mean_lng / 360.0)
    return np.asarray(np.asarray(lat, dtype=np.float64).mean(axis=axis)), np.asarray(mean_lng)


def search_tree(points: Floats) -> "cKDTree | _AllPoints":
    """A nearest-neighbour search: scipy's k-d tree or, without scipy, all pairs.

    Both add the same squares in the same order, so they give the same distances.
    """
    try:
        from scipy.spatial import cKDTree  # slow to import, and rarely needed
    except ImportError:
        return _AllPoints(points)
    # An unbalanced tree is faster to build, and as fast to search.
    return cKDTree(points, balanced_tree=False)


class _AllPoints:
    """The two searches that we need from a k-d tree, by comparing every pair."""

    def __init__(self, points: Floats) -> None:
        self._points = points

    def query(
        self, vectors: Floats, k: int = 1, distance_upper_bound: float = math.inf
    ) -> tuple[Floats, NDArray[np.int64]]:
        """Distances and indices of the ``k`` nearest, shape (n,) or (n, k); inf beyond."""
        blocks = [self._nearest(row, k) for row in self._rows(vectors)]
        index = np.concatenate([index for _, index in blocks])
        distance = np.concatenate([distance for distance, _ in blocks])
        distance[distance >= distance_upper_bound] = np.inf
        return (distance[:, 0], index[:, 0]) if k == 1 else (distance, index)

    def query_ball_point(self, vectors: Floats, radius: ArrayLike) -> NDArray[np.object_]:
        """For each vector, the indices of all points at most ``radius`` away."""
        reach = np.broadcast_to(np.asarray(radius), len(vectors))
        rows = (distance for block in self._rows(vectors) for distance in block)
        close = [np.flatnonzero(row <= r) for row, r in zip(rows, reach, strict=True)]
        # The None keeps numpy from making a 2-d array when all rows have the same length.
        return np.array([*close, None], dtype=object)[:-1]

    def _rows(self, vectors: Floats) -> Iterator[Floats]:
        step = max(1, _BLOCK_PAIRS // len(self._points))
        for start in range(0, max(1, len(vectors)), step):
            axes = zip(vectors[start : start + step].T, self._points.T, strict=True)
            square = sum(_square(theirs[:, None] - ours) for theirs, ours in axes)
            yield np.sqrt(square)

    @staticmethod
    def _nearest(distance: Floats, k: int) -> tuple[Floats, NDArray[np.int64]]:
        index = np.argpartition(distance, min(k, distance.shape[1]) - 1, axis=1)[:, :k]
        near = np.take_along_axis(distance, index, axis=1)
        order = np.lexsort((index, near))
        return np.take_along_axis(near, order, 1), np.take_along_axis(index, order, 1)


def _square(x: Floats) -> Floats:
    # Not x ** 2: for a scalar numpy calls pow, which may round differently from x * x.
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
    """North and east components of the direction from a to b, up to a positive factor."""
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
