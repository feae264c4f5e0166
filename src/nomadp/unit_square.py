"""The location set's bounding box as a unit square, for grids and plane coordinates."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nomadp.extras import require
from nomadp.geometry import EARTH_RADIUS_KM, Floats
from nomadp.locations import LocationSet

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

__all__ = ["UnitSquare"]

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class UnitSquare:
    """Plane coordinates over the bounding box: x runs east and y north, both from 0 to 1."""

    locations: LocationSet

    @cached_property
    def points(self) -> Floats:
        """The position of each location, shape (m, 2); 0 along a side of length 0."""
        low, width = self.box
        return (self._degrees - low) / np.where(width > 0, width, 1.0)

    @cached_property
    def size_km(self) -> Floats:
        """Width and height of the box, shape (2,); the width is that at its middle latitude."""
        low, width = self.box
        shrink = np.cos(np.radians(low[1] + width[1] / 2))
        size: Floats = np.radians(width) * EARTH_RADIUS_KM * np.array([shrink, 1.0])
        return size

    def cells(self, grid: int) -> Ints:
        """The number of each location's cell in a grid of ``grid`` by ``grid`` cells."""
        column, row = np.minimum(np.floor(self.points * grid), grid - 1).astype(np.int64).T
        number: Ints = row * grid + column
        return number

    def nearest(self, points: Floats) -> Ints:
        """The location nearest to each point of the square, shape (..., 2) to (...).

        Distances are those of the unit square. Points outside it are first moved to its border.
        """
        _, index = self._tree.query(np.clip(points, 0.0, 1.0))
        return self._first[index]

    @cached_property
    def _first(self) -> Ints:
        """The lowest location at each distinct place."""
        _, first = np.unique(self.points, axis=0, return_index=True)
        return first

    @cached_property
    def _tree(self) -> "cKDTree":
        require("analysis")
        from scipy.spatial import cKDTree  # slow to import, and only snapping needs it

        return cKDTree(self.points[self._first])

    @cached_property
    def _degrees(self) -> Floats:
        lng = self.locations.lng
        offset = lng - lng[0]
        # Relative to the first location, so that a set across the date line stays together.
        offset = offset - 360.0 * np.round(offset / 360.0)
        return np.stack([lng[0] + offset, self.locations.lat], axis=-1)

    @cached_property
    def box(self) -> tuple[Floats, Floats]:
        """South-western corner and widths, in degrees."""
        low = self._degrees.min(axis=0)
        return low, self._degrees.max(axis=0) - low
