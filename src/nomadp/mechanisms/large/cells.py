"""A large location set, divided into cells of equally many locations, and what is around them.

Two questions are answered for whole cells in advance: which cells may contain a location in a
given sector, seen from some location of this cell, and which within a given distance of it. The
answers are sets of cells with one bit for each, so that a few bitwise "and" operations find the
cells of a domain. A set may have too many cells, but never too few. Everything is public.
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
    "cells_in_view",
    "steps_along",
]

_MOST_LEVELS = 10  # 1024 cells: 128 KiB for each sector, and for each size of disc
_DISCS = 32  # tabulated sizes of discs; a disc in between uses the next larger one
_STEP_BITS, _INDEX_BITS = 31, 32  # of a coordinate in steps, and of a location's index below it
_NO_WIDTH = 1e-12  # degrees, a tenth of a micrometre: a narrower run is one place
_SLACK = 1e-12  # of the Earth's radius: six micrometres, far above any rounding

Bits = NDArray[np.uint64]


def cell_levels(size: int, fewest: int) -> int:
    """How often a set is halved, so that cells have at least ``fewest`` locations."""
    return max(0, min(_MOST_LEVELS, (size // fewest).bit_length() - 1))


def cell_starts(size: int, levels: int) -> Ints:
    """The start of each cell's run, and the end; sizes differ by at most one."""
    return np.arange(2**levels + 1) * size >> levels


def cell_order(lat: Floats, lng: Floats, levels: int) -> Ints:
    """The locations cell by cell: each part is halved at the median of its longer side."""
    starts = cell_starts(len(lat), levels)
    # The index in the lower bits makes all keys different, so that every selection algorithm
    # gives the same halves.
    steps = [steps_along(degrees, starts[[0, -1]], _STEP_BITS) for degrees in (lat, lng)]
    keys = np.stack(steps) << _INDEX_BITS | np.arange(len(lat))
    for level in range(levels):
        bounds = starts[:: 2 ** (levels - level)]
        middles = starts[2 ** (levels - level - 1) :: 2 ** (levels - level)]
        for start, middle, end in zip(bounds[:-1], middles, bounds[1:], strict=True):
            part = keys[:, start:end]
            key = part[0] if _is_taller(part, lat, lng) else part[1]
            keys[:, start:end] = part[:, np.argpartition(key, middle - start)]
    order: Ints = keys[0] & (2**_INDEX_BITS - 1)
    return order


def steps_along(degrees: Floats, starts: Ints, bits: int) -> Ints:
    """The position of each location between the ends of its run, in 2^bits steps."""
    low, high = (end.reduceat(degrees, starts[:-1]) for end in (np.minimum, np.maximum))
    width, sizes = high - low, np.diff(starts)
    scale = np.divide(2.0**bits - 1, width, out=np.zeros(len(width)), where=width > _NO_WIDTH)
    steps: Ints = ((degrees - np.repeat(low, sizes)) * np.repeat(scale, sizes)).astype(np.int64)
    return steps


def _is_taller(keys: Ints, lat: Floats, lng: Floats) -> bool:
    """Whether the extent from south to north is larger than that from west to east."""
    first, last = (end(axis=1) & (2**_INDEX_BITS - 1) for end in (keys.min, keys.max))
    south, north = float(lat[first[0]]), float(lat[last[0]])
    width = float(lng[last[1]] - lng[first[1]]) * math.cos(math.radians(south + north) / 2)
    return north - south >= width


def cells_around(ball: Floats) -> tuple[Floats, Bits]:
    """For each cell, some sizes of discs, and the cells that a disc around any of its
    locations may intersect: (cells, sizes) and (cells, sizes, blocks).

    Sizes are squared sines of half an angle, as in `haversines`; the last disc contains
    everything.
    """
    # The sizes of a cell are quantiles of its distances to other cells, so that each further
    # disc adds about as many cells.
    nearest = _nearest(ball)
    ends = np.arange(1, _DISCS + 1) * len(ball) // _DISCS
    last = np.maximum(ends, 1) - 1
    # Contiguous rows, because kernels are compiled for this layout.
    sizes = np.ascontiguousarray(np.partition(nearest, np.unique(last), axis=1)[:, last])
    sizes[:, -1] = 2.0
    return sizes, np.stack([_packed(nearest <= size[:, None]) for size in sizes.T], axis=1)


def _nearest(ball: Floats) -> Floats:
    """A lower bound of the distance between locations of two balls, as a squared sine."""
    centre, reach = ball[:, :3], ball[:, 3] + _SLACK
    both = reach[:, None] + reach
    chord = np.sqrt(sum(np.subtract.outer(axis, axis) ** 2 for axis in centre.T))
    # Chords hardly grow towards the antipode. The distance from the antipode is sharper there:
    # sin^2 + cos^2 = 1, so an upper bound of one is a lower bound of the other.
    opposite = np.sqrt(sum(np.add.outer(axis, axis) ** 2 for axis in centre.T))
    near, far = np.maximum(chord - both, 0) / 2, np.minimum(opposite + both, 2) / 2
    nearest: Floats = np.maximum(near**2, 1 - far**2 - _SLACK)
    return nearest


def cells_in_view(box: Floats, ball: Floats, borders: Floats) -> Bits:
    """The cells that a location of a cell may see in a sector: (sectors, cells, blocks).

    ``box`` is (4, cells): the smallest and largest latitude, then longitude, in radians.
    """
    # Seen from the middle of a cell, a border of sectors is a plane through the Earth's centre
    # with the normal to_north * north + to_east * east.
    lat, lng = (box[0] + box[1]) / 2, (box[2] + box[3]) / 2
    height, width = (box[1] - box[0]) / 2, (box[3] - box[2]) / 2
    steepest = np.sin(np.maximum(np.abs(box[0]), np.abs(box[1])))
    north = np.stack([-np.sin(lat) * np.cos(lng), -np.sin(lat) * np.sin(lng), np.cos(lat)])
    east = np.stack([-np.sin(lng), np.cos(lng), np.zeros(len(lng))])
    size = np.linalg.norm(ball[:, :3], axis=1)
    before, past = [], []
    for to_north, to_east in borders:
        # From elsewhere in the cell, the normal differs by at most `turn`.
        turn = abs(to_north) * height + np.hypot(to_north * steepest, to_east) * width
        side = (to_north * north + to_east * east).T @ ball[:, :3].T
        doubt = ball[:, 3] + _SLACK + turn[:, None] * size
        before.append(side <= doubt)
        past.append(side >= -doubt)
    # A sector lies past its own border and before the next one.
    following = past[1:] + past[:1]
    return np.stack([_packed(b & p) for b, p in zip(before, following, strict=True)])


def _packed(is_member: NDArray[np.bool_]) -> Bits:
    """Each row as bits, the lowest first, in 64-bit blocks."""
    if is_member.shape[1] % 64:
        is_member = np.pad(is_member, ((0, 0), (0, -is_member.shape[1] % 64)))
    return np.packbits(is_member, axis=1, bitorder="little").view("<u8").astype(np.uint64)
