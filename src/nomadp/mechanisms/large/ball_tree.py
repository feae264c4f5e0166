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
    cells_seen,
    steps_along,
)
from nomadp.trajectory import TrajectorySet

__all__ = ["LEAF", "SortedPlaces", "ball_tree_balls", "ball_tree_order", "sorted_places"]

LEAF = 16
"""Maximum number of locations of a leaf."""
_BITS = 27  # of each coordinate, over a cell's extent: millimetres where the set is the Earth

_MAKING = Lock()

Keys = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class SortedPlaces:
    """A large location set for the kernels: a location is its rank in the sorted order."""

    order: Ints
    rank: Ints
    known: Balls = field(repr=False)
    boxes: Floats = field(repr=False)
    _seen: dict[int, Balls] = field(default_factory=dict, repr=False)

    def balls(self, sectors: int) -> Balls:
        """The kernels' view of the set, with ``sectors`` directions (1: directions unused)."""
        with _MAKING:
            if sectors not in self._seen:
                self._seen[sectors] = self._looking(sectors)
            return self._seen[sectors]

    def _looking(self, sectors: int) -> Balls:
        if sectors == 1:
            return self.known
        borders, cells = sector_borders(sectors), self.boxes.shape[1]
        seen = cells_seen(self.boxes, self.known.ball[cells - 1 : 2 * cells - 1], borders)
        return self.known._replace(borders=borders, seen=seen)

    def ranked(self, trajectories: TrajectorySet) -> TrajectorySet:
        ranks = self.rank[trajectories.locations]
        return replace(trajectories, locations=ranks)


def sorted_places(locations: LocationSet) -> SortedPlaces:
    """The tree of a set, cached; safe to call from several threads."""
    with _MAKING:
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
    discs, around = cells_around(ball[cells - 1 : 2 * cells - 1])
    nobody = np.zeros((0, *around.shape[::2]), dtype=np.uint64)
    known = Balls(rows, ball, nodes, sector_borders(1), levels, discs, around, nobody)
    return SortedPlaces(order, rank, known, _boxes(lat, lng, starts))


def _boxes(lat: Floats, lng: Floats, starts: Ints) -> Floats:
    """Each cell's least and greatest latitude, then longitude, in radians."""
    lng = np.where(np.abs(lat) == 90.0, 0.0, lng)  # from where a pole looks, as in `places`
    limits = [
        end.reduceat(np.radians(degrees), starts[:-1])
        for degrees in (lat, lng)
        for end in (np.minimum, np.maximum)
    ]
    return np.stack(limits)


def ball_tree_order(locations: LocationSet, levels: int) -> tuple[Ints, Keys]:
    """The locations cell by cell, in a cell along the curve, and their keys in this order.

    A key is the number of the cell, and below it the place on the curve.
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
        # Blocks of `shift` bits are kept, with as many zeros between them.
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
    apart = _norm(points - np.repeat(middle, leaves[:, 1] - leaves[:, 0], axis=0))
    around = middle, np.maximum.reduceat(apart, leaves[:, 0]), low, high
    first = np.searchsorted(leaves[:, 0], nodes[:, 0])
    end = np.searchsorted(leaves[:, 0], nodes[:, 1])
    balls = np.empty((len(nodes), 4))
    done = 0
    for level in levels:
        some = slice(done, done + len(level))
        balls[some] = _around(around, first[some], end[some])
        done += len(level)
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


def _around(leaves: tuple[Floats, ...], first: Ints, end: Ints) -> Floats:
    """The ball of each node, from the balls and boxes of its leaves `first` to `end`."""
    middle, radius, low, high = leaves
    counts = end - first
    starts = np.cumsum(counts) - counts
    which = np.repeat(first - starts, counts) + np.arange(counts.sum())
    centre = np.minimum.reduceat(low[which], starts) + np.maximum.reduceat(high[which], starts)
    centre = centre / 2
    reach = _norm(middle[which] - np.repeat(centre, counts, axis=0)) + radius[which]
    return np.concatenate([centre, np.maximum.reduceat(reach, starts)[:, None]], axis=1)


def _norm(vectors: Floats) -> Floats:
    length: Floats = np.linalg.norm(vectors, axis=1)
    return length
