"""Draws from each kind of law, one for each word of an array: draws.py in numpy."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nomadp.drawing import high_product
from nomadp.geometry import Floats
from nomadp.laws import Ints, clamped
from nomadp.laws.channel import UNIT

__all__ = ["Booleans", "Words", "leading", "split", "square_wave", "weights"]

Words = NDArray[np.uint64]
Booleans = NDArray[np.bool_]

_MASK = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def split(words: Words, totals: Ints | int) -> tuple[Ints, Words]:
    """The integer part and the fraction of word * total, as in draws.py; totals are < 2^32."""
    bound = np.asarray(totals).astype(np.uint64)
    low, high = (words & _MASK) * bound, (words >> _HALF) * bound
    high = high + (low >> _HALF)
    rest = ((high & _MASK) << _HALF) | (low & _MASK)
    return np.asarray(high >> _HALF, dtype=np.int64), rest


def weights(distances_km: Floats, scale_per_km: Floats, ceilings: Ints) -> Ints:
    """The exponential law's integer weights, clamped into [2^24, ceiling]."""
    raw: Floats = np.multiply(ceilings, np.exp(-scale_per_km * distances_km))
    return clamped(raw, UNIT, ceilings)


def square_wave(words: Words, cells: Ints, wave: tuple[int, int, int]) -> Ints:
    """Output cells; `cell` to `cell + 2 reach` are the near ones."""
    # Inverse transform sampling without a cumulative array: `cell` light cells come first, then
    # the near ones, then the other light cells.
    resolution, reach, heavy = wave
    near = 2 * reach + 1
    target = high_product(words, near * heavy + (resolution - 1) * UNIT)
    before = cells * UNIT
    after = (target - near * heavy) // UNIT + near
    within = cells + (target - before) // heavy
    value = np.where(target < before + near * heavy, within, after)
    return np.where(target < before, target // UNIT, value)


def leading(holds: Callable[[Ints], Booleans], rows: int, size: int) -> Ints:
    """The number of leading entries of each row that satisfy a condition; later ones do not.

    ``holds`` evaluates the condition for one entry, below ``size``, of each row.
    """
    # Binary search in all rows at once.
    low, high = np.zeros(rows, dtype=np.int64), np.full(rows, size)
    while (low < high).any():
        middle = (low + high) // 2
        # In rows whose search is over, the entry may not exist, and its value is ignored.
        is_open, is_low = low < high, holds(np.minimum(middle, size - 1))
        low = np.where(is_open & is_low, middle + 1, low)
        high = np.where(is_open & ~is_low, middle, high)
    return low
