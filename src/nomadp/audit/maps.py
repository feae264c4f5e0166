"""Small maps on which every choice can be enumerated: shapes that broke mechanisms before."""

import math
from collections.abc import Callable

import numpy as np

from nomadp.locations import LocationSet

__all__ = ["EDGE_MAPS", "FAMILIES", "edge_map", "family_map"]

_KM_PER_DEGREE = 111.195
_CENTRE = (41.88, -87.63)

Plane = list[tuple[float, float]]
"""Kilometres east and north of the centre."""


def _polygon(size: int) -> Plane:
    # Turned by a tenth of a step, so that no bearing is exactly on the border of a sector.
    bearings = [2 * math.pi * (k + 0.1) / size for k in range(size)]
    return [(3 * math.sin(bearing), 3 * math.cos(bearing)) for bearing in bearings]


FAMILIES: dict[str, Callable[[int], Plane]] = {
    "line": lambda size: [(2.0 * k, 0.0) for k in range(size)],
    "polygon": _polygon,
    "two clusters": lambda size: [
        (10 * (k % 2) + 0.2 * (k // 2), 0.1 * k) for k in range(size)
    ],
    "outlier": lambda size: [*((0.3 * k, 0.2 * (k * k % 3)) for k in range(size - 1)), (15, 9)],
    "random": lambda size: np.random.default_rng(size).uniform(0, 8, (size, 2)).tolist(),
}

EDGE_MAPS: dict[str, list[tuple[float, float]]] = {
    "coincident": [(10.0, 20.0), (10.0, 20.0), (10.1, 20.0), (10.0, 20.2)],
    "date line": [(0.1, 179.95), (0.0, -179.95), (-0.1, 180.0), (0.05, -180.0)],
    "pole": [(90.0, 0.0), (89.9, 10.0), (89.9, 130.0), (89.8, -110.0)],
}
"""Latitudes and longitudes at which distances and bearings are easy to get wrong."""


def family_map(family: str, size: int) -> LocationSet:
    """A map of one of the families with ``size`` locations."""
    east, north = np.array(FAMILIES[family](size)).T
    lat = _CENTRE[0] + north / _KM_PER_DEGREE
    lng = _CENTRE[1] + east / (_KM_PER_DEGREE * math.cos(math.radians(_CENTRE[0])))
    return _location_set(lat.tolist(), lng.tolist())


def edge_map(name: str) -> LocationSet:
    lat, lng = zip(*EDGE_MAPS[name], strict=True)
    return _location_set(list(lat), list(lng))


def _location_set(lat: list[float], lng: list[float]) -> LocationSet:
    return LocationSet.from_columns([f"p{k}" for k in range(len(lat))], lat, lng)
