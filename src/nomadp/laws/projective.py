"""Projective geometry response: a report is one number, for any number of labels.

A frequency oracle by Feldman, Nelson, Nguyen and Talwar (2022). Outputs are the points of a
projective space over the field of a prime q: rows of t coordinates, up to a common factor.
Label x has t - 1 digits x1, x2, ... to the base q. A point u supports x if
u0 + x1 u1 + x2 u2 + ... = 0, which holds for about one point in q; the variance is smallest if
that is near 1 / (e^share + 1). Any two labels are supported together by the same number of
points. A point's number is that of its multiple whose first nonzero coordinate is 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import InvalidArgument
from nomadp.laws.channel import UNIT, Ints, Secret, heaviest, high_product
from nomadp.laws.incidence import support_of
from nomadp.laws.labels import LabelLaw

__all__ = ["ProjectiveResponse", "best_space"]


@dataclass(frozen=True)
class ProjectiveResponse(LabelLaw):
    """Outputs are the points with ``dimensions`` coordinates modulo the prime ``order``."""

    size: int
    order: int
    dimensions: int
    share: Fraction

    def __post_init__(self) -> None:
        room = self.dimensions >= 2 and self.order ** (self.dimensions - 1) >= self.size
        if not (room and _is_prime(self.order)):
            raise InvalidArgument(
                f"a projective space must have a prime order and room for {self.size} labels, "
                f"got order={self.order} and dimensions={self.dimensions}",
                code="projective_space_unsuitable",
                size=self.size,
                order=self.order,
                dimensions=self.dimensions,
            )
        self._check()

    @property
    def entries(self) -> int:
        return 1

    @property
    def entry_size(self) -> int:
        return self.output_count

    @cached_property
    def output_count(self) -> int:
        return self._points_of(self.dimensions)

    def _points_of(self, dimensions: int) -> int:
        """The number of points with t coordinates: (q^t - 1) / (q - 1)."""
        return int((self.order**dimensions - 1) // (self.order - 1))

    @cached_property
    def levels(self) -> tuple[int, int]:
        inside = self._points_of(self.dimensions - 1)
        return inside, self.output_count - inside

    @property
    def overlap(self) -> Fraction:
        # Two labels are two hyperplanes, which intersect in a space with two coordinates fewer.
        return Fraction(self._points_of(self.dimensions - 2), self.levels[0])

    @property
    def ranges(self) -> tuple[Sequence[int], Sequence[int]]:
        return (self.levels[0],), (self.order,) * (self.dimensions - 1)

    @cached_property
    def outputs(self) -> Ints:
        self._check_enumerable()
        return np.arange(self.output_count)

    @property
    def first_output(self) -> int:
        return 0

    def weights(self, secret: Secret) -> Ints:
        labels = np.asarray(secret)
        self._check_labels(labels)
        point, digits = self.coordinates(self.outputs), self.digits(labels)
        # Products are below q^2 and there are few of them, so sums stay far below 2^63.
        rest = (point[:, 0] + digits @ point[:, 1:].T) % self.order
        return np.where(rest == 0, self.heavy, self.light)

    def drawn(self, labels: Ints, words: NDArray[np.uint64]) -> Ints:
        """Draw points on the labels' hyperplanes (the truth is supported) or off them."""
        # On the hyperplane: one word picks u1, u2, ... as a point of the space with one
        # coordinate fewer, and u0 follows from the equation. Off it: each of u1, u2, ... has
        # its own word, and u0 makes the sum 1; every such point has exactly one such multiple.
        inside, q = self._is_inside(words)[:, None], self.order
        smaller = self.coordinates(
            high_product(words[:, 1], self.levels[0]), self.dimensions - 1
        )
        free = high_product(words[:, 1:], q)
        tail = np.where(inside, smaller, free)
        head = np.where(inside[:, 0], 0, 1)
        for digit, coordinate in zip(self.digits(labels).T, tail.T, strict=True):
            head = (head - digit * coordinate) % q
        return self._numbers(np.column_stack([head, tail]))[:, None]

    def report(self, output: Ints | int) -> tuple[Ints | int, ...]:
        return (output,)

    def possible(self, reports: Ints) -> NDArray[np.bool_]:
        if reports.shape[1] != 1:
            return np.zeros(len(reports), dtype=bool)
        inside: NDArray[np.bool_] = (reports[:, 0] >= 0) & (reports[:, 0] < self.output_count)
        return inside

    def support(self, values: Ints, counts: Ints) -> Ints:
        return support_of(self.coordinates(values), counts, self.order, self.size)

    def _output(self, report: Ints) -> int:
        return int(report[0])

    def digits(self, labels: Ints) -> Ints:
        """The digits of each label to the base q, along a new last axis."""
        powers = self.order ** np.arange(self.dimensions - 2, -1, -1, dtype=np.int64)
        digits: Ints = labels[..., None] // powers % self.order
        return digits

    def coordinates(self, numbers: Ints, dimensions: int | None = None) -> Ints:
        """The coordinates of numbered points, (..., t).

        Points are ordered by how many free coordinates follow their leading 1.
        """
        count = self.dimensions if dimensions is None else dimensions
        points = np.zeros((*numbers.shape, count), dtype=np.int64)
        # Points with `free` free coordinates have the numbers from first to first + q^free - 1.
        for free in range(count):
            first = self._points_of(free)
            block = (numbers >= first) & (numbers < self._points_of(free + 1))
            points[block, count - 1 - free] = 1
            rest = numbers[block] - first
            for k in range(free):
                points[block, count - 1 - k] = rest % self.order
                rest //= self.order
        return points

    def _numbers(self, points: Ints) -> Ints:
        """The numbers of points: the inverse of `coordinates`."""
        # Normalise each point to a leading 1, then read the rest as digits to the base q.
        q, count = self.order, self.dimensions
        lead = (points != 0).argmax(axis=1)
        scale = _inverses(points[np.arange(len(points)), lead], q)
        number = np.zeros(len(points), dtype=np.int64)
        for k in range(count):
            digit = np.where(k > lead, points[:, k] * scale % q, 0)
            number = number * q + digit
        first = np.array([self._points_of(count - 1 - k) for k in range(count)])
        numbers: Ints = number + first[lead]
        return numbers


def _inverses(values: Ints, prime: int) -> Ints:
    """1 / value modulo the prime, by Fermat's little theorem: value^(prime - 2)."""
    # Square and multiply. Factors stay below 2^31, so that products fit 63 bits.
    inverse, square, power = np.ones_like(values), values % prime, prime - 2
    while power:
        if power & 1:
            inverse = inverse * square % prime
        square, power = square * square % prime, power >> 1
    return inverse


def best_space(size: int, share: Fraction) -> ProjectiveResponse:
    """The law with the smallest variance among a few candidate primes.

    Candidates are the primes next to e^share + 1, which is optimal without rounding, and for
    each number of coordinates the smallest prime with room for all labels. Integer arithmetic
    makes the choice the same on every machine.
    """
    optimum = (heaviest(UNIT, share) + UNIT) // UNIT
    orders = {_prime(optimum, 1), _prime(optimum, -1)}
    # A prime at or above the t-th root of the number of labels leaves few digits unused.
    roots = (_root(size, power) for power in range(1, max(2, size.bit_length() + 1)))
    orders |= {_prime(root, 1) for root in roots}
    laws = [
        ProjectiveResponse(size, order, _dimensions(size, order), share)
        for order in sorted(orders)
    ]
    return min(laws, key=lambda law: law.variance)


def _dimensions(size: int, order: int) -> int:
    """The smallest number of coordinates with room for all labels."""
    dimensions = 2
    while order ** (dimensions - 1) < size:
        dimensions += 1
    return dimensions


def _root(size: int, power: int) -> int:
    """The smallest integer whose power is at least ``size``."""
    # The float root may be off by one, so the search begins below it and uses integers.
    root = max(2, math.floor(math.pow(size, 1 / power)) - 1)
    while root**power < size:
        root += 1
    return root


def _prime(start: int, step: int) -> int:
    """The first prime at or after ``start``, upwards or downwards."""
    while not _is_prime(start):
        start += step
    return start


def _is_prime(number: int) -> bool:
    return number >= 2 and all(number % k for k in range(2, math.isqrt(number) + 1))
