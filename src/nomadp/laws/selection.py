"""Subset selection: a report is a set of labels, more likely to contain the true one.

Ye and Barg (2018): with ``count`` near size / (e^share + 1), its frequency estimates have the
smallest variance of all mechanisms, up to a vanishing factor. A report lists ``count`` labels.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import InvalidArgument
from nomadp.laws.channel import UNIT, Ints, Secret, heaviest, high_product
from nomadp.laws.labels import LabelLaw

__all__ = ["SubsetSelection", "best_count"]


@dataclass(frozen=True)
class SubsetSelection(LabelLaw):
    """Outputs are sets of ``count`` of ``size`` labels, heavier if they contain the secret.

    As an output, a set is a number whose bit k says whether it contains label k. As a report,
    it is the list of its labels in ascending order.
    """

    size: int
    count: int
    share: Fraction

    def __post_init__(self) -> None:
        if not (1 <= self.count < self.size or self.size == self.count == 1):
            raise InvalidArgument(
                f"count must be at least 1 and below size={self.size}, got {self.count}",
                code="count_out_of_range",
                count=self.count,
                size=self.size,
            )
        self._check()

    @property
    def entries(self) -> int:
        return self.count

    @property
    def entry_size(self) -> int:
        return self.size

    @property
    def levels(self) -> tuple[int, int]:
        return self.count, self.size - self.count

    @property
    def overlap(self) -> Fraction:
        # The other count - 1 labels of the set are a uniform subset of size - 1 labels.
        return Fraction(self.count - 1, max(1, self.size - 1))

    @cached_property
    def output_count(self) -> int:
        return math.comb(self.size, self.count)

    @property
    def ranges(self) -> tuple[Sequence[int], Sequence[int]]:
        # Floyd's algorithm for k of n other labels: its last range has n numbers. A set with
        # the truth takes k - 1 others, one without it takes k.
        n, k = self.size - 1, self.count
        return range(n - k + 2, n + 1), range(max(1, n - k + 1), max(2, n + 1))

    @cached_property
    def outputs(self) -> Ints:
        self._check_enumerable()
        sets = combinations(range(self.size), self.count)
        masks = (sum(1 << label for label in labels) for labels in sets)
        return np.array(sorted(masks), dtype=np.int64)

    @property
    def first_output(self) -> int:
        return (1 << self.count) - 1

    def weights(self, secret: Secret) -> Ints:
        labels = np.asarray(secret)
        self._check_labels(labels)
        contains = (self.outputs >> labels[..., None]) & 1
        return np.where(contains, self.heavy, self.light)

    def drawn(self, labels: Ints, words: NDArray[np.uint64]) -> Ints:
        """Draw sets with Floyd's algorithm for uniform random subsets.

        Step k picks one of the first m labels other than the truth, where m grows by one at
        each step. If the picked label is in the set already, the m-th is added instead.
        """
        # A set that contains the truth has count - 1 others, and its m starts one higher. All
        # sets use the same number of words; a set that contains the truth ignores the last one.
        inside, numbers = self._is_inside(words), np.arange(self.count)[:, None]
        last = self.size - 1 - self.count + inside + numbers
        picked = _without(labels, high_product(words[:, 1:].T, last + 1))
        instead = _without(labels, last)
        rows, chosen = np.arange(len(labels)), np.zeros((len(labels), self.size), dtype=bool)
        for k in range(self.count):
            if k == self.count - 1:  # a set that contains the truth needs one label fewer
                rows = rows[~inside]
            label = picked[k, rows]
            repeated = chosen[rows, label]
            chosen[rows, np.where(repeated, instead[k, rows], label)] = True
        chosen[inside, labels[inside]] = True
        # One flat search: np.nonzero on two dimensions is twenty times slower.
        members = np.flatnonzero(chosen).reshape(len(labels), self.count)
        return members - self.size * np.arange(len(labels))[:, None]

    def report(self, output: Ints | int) -> tuple[Ints | int, ...]:
        if isinstance(output, int):
            digits = output.to_bytes(-(-self.size // 8), "little")
            bits = np.unpackbits(np.frombuffer(digits, dtype=np.uint8), bitorder="little")
            return tuple(np.flatnonzero(bits).tolist())
        contains = (np.asarray(output)[:, None] >> np.arange(self.size)) & 1
        return tuple(np.nonzero(contains)[1].reshape(-1, self.count).T)

    def possible(self, reports: Ints) -> NDArray[np.bool_]:
        if reports.shape[1] != self.count:
            return np.zeros(len(reports), dtype=bool)
        ascending = np.asarray((np.diff(reports, axis=1) > 0).all(axis=1))
        return ascending & (reports[:, 0] >= 0) & (reports[:, -1] < self.size)

    def support(self, values: Ints, counts: Ints) -> Ints:
        supported = np.zeros(self.size, dtype=np.int64)
        np.add.at(supported, values, counts)
        return supported

    def _output(self, report: Ints) -> int:
        bits = np.zeros(self.size, dtype=np.uint8)
        bits[report] = 1
        return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")


def _without(truth: Ints, numbers: Ints) -> Ints:
    """The labels with these numbers, in a numbering that skips the true label."""
    return numbers + (numbers >= truth)


def best_count(size: int, share: Fraction) -> int:
    """The number of labels per report with the smallest variance.

    For w of d labels, the variance grows with (w heavy + (d - w) light)^2 / (w (d - w)). This
    falls up to w = d light / (heavy + light) and rises from there, so one of the two integers
    next to it is best. Integer arithmetic makes the choice the same on every machine.
    """
    if size == 1:
        return 1
    heavy = heaviest(UNIT, share)
    below = size * UNIT // (heavy + UNIT)
    candidates = {min(max(1, w), size - 1) for w in (below, below + 1)}

    def variance(w: int) -> Fraction:
        return Fraction((w * heavy + (size - w) * UNIT) ** 2, w * (size - w))

    return min(sorted(candidates), key=variance)  # the smaller one in a tie
