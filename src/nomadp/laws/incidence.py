"""How many of many points each label supports, without looking at every pair of them.

A point u supports label x if u0 + x1 u1 + x2 u2 + ... = 0 modulo q. Either the labels of every
point are listed, one in q, or all are counted at once: summed over the multiples of u, the
characters of that sum are q - 1 where it is 0 and -1 elsewhere, and a transform over the digits
gives them for every label. Both are exact, as the transform is rounded to what can only be
whole numbers.
"""

import math

import numpy as np

from nomadp.laws.channel import Ints

__all__ = ["by_listing", "by_transform", "support_of"]

_AT_ONCE = 1 << 22
"""Numbers in memory at a time."""
_TABLE_MAX = 1 << 26
"""Of the transform: 1 GB."""


def support_of(points: Ints, counts: Ints, order: int, size: int) -> Ints:
    """For each of ``size`` labels, how many of these points support it, ``counts`` of each."""
    table = order ** (points.shape[1] - 1)
    listed = len(points) * -(-size // order)
    transformed = len(points) * order + table * math.log2(table)
    cheaper = transformed < listed and table <= _TABLE_MAX
    count = by_transform if cheaper else by_listing
    return count(points, counts, order, size)


def by_listing(points: Ints, counts: Ints, order: int, size: int) -> Ints:
    """The last digit of a label follows from the others, unless it does not matter."""
    upper = np.arange(-(-size // order))
    found = np.zeros(len(upper) * order, dtype=np.int64)
    step = max(1, _AT_ONCE // len(upper))
    for first in range(0, len(points), step):
        some, often = points[first : first + step], counts[first : first + step]
        rest = np.repeat(some[:, :1], len(upper), axis=1)
        for k in range(1, some.shape[1] - 1):
            digit = upper // order ** (some.shape[1] - 2 - k) % order
            rest = (rest + some[:, k, None] * digit) % order
        free = some[:, -1] == 0
        last = np.array([pow(-int(u), -1, order) if u else 0 for u in some[:, -1]])
        label = upper * order + rest * last[:, None] % order
        times = np.where(free, 0, often)
        found += _counted(label, times[:, None], len(found))
        each = _counted(np.where(rest == 0, upper, len(upper))[free], often[free, None])
        each = np.pad(each, (0, len(upper) + 1 - len(each)))
        found += np.repeat(each[: len(upper)], order)
    return found[:size]


def _counted(numbers: Ints, often: Ints, least: int = 0) -> Ints:
    weight = np.broadcast_to(often, numbers.shape).ravel()
    found: Ints = np.rint(np.bincount(numbers.ravel(), weight, least)).astype(np.int64)
    return found


def by_transform(points: Ints, counts: Ints, order: int, size: int) -> Ints:
    """A table over the digits of labels, transformed along each of them."""
    digits = points.shape[1] - 1
    powers = order ** np.arange(digits - 1, -1, -1, dtype=np.int64)
    table = np.zeros(order**digits, dtype=np.complex128)
    turns = np.exp(-2j * np.pi * np.arange(order) / order)
    for factor in range(1, order):
        multiple = points * factor % order
        np.add.at(table, multiple[:, 1:] @ powers, counts * turns[multiple[:, 0]])
    sums = np.fft.fftn(table.reshape((order,) * digits)).real.ravel()[:size]
    found: Ints = np.rint((sums + counts.sum()) / order).astype(np.int64)
    return found
