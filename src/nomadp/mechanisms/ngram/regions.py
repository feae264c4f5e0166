"""Public regions, the non-empty cells of a grid, and the cheapest way through them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nomadp import geometry
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.unit_square import UnitSquare

__all__ = ["Regions", "cheapest_way", "grid_regions"]


@dataclass(frozen=True, eq=False)
class Regions:
    """Numbered regions, each represented by the mean of its locations."""

    locations: LocationSet
    of: Ints
    """The region of each location."""
    sizes: Ints
    members: Ints
    """The locations of each region, one row each; rows are filled up with their first."""
    distances_km: geometry.Floats
    """Between the representatives of any two."""

    def __len__(self) -> int:
        return len(self.sizes)

    def reachable(self, step_km: float) -> NDArray[np.bool_]:
        """Whether some location of one region is within a step of some location of another."""
        vectors = geometry.unit_vectors(self.locations.lat, self.locations.lng)
        nearest = np.full((len(self), len(self)), np.inf)
        for region, (size, members) in enumerate(zip(self.sizes, self.members, strict=True)):
            chord, _ = geometry.search_tree(vectors[members[:size]]).query(vectors)
            np.minimum.at(nearest[region], self.of, chord)
        np.fill_diagonal(nearest, 0.0)
        symmetric = np.minimum(nearest, nearest.T)
        return np.asarray(geometry.chord_to_km(symmetric) <= step_km)


def grid_regions(locations: LocationSet, grid: int) -> Regions:
    """The cells of a ``grid`` by ``grid`` that hold a location, in the order of the rows."""
    _, of, sizes = np.unique(
        UnitSquare(locations).cells(grid), return_inverse=True, return_counts=True
    )
    members = np.empty((len(sizes), sizes.max()), dtype=np.int64)
    centres = np.empty((len(sizes), 2))
    for region, size in enumerate(sizes):
        inside = np.flatnonzero(of == region)
        members[region] = inside[0]
        members[region, :size] = inside
        centres[region] = geometry.mean_lat_lng(locations.lat[inside], locations.lng[inside])
    lat, lng = centres.T
    distances_km = geometry.haversine_km(lat[:, None], lng[:, None], lat, lng)
    return Regions(locations, of, sizes, members, distances_km)


def cheapest_way(costs: list[geometry.Floats], possible: NDArray[np.bool_]) -> list[Any]:
    """The state at each position with the smallest total cost over possible steps (Viterbi)."""
    blocked = np.where(possible, 0.0, np.inf)
    best, came_from = costs[0], []
    for cost in costs[1:]:
        total = best[..., :, None] + blocked
        came_from.append(total.argmin(axis=-2))
        best = total.min(axis=-2) + cost
    way = [best.argmin(axis=-1)]
    for back in reversed(came_from):
        way.append(np.take_along_axis(back, way[-1][..., None], axis=-1)[..., 0])
    return way[::-1]
