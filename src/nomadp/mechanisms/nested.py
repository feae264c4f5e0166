"""A large location set as a tree of balls: what the kernels walk instead of square tables.

Locations are sorted along a curve through latitude and longitude (Morton's order), so that
every node is a run of the sorted locations. All of it is public, made with integers and
numpy alone, and linear in the number of locations: about 100 bytes for each.
"""

import math
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from nomadp.geometry import Floats, places, sector_borders, unit_vectors
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.mechanisms.calibration import calibration_sample
from nomadp.mechanisms.kernels.values import Balls
from nomadp.trajectory import TrajectorySet

__all__ = ["LEAF", "SortedPlaces", "curve_order", "nested_balls", "sorted_places"]

LEAF = 16
"""A node with at most so many locations is not divided."""
_BITS = 31  # of each coordinate, over the set's own extent: two centimetres on the whole Earth

_MAKING = Lock()

Keys = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class SortedPlaces:
    """A large set as the kernels have it: a location is its rank in the sorted order."""

    order: Ints
    rank: Ints
    known: Balls = field(repr=False)

    def balls(self, sectors: int) -> Balls:
        """What kernels read, with directions cut into so many sectors."""
        return self.known._replace(borders=sector_borders(sectors))

    def ranked(self, trajectories: TrajectorySet) -> TrajectorySet:
        ranks = self.rank[trajectories.locations]
        return TrajectorySet(trajectories.offsets, ranks, trajectories.tids)


def sorted_places(locations: LocationSet) -> SortedPlaces:
    """Made once for a set, also when several threads ask at the same time."""
    with _MAKING:
        return _sorted_places(locations)


@lru_cache(maxsize=2)
def _sorted_places(locations: LocationSet) -> SortedPlaces:
    order, key = curve_order(locations)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    lat, lng = locations.lat[order], locations.lng[order]
    ball, nodes = nested_balls(lat, lng, key)
    rows = np.stack(places(lat, lng), axis=1)
    sample = rows[rank[calibration_sample(len(order))]].T.copy()
    return SortedPlaces(order, rank, Balls(rows, ball, nodes, sector_borders(1), sample))


def curve_order(locations: LocationSet) -> tuple[Ints, Keys]:
    """The locations in the order of the curve, and their places on it."""
    lat, lng = _cells(locations.lat), _cells(locations.lng)
    wider = _halvings(locations)
    lat, lng = lat >> np.uint64(max(wider, 0)), lng >> np.uint64(max(-wider, 0))
    key = _spread(lat) << np.uint64(1) | _spread(lng)
    order = np.argsort(key, kind="stable")
    return order, key[order]


def _halvings(locations: LocationSet) -> int:
    """How often to halve west to east before south to north (negative: the other way round).

    So that the parts are about square: the balls of long ones cross more edges.
    """
    lat, lng = locations.lat, locations.lng
    shrink = math.cos(math.radians(float(lat.min() + lat.max()) / 2))
    high, wide = float(np.ptp(lat)), float(np.ptp(lng)) * shrink
    if high <= 0 or wide <= 0:
        return 0
    return max(-_BITS, min(_BITS, round(math.log2(wide / high))))


def _cells(degrees: Floats) -> Keys:
    low, high = float(degrees.min()), float(degrees.max())
    scale = (2.0**_BITS - 1) / (high - low) if high > low else 0.0
    return ((degrees - low) * scale).astype(np.uint64)


def _spread(cells: Keys) -> Keys:
    """Every bit moved to twice its position."""
    for shift in (16, 8, 4, 2, 1):
        # Blocks of `shift` bits are kept, with as many zeros between them.
        mask = sum(((1 << shift) - 1) << at for at in range(0, 64, 2 * shift))
        cells = (cells | cells << np.uint64(shift)) & np.uint64(mask)
    return cells


def nested_balls(lat: Floats, lng: Floats, key: Keys) -> tuple[Floats, NDArray[np.int32]]:
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
    """Nodes from the root down, each divided at the highest bit in which its keys differ."""
    start, end = np.array([0]), np.array([len(key)])
    levels, count = [], 1
    while len(start):
        divided = (end - start > LEAF) & (key[start] != key[end - 1])
        left = np.where(divided, count + 2 * (np.cumsum(divided) - 1), 0)
        levels.append(np.stack([start, end, left], axis=1).astype(np.int32))
        start, end = start[divided], end[divided]
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
