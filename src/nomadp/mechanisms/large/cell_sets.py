"""Sets of cells as bits (bitsets): which cells may hold a location of a domain.

A cell is a run of equally many sorted locations (cells.py), so a uniform location of a set of
cells costs one word, and to narrow a domain is to "and" a few rows of bits.
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

_DOUBT = 1e-9  # a share of a disc's size: far above any rounding
_ONE, _TWO, _FOUR, _EIGHT = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(8)
_SIXTEEN, _HALF = np.uint64(16), np.uint64(32)
_PAIRS, _QUADS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_BYTES, _COUNT = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x7F)


@kernel
def new_cell_set(balls: Balls) -> Any:
    """An empty set: words of bits, and how many bits are set before each of them."""
    words = balls.around.shape[2]
    return np.zeros(words, dtype=np.uint64), np.zeros(words + 1, dtype=np.int64)


@part
def cells_in_disc(balls: Balls, domain: Domain, cells: Any) -> None:
    """Set the cells that the domain's disc may meet; all of them if it has none."""
    bits, upto = cells
    cell, size = 0, balls.discs.shape[1] - 1
    if domain.anchor >= 0:
        cell = cell_of(balls, domain.anchor)
        wanted, size = domain.edge * (1 + _DOUBT), 0
        while balls.discs[cell, size] < wanted:
            size += 1
    for k in range(len(bits)):
        bits[k] = balls.around[cell, size, k]
        upto[k + 1] = upto[k] + _counted(bits[k])


@part
def cells_in_sectors(balls: Balls, domain: Domain, wider: Any, cells: Any) -> None:
    """Of the cells of a wider domain, set those that the reported sectors may meet."""
    bits, upto = cells
    for k in range(len(bits)):
        bits[k] = wider[0][k]
    for side in range(2):
        if domain.pivots[side] >= 0:
            row = balls.seen[domain.reported[side], cell_of(balls, domain.pivots[side])]
            for k in range(len(bits)):
                bits[k] &= row[k]
    for k in range(len(bits)):
        upto[k + 1] = upto[k] + _counted(bits[k])


@part
def cell_count(cells: Any) -> Any:
    """How many cells are in the set."""
    return cells[1][len(cells[0])]


@part
def uniform_location(balls: Balls, cells: Any, word: Any) -> Any:
    """A uniform location of a set of cells that is not empty, and the rest of the word.

    Cells are taken as if all were as large as the largest: -1 where one is not.
    """
    bits, upto = cells
    nth, word = split(word, upto[len(bits)])
    slot, word = split(word, largest_cell(balls))
    k = 0
    while upto[k + 1] <= nth:
        k += 1
    left = bits[k]
    for _ in range(nth - upto[k]):
        left &= left - _ONE
    cell = 64 * k + lowest(left)
    location = ((cell * len(balls.rows)) >> balls.levels) + slot
    end = ((cell + 1) * len(balls.rows)) >> balls.levels
    return (location if location < end else -1), word


@part
def largest_cell(balls: Balls) -> Any:
    """How many locations the largest cell has; no other has fewer than one less."""
    return (len(balls.rows) + len(balls.discs) - 1) >> balls.levels


@part
def lowest(bits: Any) -> Any:
    """The position of the lowest bit that is set."""
    return _counted((bits ^ (bits & (bits - _ONE))) - _ONE)


@part
def cell_of(balls: Balls, location: int) -> Any:
    return (((location + 1) << balls.levels) - 1) // len(balls.rows)


@part
def _counted(bits: Any) -> Any:
    """How many bits are set."""
    bits = bits - ((bits >> _ONE) & _PAIRS)
    bits = (bits & _QUADS) + ((bits >> _TWO) & _QUADS)
    bits = (bits + (bits >> _FOUR)) & _BYTES
    bits = bits + (bits >> _EIGHT)
    bits = bits + (bits >> _SIXTEEN)
    return np.int64((bits + (bits >> _HALF)) & _COUNT)
