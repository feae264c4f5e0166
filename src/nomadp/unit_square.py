"""The location set's bounding box as a unit square: what grids and plane coordinates need."""

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
    """x runs east and y north, both from 0 to 1 over the smallest box that holds the set."""

    locations: LocationSet

    @cached_property
    def points(self) -> Floats:
        """Where each location lies, shape (m, 2); a box without width has 0 there."""
        low, width = self.box
        return (self._degrees - low) / np.where(width > 0, width, 1.0)

    @cached_property
    def size_km(self) -> Floats:
        """How wide and how high the box is, shape (2,), as wide as at its middle latitude."""
        low, width = self.box
        shrink = np.cos(np.radians(low[1] + width[1] / 2))
        size: Floats = np.radians(width) * EARTH_RADIUS_KM * np.array([shrink, 1.0])
        return size

    def cells(self, grid: int) -> Ints:
        """The number of each location's cell in a grid of ``grid`` by ``grid`` of them."""
        column, row = np.minimum(np.floor(self.points * grid), grid - 1).astype(np.int64).T
        number: Ints = row * grid + column
        return number

    def nearest(self, points: Floats) -> Ints:
        """The location nearest to each point of the square, shape (..., 2) to (...).

        In the square's own measure, and from its border for points beyond it.
        """
        _, found = self._tree.query(np.clip(points, 0.0, 1.0))
        return self._first[found]

    @cached_property
    def _first(self) -> Ints:
        """One location, the lowest, for each place that occurs."""
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
        # Counted from the first location, so that a set across the date line stays together.
        offset = offset - 360.0 * np.round(offset / 360.0)
        return np.stack([lng[0] + offset, self.locations.lat], axis=-1)

    @cached_property
    def box(self) -> tuple[Floats, Floats]:
        """South-western corner and widths, in degrees."""
        low = self._degrees.min(axis=0)
        return low, self._degrees.max(axis=0) - low
