"""Draws from each kind of law, with the words of a row: the parts of the compiled loops."""

import math
from typing import Any

import numpy as np

from nomadp.laws.channel import UNIT
from nomadp.laws.response import RESPONSE_UNIT
from nomadp.mechanisms.fast.compiling import kernel, part
from nomadp.mechanisms.fast.values import Batch, Drawn, Plan

__all__ = [
    "below",
    "near",
    "response",
    "high_product",
    "split",
    "toss_coins",
    "weight_of",
    "within",
]

_MASK = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@part
def below(words: Any, used: int, total: int) -> Any:
    """floor(word * total / 2^64) for the next word; 0 if the row has run out of words."""
    # The 0 is never reported: a row that used too many words is drawn again with more.
    if used >= len(words):
        return 0
    return high_product(words[used], total)


@part
def high_product(word: Any, total: int) -> Any:
    """floor(word * total / 2^64), for any total."""
    bound = np.uint64(total)
    low, high = word & _MASK, word >> _HALF
    bound_low, bound_high = bound & _MASK, bound >> _HALF
    middle = high * bound_low + ((low * bound_low) >> _HALF)
    carry = low * bound_high + (middle & _MASK)
    return np.int64(high * bound_high + (middle >> _HALF) + (carry >> _HALF))


@part
def split(word: Any, total: int) -> Any:
    """The integer part and the fraction of word * total, with the word as a number in [0, 1).

    The fraction is a word again: 64 digits, uniform given the integer part. So one word can
    serve for several draws. The probability of each joint outcome is exact up to one word in
    2^64, as in the reference's draw with one word. Totals must be below 2^32.
    """
    bound = np.uint64(total)
    low, high = (word & _MASK) * bound, (word >> _HALF) * bound
    high += low >> _HALF
    return np.int64(high >> _HALF), ((high & _MASK) << _HALF) | (low & _MASK)


@part
def weight_of(distance_km: float, scale_per_km: float, ceiling: int) -> Any:
    """The exponential law's integer weight, clamped into [2^24, ceiling]."""
    weight = ceiling * math.exp(-scale_per_km * distance_km)
    # "Not at least" also catches NaN, as `clamped` does.
    if not weight >= UNIT:
        return np.int64(UNIT)
    return np.int64(min(weight, ceiling))


@kernel
def near(words: Any, used: int, domain: Any, row_km: Any, law: Any) -> Any:
    """Draw a location of the domain, with the law (scale, offset, ceiling).

    Returns the location and the words used so far.
    """
    # Rejection sampling: propose uniformly, accept with probability weight / ceiling. The
    # accepted location follows the law exactly, without adding up all weights.
    ceiling = np.int64(law[2])
    while True:
        proposed = domain[below(words, used, len(domain))]
        threshold = below(words, used + 1, ceiling)
        used += 2
        weight = weight_of(row_km[proposed] - law[1], law[0], ceiling)
        if threshold < weight or used > len(words):
            return proposed, used


@part
def response(words: Any, used: int, true: int, size: int, heavy: int) -> int:
    """Randomised response over ``size`` values, with one word."""
    # Cumulative weights: units before the true value, then its heavy weight, then units again.
    target = below(words, used, heavy + (size - 1) * RESPONSE_UNIT)
    before = true * RESPONSE_UNIT
    if target < before:
        return target // RESPONSE_UNIT
    if target < before + heavy:
        return true
    return (target - heavy) // RESPONSE_UNIT + 1


@kernel
def toss_coins(batch: Batch, plan: Plan, drawn: Drawn) -> None:
    """The coins of every trajectory's points, after both of its copies.

    A single location that is drawn once needs none: both of its copies are that draw.
    """
    for k in range(len(batch.offsets) - 1):
        start, end = batch.offsets[k], batch.offsets[k + 1]
        if plan.alone and end - start == 1:
            drawn.copies[1, start] = drawn.copies[0, start]
        elif plan.coin:
            for i in range(start, end):
                drawn.coins[i] = below(batch.words[k], drawn.used[k], 2)
                drawn.used[k] += 1


@kernel
def within(row_km: Any, order: Any, limit_km: float) -> int:
    """The number of locations within a distance, by binary search; ``order`` sorts them."""
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) // 2
        if row_km[order[middle]] <= limit_km:
            low = middle + 1
        else:
            high = middle
    return low
