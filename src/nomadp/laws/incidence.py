"""Count the points that support each label, without checking every pair.

A point u supports label x if u0 + x1 u1 + x2 u2 + ... = 0 modulo q. There are two ways. Listing
enumerates the labels of each point, which are one in q. The transform counts for all labels at
once: the characters e^(-2 pi i c s / q) of that sum s, added up over all multiples c u of a
point, give q - 1 if s is 0 and -1 otherwise, and a discrete Fourier transform over the digits
evaluates them for every label. Both are exact, because the results of the transform are rounded
to integers.
"""

import math

import numpy as np

from nomadp.laws.channel import Ints

__all__ = ["by_listing", "by_transform", "support_of"]

_AT_ONCE = 1 << 22
"""Labels in memory at a time."""
_TABLE_MAX = 1 << 26
"""Largest table of the transform: 2^26 complex numbers, 1 GB."""


def support_of(points: Ints, counts: Ints, order: int, size: int) -> Ints:
    """Number of points, with multiplicities ``counts``, that support each of ``size``
    labels."""
    # Estimated operations of both ways; the cheaper one runs.
    table = order ** (points.shape[1] - 1)
    listed = len(points) * -(-size // order)
    transformed = len(points) * order + table * math.log2(table)
    cheaper = transformed < listed and table <= _TABLE_MAX
    count = by_transform if cheaper else by_listing
    return count(points, counts, order, size)


def by_listing(points: Ints, counts: Ints, order: int, size: int) -> Ints:
    """Enumerate labels: the last digit follows from the others and the equation."""
    upper = np.arange(-(-size // order))
    found = np.zeros(len(upper) * order, dtype=np.int64)
    step = max(1, _AT_ONCE // len(upper))
    for first in range(0, len(points), step):
        some, often = points[first : first + step], counts[first : first + step]
        rest = np.repeat(some[:, :1], len(upper), axis=1)
        for k in range(1, some.shape[1] - 1):
            digit = upper // order ** (some.shape[1] - 2 - k) % order
            rest = (rest + some[:, k, None] * digit) % order
        # If the last coordinate is 0, the last digit is free: all of its values or none fit.
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
    """Fourier transform of a table over the digits of labels, along each digit."""
    digits = points.shape[1] - 1
    powers = order ** np.arange(digits - 1, -1, -1, dtype=np.int64)
    table = np.zeros(order**digits, dtype=np.complex128)
    turns = np.exp(-2j * np.pi * np.arange(order) / order)
    for factor in range(1, order):
        multiple = points * factor % order
        np.add.at(table, multiple[:, 1:] @ powers, counts * turns[multiple[:, 0]])
    sums = np.fft.fftn(table.reshape((order,) * digits)).real.ravel()[:size]
    # Each supporting point contributes q - 1, each other -1: solve for the number of the first.
    supported: Ints = np.rint((sums + counts.sum()) / order).astype(np.int64)
    return supported
