"""Sets of cells as bits (bitsets): which cells may hold a location of a domain.

A cell is a run of (nearly) equally many sorted locations (cells.py). So one word draws a
uniform location of a set of cells, and a few bitwise "and" operations intersect sets.
"""

from typing import Any

import numpy as np

from nomadp.mechanisms.fast.compiling import kernel, part
from nomadp.mechanisms.fast.draws import split
from nomadp.mechanisms.fast.values import Balls, Domain

__all__ = [
    "cell_count",
    "cell_of",
    "cells_in_disc",
    "cells_in_sectors",
    "largest_cell",
    "lowest",
    "new_cell_set",
    "uniform_location",
]

_DOUBT = 1e-9  # relative to a disc's size: far above any rounding
_ONE, _TWO, _FOUR, _EIGHT = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(8)
_SIXTEEN, _HALF = np.uint64(16), np.uint64(32)
_PAIRS, _QUADS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_BYTES, _COUNT = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x7F)


@kernel
def new_cell_set(balls: Balls) -> Any:
    """An empty set: 64-bit blocks, and the number of bits that are set before each of them."""
    blocks = balls.disc_cells.shape[2]
    return np.zeros(blocks, dtype=np.uint64), np.zeros(blocks + 1, dtype=np.int64)


@part
def cells_in_disc(balls: Balls, domain: Domain, cells: Any) -> None:
    """Set the cells that the domain's disc may intersect; all of them if it has none."""
    bits, upto = cells
    cell, size = 0, balls.disc_sizes.shape[1] - 1
    if domain.anchor >= 0:
        # The smallest tabulated disc that contains this one; the last one contains everything.
        cell = cell_of(balls, domain.anchor)
        edge, size = domain.edge * (1 + _DOUBT), 0
        while balls.disc_sizes[cell, size] < edge:
            size += 1
    for k in range(len(bits)):
        bits[k] = balls.disc_cells[cell, size, k]
        upto[k + 1] = upto[k] + _counted(bits[k])


@part
def cells_in_sectors(balls: Balls, domain: Domain, wider: Any, cells: Any) -> None:
    """Set the cells of a wider domain that the reported sectors may intersect."""
    bits, upto = cells
    for k in range(len(bits)):
        bits[k] = wider[0][k]
    for side in range(2):
        if domain.pivots[side] >= 0:
            row = balls.sector_cells[domain.reported[side], cell_of(balls, domain.pivots[side])]
            for k in range(len(bits)):
                bits[k] &= row[k]
    for k in range(len(bits)):
        upto[k + 1] = upto[k] + _counted(bits[k])


@part
def cell_count(cells: Any) -> Any:
    """The number of cells in the set."""
    return cells[1][len(cells[0])]


@part
def uniform_location(balls: Balls, cells: Any, word: Any) -> Any:
    """A uniform location of a non-empty set of cells, and the remaining digits of the word.

    Every cell is treated as if it were as large as the largest one: -1 for a location it lacks.
    """
    # So each location has the same probability, although the sizes of cells differ by one.
    bits, upto = cells
    nth, word = split(word, upto[len(bits)])
    slot, word = split(word, largest_cell(balls))
    # Find the nth bit that is set: first its block, then clear the lower bits one by one.
    k = 0
    while upto[k + 1] <= nth:
        k += 1
    remaining = bits[k]
    for _ in range(nth - upto[k]):
        remaining &= remaining - _ONE
    cell = 64 * k + lowest(remaining)
    location = ((cell * len(balls.rows)) >> balls.levels) + slot
    end = ((cell + 1) * len(balls.rows)) >> balls.levels
    return (location if location < end else -1), word


@part
def largest_cell(balls: Balls) -> Any:
    """The number of locations of the largest cell; other cells have at most one less."""
    return (len(balls.rows) + len(balls.disc_sizes) - 1) >> balls.levels


@part
def lowest(bits: Any) -> Any:
    """The position of the lowest bit that is set."""
    # x ^ (x & (x - 1)) is that bit alone; minus 1, it has as many bits set as its position.
    return _counted((bits ^ (bits & (bits - _ONE))) - _ONE)


@part
def cell_of(balls: Balls, location: int) -> Any:
    # Inverts `cell_starts`: the largest cell c with floor(c size / 2^levels) <= location.
    return (((location + 1) << balls.levels) - 1) // len(balls.rows)


@part
def _counted(bits: Any) -> Any:
    """The number of bits that are set."""
    # Population count in parallel: sums of pairs, of four and of eight bits, then of bytes.
    bits = bits - ((bits >> _ONE) & _PAIRS)
    bits = (bits & _QUADS) + ((bits >> _TWO) & _QUADS)
    bits = (bits + (bits >> _FOUR)) & _BYTES
    bits = bits + (bits >> _EIGHT)
    bits = bits + (bits >> _SIXTEEN)
    return np.int64((bits + (bits >> _HALF)) & _COUNT)
