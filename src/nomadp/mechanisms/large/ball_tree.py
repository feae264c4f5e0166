"""A ball tree over a large location set: the kernels' replacement for square tables.

The upper levels of the tree are the median splits that make cells. Inside a cell, locations are
sorted along a space-filling curve through latitude and longitude (Morton order). So every node
is a contiguous run of the sorted locations. The tree is public, and its size is linear in the
number of locations: about 100 bytes for each.
"""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from nomadp.geometry import Floats, places, sector_borders, unit_vectors
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.mechanisms.fast.values import Balls
from nomadp.mechanisms.large.cells import (
    cell_levels,
    cell_order,
    cell_starts,
    cells_around,
    cells_in_view,
    steps_along,
)
from nomadp.trajectory import TrajectorySet

__all__ = ["LEAF", "SortedPlaces", "ball_tree_balls", "ball_tree_order", "sorted_places"]

LEAF = 16
"""Maximum number of locations of a leaf."""
_BITS = 27  # of each coordinate within a cell: millimetres if the set spans the Earth

_TREE_LOCK = Lock()
"""Held while a tree or its sectors are built, so that threads build each of them once."""

Keys = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class SortedPlaces:
    """A large location set for the kernels: a location is its rank in the sorted order."""

    order: Ints
    rank: Ints
    without_sectors: Balls = field(repr=False)
    boxes: Floats = field(repr=False)
    _by_sectors: dict[int, Balls] = field(default_factory=dict, repr=False)

    def balls(self, sectors: int) -> Balls:
        """The kernels' view of the set, with ``sectors`` directions (1: directions unused)."""
        with _TREE_LOCK:
            if sectors not in self._by_sectors:
                self._by_sectors[sectors] = self._with_sectors(sectors)
            return self._by_sectors[sectors]

    def _with_sectors(self, sectors: int) -> Balls:
        balls = self.without_sectors
        if sectors == 1:
            return balls
        # The cells are a level of a binary tree: `cells` nodes after the cells - 1 above them.
        borders, cells = sector_borders(sectors), self.boxes.shape[1]
        sector_cells = cells_in_view(self.boxes, balls.ball[cells - 1 : 2 * cells - 1], borders)
        return balls._replace(borders=borders, sector_cells=sector_cells)

    def ranked(self, trajectories: TrajectorySet) -> TrajectorySet:
        """The same trajectories, with ranks instead of location indices."""
        ranks = self.rank[trajectories.locations]
        return replace(trajectories, locations=ranks)


def sorted_places(locations: LocationSet) -> SortedPlaces:
    """The tree of a set, cached; safe to call from several threads."""
    with _TREE_LOCK:
        return _sorted_places(locations)


@lru_cache(maxsize=2)
def _sorted_places(locations: LocationSet) -> SortedPlaces:
    size = len(locations)
    levels = cell_levels(size, LEAF)
    starts = cell_starts(size, levels)
    order, key = ball_tree_order(locations, levels)
    rank = np.empty(size, dtype=np.int64)
    rank[order] = np.arange(size)
    lat, lng = locations.lat[order], locations.lng[order]
    ball, nodes = ball_tree_balls(lat, lng, key)
    rows = np.stack(places(lat, lng), axis=1)
    cells = len(starts) - 1
    disc_sizes, disc_cells = cells_around(ball[cells - 1 : 2 * cells - 1])
    no_cells = np.zeros((0, *disc_cells.shape[::2]), dtype=np.uint64)
    balls = Balls(
        rows, ball, nodes, sector_borders(1), levels, disc_sizes, disc_cells, no_cells
    )
    return SortedPlaces(order, rank, balls, _boxes(lat, lng, starts))


def _boxes(lat: Floats, lng: Floats, starts: Ints) -> Floats:
    """The smallest and largest latitude of each cell, then longitude, in radians."""
    lng = np.where(
        np.abs(lat) == 90.0, 0.0, lng
    )  # a pole looks from longitude 0, as in `places`
    limits = [
        end.reduceat(np.radians(degrees), starts[:-1])
        for degrees in (lat, lng)
        for end in (np.minimum, np.maximum)
    ]
    return np.stack(limits)


def ball_tree_order(locations: LocationSet, levels: int) -> tuple[Ints, Keys]:
    """The locations ordered by cell and by the curve inside it, and their keys in this order.

    A key has the number of the cell in its upper bits, and the position on the curve below.
    """
    lat, lng = locations.lat, locations.lng
    order, starts = cell_order(lat, lng, levels), cell_starts(len(lat), levels)
    cell = np.repeat(np.arange(2**levels, dtype=np.uint64), np.diff(starts))
    key = np.empty(len(lat), dtype=np.uint64)
    key[order] = cell << np.uint64(2 * _BITS)
    key[order] |= _spread(steps_along(lat[order], starts, _BITS)) << np.uint64(1)
    key[order] |= _spread(steps_along(lng[order], starts, _BITS))
    # Sorting by the interleaved bits of both coordinates is Morton order.
    order = np.argsort(key, kind="stable")
    return order, key[order]


def _spread(steps: Ints) -> Keys:
    """Move every bit to twice its position, to interleave two numbers (Morton code)."""
    spread = steps.astype(np.uint64)
    for shift in (16, 8, 4, 2, 1):
        # Each block of 2 shift bits becomes two of `shift` bits, with as many zeros between.
        mask = sum(((1 << shift) - 1) << at for at in range(0, 64, 2 * shift))
        spread = (spread | spread << np.uint64(shift)) & np.uint64(mask)
    return spread


def ball_tree_balls(lat: Floats, lng: Floats, key: Keys) -> tuple[Floats, NDArray[np.int32]]:
    """Balls (nodes, 4) and nodes (nodes, 3), as `Balls` has them, of sorted locations."""
    levels = _levels(key)
    nodes = np.concatenate(levels)
    is_leaf = nodes[:, 2] == 0
    leaves = nodes[is_leaf][np.argsort(nodes[is_leaf, 0])]
    points = unit_vectors(lat, lng)
    low = np.minimum.reduceat(points, leaves[:, 0])
    high = np.maximum.reduceat(points, leaves[:, 0])
    middle = (low + high) / 2
    distance = _norm(points - np.repeat(middle, leaves[:, 1] - leaves[:, 0], axis=0))
    leaf_balls = middle, np.maximum.reduceat(distance, leaves[:, 0]), low, high
    first = np.searchsorted(leaves[:, 0], nodes[:, 0])
    end = np.searchsorted(leaves[:, 0], nodes[:, 1])
    # Level by level, because the nodes of one level have each leaf at most once.
    balls = np.empty((len(nodes), 4))
    start = 0
    for level in levels:
        rows = slice(start, start + len(level))
        balls[rows] = _enclosing_balls(leaf_balls, first[rows], end[rows])
        start += len(level)
    return balls, nodes


def _levels(key: Keys) -> list[NDArray[np.int32]]:
    """Nodes from the root down, each divided at the highest bit in which its keys differ.

    The highest bits are the cell's, so cells are a level of their own, in their order.
    """
    start, end = np.array([0]), np.array([len(key)])
    levels, count = [], 1
    while len(start):
        divided = (end - start > LEAF) & (key[start] != key[end - 1])
        left = np.where(divided, count + 2 * (np.cumsum(divided) - 1), 0)
        levels.append(np.stack([start, end, left], axis=1).astype(np.int32))
        start, end = start[divided], end[divided]
        # Keys are sorted, so the highest differing bit of the first and the last key splits the
        # run in two; the right child starts at the last key with all lower bits cleared.
        below = _below_highest(key[start] ^ key[end - 1])
        middle = np.searchsorted(key, key[end - 1] & ~below)
        count += 2 * len(middle)
        start, end = (
            np.stack([start, middle], axis=1).reshape(-1),
            np.stack([middle, end], axis=1).reshape(-1),
        )
    return levels


def _below_highest(bits: Keys) -> Keys:
    """All bits below the highest one."""
    # Copy the highest bit into all lower positions, doubling the distance each time.
    for shift in (1, 2, 4, 8, 16, 32):
        bits = bits | bits >> np.uint64(shift)
    return bits >> np.uint64(1)


def _enclosing_balls(leaves: tuple[Floats, ...], first: Ints, end: Ints) -> Floats:
    """The ball of each node, from the balls and boxes of its leaves `first` to `end`."""
    # The centre of the bounding box; the radius reaches the far side of every leaf's ball.
    middle, radius, low, high = leaves
    counts = end - first
    starts = np.cumsum(counts) - counts
    leaf = np.repeat(first - starts, counts) + np.arange(counts.sum())
    centre = np.minimum.reduceat(low[leaf], starts) + np.maximum.reduceat(high[leaf], starts)
    centre = centre / 2
    reach = _norm(middle[leaf] - np.repeat(centre, counts, axis=0)) + radius[leaf]
    return np.concatenate([centre, np.maximum.reduceat(reach, starts)[:, None]], axis=1)


def _norm(vectors: Floats) -> Floats:
    length: Floats = np.linalg.norm(vectors, axis=1)
    return length
