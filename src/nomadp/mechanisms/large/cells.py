"""A large location set cut into cells of equally many locations, and what lies around each.

What kernels ask of a set is answered for whole cells first: which cells may hold a location
that somebody in this cell sees in that sector, or within so many kilometres. The answers are
sets of cells, one bit for each, so that a domain of several conditions is found by a few
bitwise ands. They may hold too much, never too little. All of it is public.
"""

import math

import numpy as np
from numpy.typing import NDArray

from nomadp.geometry import Floats
from nomadp.laws import Ints

__all__ = [
    "Bits",
    "cell_levels",
    "cell_order",
    "cell_starts",
    "cells_around",
    "cells_seen",
    "steps_along",
]

_MOST_LEVELS = 10  # 1024 cells: 128 KiB for each sector, and for each size of disc
_DISCS = 32  # sizes of discs that are looked up; one in between counts as the next
_BITS, _NUMBER = 31, 32  # of a step from one end of the set to the other, and of a location
_NOTHING = 1e-12  # degrees, a tenth of a micrometre: what is no wider is one place
_SLACK = 1e-12  # of the Earth's radius: six micrometres, far above any rounding

Bits = NDArray[np.uint64]


def cell_levels(size: int, fewest: int) -> int:
    """How often a set is halved, so that cells have at least ``fewest`` locations."""
    return max(0, min(_MOST_LEVELS, (size // fewest).bit_length() - 1))


def cell_starts(size: int, levels: int) -> Ints:
    """Where each cell's run begins, and the end; no two sizes differ by more than one."""
    return np.arange(2**levels + 1) * size >> levels


def cell_order(lat: Floats, lng: Floats, levels: int) -> Ints:
    """The locations cell by cell: every part is halved across its longer side."""
    starts = cell_starts(len(lat), levels)
    # A location's number follows its step, so that no two are equal and any way to select gives
    # the same halves.
    steps = [steps_along(degrees, starts[[0, -1]], _BITS) for degrees in (lat, lng)]
    keys = np.stack(steps) << _NUMBER | np.arange(len(lat))
    for level in range(levels):
        bounds = starts[:: 2 ** (levels - level)]
        middles = starts[2 ** (levels - level - 1) :: 2 ** (levels - level)]
        for start, middle, end in zip(bounds[:-1], middles, bounds[1:], strict=True):
            some = keys[:, start:end]
            key = some[0] if _is_higher(some, lat, lng) else some[1]
            keys[:, start:end] = some[:, np.argpartition(key, middle - start)]
    order: Ints = keys[0] & (2**_NUMBER - 1)
    return order


def steps_along(degrees: Floats, starts: Ints, bits: int) -> Ints:
    """Where each location lies between the ends of its run, in 2^bits steps."""
    low, high = (end.reduceat(degrees, starts[:-1]) for end in (np.minimum, np.maximum))
    wide, sizes = high - low, np.diff(starts)
    scale = np.divide(2.0**bits - 1, wide, out=np.zeros(len(wide)), where=wide > _NOTHING)
    steps: Ints = ((degrees - np.repeat(low, sizes)) * np.repeat(scale, sizes)).astype(np.int64)
    return steps


def _is_higher(keys: Ints, lat: Floats, lng: Floats) -> bool:
    """Whether locations reach farther from south to north than from west to east."""
    first, last = (end(axis=1) & (2**_NUMBER - 1) for end in (keys.min, keys.max))
    south, north = float(lat[first[0]]), float(lat[last[0]])
    wide = float(lng[last[1]] - lng[first[1]]) * math.cos(math.radians(south + north) / 2)
    return north - south >= wide


def cells_around(ball: Floats) -> tuple[Floats, Bits]:
    """For each cell, some sizes of discs, and the cells that a disc around any of its
    locations may meet: (cells, sizes) and (cells, sizes, words).

    Sizes are squared sines of half an angle, as in `haversines`; the last one holds everything.
    """
    nearest = _nearest(ball)
    ends = np.arange(1, _DISCS + 1) * len(ball) // _DISCS
    last = np.maximum(ends, 1) - 1
    # Row by row in memory, however many cells there are: loops are compiled for one layout.
    sizes = np.ascontiguousarray(np.partition(nearest, np.unique(last), axis=1)[:, last])
    sizes[:, -1] = 2.0
    return sizes, np.stack([_packed(nearest <= size[:, None]) for size in sizes.T], axis=1)


def _nearest(ball: Floats) -> Floats:
    """How near a location of one ball may be to one of another, as a squared sine."""
    centre, reach = ball[:, :3], ball[:, 3] + _SLACK
    both = reach[:, None] + reach
    apart = np.sqrt(sum(np.subtract.outer(axis, axis) ** 2 for axis in centre.T))
    # Chords hardly grow towards the antipode: there, what counts is how far it is from that.
    there = np.sqrt(sum(np.add.outer(axis, axis) ** 2 for axis in centre.T))
    near, far = np.maximum(apart - both, 0) / 2, np.minimum(there + both, 2) / 2
    nearest: Floats = np.maximum(near**2, 1 - far**2 - _SLACK)
    return nearest


def cells_seen(box: Floats, ball: Floats, borders: Floats) -> Bits:
    """The cells that somebody in a cell may see in a sector: (sectors, cells, words).

    ``box`` is (4, cells): the least and greatest latitude, then longitude, in radians.
    """
    lat, lng = (box[0] + box[1]) / 2, (box[2] + box[3]) / 2
    high, wide = (box[1] - box[0]) / 2, (box[3] - box[2]) / 2
    steepest = np.sin(np.maximum(np.abs(box[0]), np.abs(box[1])))
    north = np.stack([-np.sin(lat) * np.cos(lng), -np.sin(lat) * np.sin(lng), np.cos(lat)])
    east = np.stack([-np.sin(lng), np.cos(lng), np.zeros(len(lng))])
    size = np.linalg.norm(ball[:, :3], axis=1)
    before, past = [], []
    for to_north, to_east in borders:
        # A border is a plane, which turns by so much at most from one end of a cell to another.
        turn = abs(to_north) * high + np.hypot(to_north * steepest, to_east) * wide
        side = (to_north * north + to_east * east).T @ ball[:, :3].T
        doubt = ball[:, 3] + _SLACK + turn[:, None] * size
        before.append(side <= doubt)
        past.append(side >= -doubt)
    following = past[1:] + past[:1]
    return np.stack([_packed(b & p) for b, p in zip(before, following, strict=True)])


def _packed(held: NDArray[np.bool_]) -> Bits:
    """Each row as bits, the lowest first, in whole words."""
    if held.shape[1] % 64:
        held = np.pad(held, ((0, 0), (0, -held.shape[1] % 64)))
    return np.packbits(held, axis=1, bitorder="little").view("<u8").astype(np.uint64)
