"""Map tiles: their numbers in a PMTiles file, and clipping of drawings to a tile."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Tile", "clipped_line", "clipped_ring", "tiles_around"]

MARGIN = 128
"""How far a drawing extends beyond its tile, so that no seam is visible."""


class Tile(NamedTuple):
    zoom: int
    x: int
    y: int

    @property
    def number(self) -> int:
        """The number of the tile in PMTiles: zoom by zoom, along a Hilbert curve."""
        x, y, along = self.x, self.y, 0
        side = 1 << (self.zoom - 1) if self.zoom else 0
        while side:
            right, low = int(x & side > 0), int(y & side > 0)
            along += side * side * ((3 * right) ^ low)
            if not low:
                if right:
                    x, y = side - 1 - (x & side - 1), side - 1 - (y & side - 1)
                x, y = y, x
            side >>= 1
        return (4**self.zoom - 1) // 3 + along

    def at(self, degrees: Any, extent: int) -> Any:
        """Convert longitudes and latitudes to units of this tile; y points south."""
        world = _world(degrees) * (1 << self.zoom)
        return (world - [self.x, self.y]) * extent


def _world(degrees: Any) -> Any:
    """Web Mercator coordinates from 0 to 1, west to east and north to south."""
    lng, lat = np.asarray(degrees, dtype=float).T
    north = np.arcsinh(np.tan(np.radians(lat))) / (2 * np.pi)
    return np.stack([lng / 360 + 0.5, 0.5 - north], axis=-1)


def tiles_around(
    west: float, south: float, east: float, north: float, *, zoom: int
) -> Iterator[Tile]:
    corners = _world([[west, north], [east, south]]) * (1 << zoom)
    (left, top), (right, bottom) = corners.astype(int).tolist()
    for x in range(left, right + 1):
        for y in range(top, bottom + 1):
            yield Tile(zoom, x, y)


def clipped_line(ends: Any, extent: int) -> Any:
    """Clip a straight line to a tile; None if nothing is left (Liang and Barsky, 1984)."""
    start, way = ends[0], ends[-1] - ends[0]
    first, last = 0.0, 1.0
    for axis in (0, 1):
        for sign, edge in ((-1, MARGIN), (1, extent + MARGIN)):
            room, speed = edge - sign * start[axis], sign * way[axis]
            if speed == 0 and room < 0:
                return None
            if speed > 0:
                last = min(last, room / speed)
            elif speed < 0:
                first = max(first, room / speed)
    return np.array([start + way * first, start + way * last]) if first < last else None


def clipped_ring(points: Any, extent: int) -> Any:
    """Clip an area to a tile, edge by edge (Sutherland and Hodgman, 1974)."""
    found = np.asarray(points, dtype=float)
    for axis in (0, 1):
        for sign, edge in ((-1, MARGIN), (1, extent + MARGIN)):
            room = edge - sign * found[:, axis]
            kept = []
            for k in range(len(found)):
                if (room[k - 1] < 0) != (room[k] < 0):
                    part = room[k - 1] / (room[k - 1] - room[k])
                    kept.append(found[k - 1] + (found[k] - found[k - 1]) * part)
                if room[k] >= 0:
                    kept.append(found[k])
            found = np.array(kept).reshape(-1, 2)
    return found
