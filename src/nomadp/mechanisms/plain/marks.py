"""Sets of cells as bits, one set for each draw: kernels/marks.py in numpy."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nomadp.laws import Ints
from nomadp.mechanisms.fast.arrays import Words, split
from nomadp.mechanisms.fast.values import Balls
from nomadp.mechanisms.plain.sights import Domains

__all__ = ["Bytes", "Marks", "counted", "mark", "marked_cells", "narrow", "spot"]

Bytes = NDArray[np.uint8]

_DOUBT = 1e-9  # a share of a disc's size: far above any rounding
_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
_COUNTED = _BITS.sum(axis=1, dtype=np.uint8)
_NTH = np.argsort(1 - _BITS.astype(np.int64), axis=1, kind="stable")  # bits that are set first


class Marks(NamedTuple):
    """Sets of cells, eight to a byte: so numpy counts and finds them by small tables."""

    cells: Bytes  # (draws, bytes)
    upto: Ints  # (draws * bytes): how many are marked up to each byte, of all draws
    marked: Ints  # (draws): how many are
    before: Ints  # (draws): how many are marked for all draws before


def counted(cells: Bytes) -> Marks:
    """Sets of cells, ready to be looked into."""
    in_byte = _COUNTED[cells]
    upto = np.cumsum(in_byte, dtype=np.int64)
    count = in_byte.sum(axis=1, dtype=np.int64)
    return Marks(cells, upto, count, np.cumsum(count) - count)


def mark(balls: Balls, domains: Domains) -> Bytes:
    """The cells that each disc may meet; all of them where there are no discs."""
    sizes = balls.discs.shape[1]
    around = _as_bytes(balls.around)
    if domains.anchor is None:
        return np.tile(around[0, sizes - 1], (len(domains.edge), 1))
    cell = _cells_of(balls, domains.anchor)
    wanted = domains.edge * (1 + _DOUBT)
    size = (balls.discs[cell] >= wanted[:, None]).argmax(axis=1)
    return np.asarray(around[cell, size])


def narrow(balls: Balls, domains: Domains, wider: Bytes) -> Bytes:
    """Of the cells marked for wider domains, those that the reported sectors may meet."""
    cells, seen = wider.copy(), _as_bytes(balls.seen)
    for pivot, sector in zip(domains.pivots, domains.reported, strict=True):
        there = np.flatnonzero(pivot >= 0)
        cells[there] &= seen[sector[there], _cells_of(balls, pivot[there])]
    return cells


def spot(balls: Balls, marks: Marks, which: Ints, words: Words) -> tuple[Ints, Words]:
    """A uniform location of the cells marked for each of these draws, and the words' rest.

    Cells are taken as if all were as large as the largest: -1 where one is not.
    """
    nth, words = split(words, marks.marked[which])
    slot, words = split(words, (len(balls.rows) + len(balls.discs) - 1) >> balls.levels)
    width = marks.cells.shape[1]
    nth += marks.before[which]
    at = np.searchsorted(marks.upto, nth, side="right")
    byte = marks.cells.reshape(-1)[at]
    cell = 8 * (at - which * width) + _NTH[byte, nth - marks.upto[at] + _COUNTED[byte]]
    location = ((cell * len(balls.rows)) >> balls.levels) + slot
    end = ((cell + 1) * len(balls.rows)) >> balls.levels
    return np.where(location < end, location, -1), words


def marked_cells(cells: Bytes) -> tuple[Ints, Ints]:
    """All marked cells, draw by draw: whose, and which."""
    owner, cell = np.nonzero(np.unpackbits(cells, axis=1, bitorder="little"))
    return owner, cell


def _cells_of(balls: Balls, location: Ints) -> Ints:
    return (((location + 1) << balls.levels) - 1) // len(balls.rows)


def _as_bytes(words: Words) -> Bytes:
    """The same bits, the lowest first."""
    return np.ascontiguousarray(words, dtype="<u8").view(np.uint8)
