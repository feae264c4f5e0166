"""NGRAM (PVLDB 2021) without external knowledge, the form that the paper compares with.

Locations are first replaced by their regions. The exponential mechanism draws one region for
each end of the trajectory and one pair of regions for each step. So two draws cover every
position. They are reconciled to one region, and a location of this region is drawn.

The reconciled region is the one with the smallest summed distance to the two that were drawn.
By the triangle inequality, both of these always attain the minimum: a fair coin decides.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nomadp import geometry
from nomadp.budget import Split, Step
from nomadp.drawing import Choose, Part
from nomadp.laws import Channel, Ints, Secret, TableExponential, Uniform
from nomadp.locations import LocationSet
from nomadp.mechanisms.base import Mechanism, Range, Trajectory
from nomadp.unit_square import UnitSquare

__all__ = ["Ngram", "Regions", "cheapest_path", "grid_regions"]

GRID_MAX = 6  # 36 regions: distances between pairs of regions fill a table of 1296 x 1296
TIE_KM = 1e-9  # the cost of not following the coin: it only decides between equal costs


@dataclass(frozen=True, eq=False)
class Regions:
    """Numbered regions, each represented by the mean of its locations."""

    locations: LocationSet
    of: Ints
    """The region of each location."""
    sizes: Ints
    members: Ints
    """The locations of each region, in rows that are padded with their first location."""
    distances_km: geometry.Floats
    """The distances between the representatives of regions."""

    def __len__(self) -> int:
        return len(self.sizes)

    def reachable(self, step_km: float) -> NDArray[np.bool_]:
        """Whether some location of a region is within a step of some location of another."""
        vectors = geometry.unit_vectors(self.locations.lat, self.locations.lng)
        nearest = np.full((len(self), len(self)), np.inf)
        for region, (size, members) in enumerate(zip(self.sizes, self.members, strict=True)):
            chord, _ = geometry.search_tree(vectors[members[:size]]).query(vectors)
            np.minimum.at(nearest[region], self.of, chord)
        np.fill_diagonal(nearest, 0.0)
        symmetric = np.minimum(nearest, nearest.T)
        return np.asarray(geometry.chord_to_km(symmetric) <= step_km)


def grid_regions(locations: LocationSet, grid: int) -> Regions:
    """The non-empty cells of a ``grid`` by ``grid`` grid, row by row."""
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


def cheapest_path(costs: list[geometry.Floats], possible: NDArray[np.bool_]) -> list[Any]:
    """The state at each position with the smallest total cost over possible steps (Viterbi)."""
    # best[s] is the cost of the cheapest path that ends in state s so far.
    step_cost = np.where(possible, 0.0, np.inf)
    best, came_from = costs[0], []
    for cost in costs[1:]:
        total = best[..., :, None] + step_cost
        came_from.append(total.argmin(axis=-2))
        best = total.min(axis=-2) + cost
    # Trace back from the best last state.
    path = [best.argmin(axis=-1)]
    for previous in reversed(came_from):
        path.append(np.take_along_axis(previous, path[-1][..., None], axis=-1)[..., 0])
    return path[::-1]


@dataclass(frozen=True, kw_only=True)
class Ngram(Mechanism):
    """NGRAM: overlapping draws of regions and of steps between regions."""

    name: ClassVar[str] = "ngram"
    ranges: ClassVar[Mapping[str, Range]] = {
        **Mechanism.ranges,
        "grid": (1, GRID_MAX),
        "max_step_km": (0.001, 1e6),
    }

    grid: int = 4
    """Regions are the non-empty cells of a ``grid`` by ``grid`` grid over the bounding box."""
    max_step_km: float | None = None
    """A public bound of the length of a step: pairs of regions farther apart are excluded."""

    @cached_property
    def regions(self) -> Regions:
        return grid_regions(self.locations, self.grid)

    def split(self, length: int) -> Split:
        self.check_length(length)
        if length == 1:
            return Split(self.epsilon, (Step("end", 0, 1, self.epsilon),))
        # n - 1 pairs and 2 single regions: n + 1 draws with equal shares.
        share = self.epsilon / (length + 1)
        return Split(
            self.epsilon, (Step("end", 0, 2, share), Step("step", 0, length - 1, share))
        )

    def parts(self, trajectory: Trajectory) -> Sequence[Part[int]]:
        shares = self.split(len(trajectory)).shares()
        region = self.regions.of[trajectory]
        end = partial(_choose, "end", self._end_law(shares["end"]))
        if len(region) == 1:
            return [(end, region[0])]
        step = partial(_choose, "step", self._step_law(shares["step"]))
        pairs = region[:-1] * len(self.regions) + region[1:]
        return [(end, region[0]), *((step, pair) for pair in pairs), (end, region[-1])]

    def _end_law(self, share: Fraction) -> TableExponential:
        regions = np.arange(len(self.regions))
        return TableExponential(self.regions.distances_km, regions, self._span_km, share)

    def _step_law(self, share: Fraction) -> TableExponential:
        # The distance of two pairs is a sum of two distances, so the span doubles.
        table_km, pairs = self._pairs
        return TableExponential(table_km, pairs, 2 * self._span_km, share)

    @property
    def _span_km(self) -> float:
        return float(self.regions.distances_km.max())

    @cached_property
    def _possible(self) -> NDArray[np.bool_]:
        """Whether a step may lead from one region to another; staying is always possible."""
        if self.max_step_km is None:
            return np.ones((len(self.regions), len(self.regions)), dtype=bool)
        return self.regions.reachable(self.max_step_km)

    @cached_property
    def _pairs(self) -> tuple[geometry.Floats, Ints]:
        """Distances from every pair of regions to every possible one, and these pairs."""
        between, count = self.regions.distances_km, len(self.regions)
        table_km = between[:, None, :, None] + between[None, :, None, :]
        possible = np.flatnonzero(self._possible)
        return table_km.reshape(count**2, count**2)[:, possible], possible

    def finish(self, released: Sequence[Any], choose: Choose) -> tuple[int, ...]:
        regions = released
        if len(released) > 1:
            first, *steps, last = released
            froms, tos = zip(*(divmod(step, len(self.regions)) for step in steps), strict=True)
            regions = self._reconciled([first, *tos], [*froms, last], choose)
        return tuple(choose.each([(self._location, region) for region in regions]))

    def _reconciled(self, before: list[Any], after: list[Any], choose: Choose) -> list[Any]:
        """One region per position from the two draws that cover it."""
        covered = list(zip(before, after, strict=True))
        coins = choose.each([(partial(_choose, "tie", Uniform(2)), None) for _ in covered])
        tossed = [np.where(coin, b, a)[()] for coin, (a, b) in zip(coins, covered, strict=True)]
        return tossed if self._possible.all() else self._possible_path(before, after, tossed)

    def _possible_path(self, before: Any, after: Any, tossed: Any) -> list[Any]:
        """The possible path nearest to the drawn regions; in a tie, to the coins' choices."""
        between, regions = self.regions.distances_km, np.arange(len(self.regions))
        costs_km = [
            between[a] + between[b] + TIE_KM * (regions != np.asarray(region)[..., None])
            for a, b, region in zip(before, after, tossed, strict=True)
        ]
        return cheapest_path(costs_km, self._possible)

    def _location(self, region: Any, choose: Choose) -> Any:
        """A uniform location of a region, which was released and is no longer secret."""
        largest = Uniform(self.regions.members.shape[1])
        index = choose("location", largest, self.regions.sizes[region])
        location = self.regions.members[region, index]
        return location if location.ndim else int(location)


def _choose(step: str, law: Channel, secret: Secret, choose: Choose) -> int:
    return choose(step, law, secret)
