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

_LABELS_AT_ONCE = 1 << 22
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
    upper = np.arange(-(-size // order))  # all digits but the last, as one number
    support = np.zeros(len(upper) * order, dtype=np.int64)
    step = max(1, _LABELS_AT_ONCE // len(upper))
    for first in range(0, len(points), step):
        batch, multiplicity = points[first : first + step], counts[first : first + step]
        rest = np.repeat(batch[:, :1], len(upper), axis=1)
        for k in range(1, batch.shape[1] - 1):
            digit = upper // order ** (batch.shape[1] - 2 - k) % order
            rest = (rest + batch[:, k, None] * digit) % order
        # Solve rest + last digit * last coordinate = 0 for the digit, with modular inverses.
        # If the last coordinate is 0, the last digit is free: all of its values or none fit.
        free = batch[:, -1] == 0
        inverse = np.array([pow(-int(u), -1, order) if u else 0 for u in batch[:, -1]])
        label = upper * order + rest * inverse[:, None] % order
        solved = np.where(free, 0, multiplicity)
        support += _weighted_counts(label, solved[:, None], len(support))
        # Number len(upper) collects the labels that do not fit; it is dropped.
        fits = np.where(rest == 0, upper, len(upper))[free]
        by_upper = _weighted_counts(fits, multiplicity[free, None], len(upper) + 1)
        support += np.repeat(by_upper[: len(upper)], order)
    return support[:size]


def _weighted_counts(numbers: Ints, weights: Ints, size: int) -> Ints:
    """How often each number below ``size`` occurs, with weights."""
    # Weighted bincount sums floats: exact below 2^53, more than any number of reports.
    weight = np.broadcast_to(weights, numbers.shape).ravel()
    counts: Ints = np.rint(np.bincount(numbers.ravel(), weight, size)).astype(np.int64)
    return counts


def by_transform(points: Ints, counts: Ints, order: int, size: int) -> Ints:
    """Fourier transform of a table over the digits of labels, along each digit."""
    # The table adds up the phases e^(-2 pi i c u0 / q) at the index c (u1, u2, ...) of every
    # multiple c u of a point; its transform at x adds up e^(-2 pi i c s / q).
    digits = points.shape[1] - 1
    powers = order ** np.arange(digits - 1, -1, -1, dtype=np.int64)
    table = np.zeros(order**digits, dtype=np.complex128)
    turns = np.exp(-2j * np.pi * np.arange(order) / order)
    for factor in range(1, order):
        multiple = points * factor % order
        np.add.at(table, multiple[:, 1:] @ powers, counts * turns[multiple[:, 0]])
    # Label x has the digits x1, x2, ... in the order of the axes, so ravel restores its number.
    sums = np.fft.fftn(table.reshape((order,) * digits)).real.ravel()[:size]
    # A supporting point contributes q - 1, any other -1: solve for the number of supporters.
    supported: Ints = np.rint((sums + counts.sum()) / order).astype(np.int64)
    return supported
