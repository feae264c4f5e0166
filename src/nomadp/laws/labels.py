"""What laws for direct questions share: a report supports labels, the true one more often.

Among all outputs, those that support the true label weigh `heavy`, the others `light`. How many
support a label is the same for every label, so the total is constant and the loss is the ratio
of the two weights. Two labels are always supported together by as many outputs, so a report
supports any other label with one and the same chance: shares can be estimated without bias.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import BudgetError, DomainError, InvalidArgument, OutOfRange
from nomadp.laws.channel import UNIT, Channel, Ints, Secret, check_share, heaviest

__all__ = ["LABELS_MAX", "STEPS_MAX", "LabelLaw"]

LABELS_MAX = 2**24
_OWNED = 2**32
"""Words that each level must own: then rounding to words moves its chance by 2^-32 at most."""
STEPS_MAX = 2**30
"""What the ranges of all further words may add up to: each is uniform up to range / 2^64. Both
together stretch a ratio by less than 2 (2^-32 + 2^-34): less than the 2^-30 given away."""
_DIGITS = 192  # binary ones, of products that are rounded to the safe side
_ENUMERATED = 2**20


class LabelLaw(Channel):
    """Two levels over outputs, each of which supports some of ``size`` labels.

    It is drawn in two stages, with a number of words that no secret changes: the first word
    decides whether the truth is supported, the others pick one of all such outputs uniformly.
    """

    size: int
    """How many labels there are: a secret is one of them."""

    @property
    @abstractmethod
    def entries(self) -> int:
        """Of how many numbers a report is made."""

    @property
    @abstractmethod
    def entry_size(self) -> int:
        """How many values each of them may take."""

    @property
    @abstractmethod
    def levels(self) -> tuple[int, int]:
        """How many outputs support the truth and how many do not, but for a common factor."""

    @property
    @abstractmethod
    def together(self) -> Fraction:
        """Of the outputs that support one label, the part that supports another one, too."""

    @property
    @abstractmethod
    def output_count(self) -> int:
        """How many outputs there are."""

    @property
    @abstractmethod
    def ranges(self) -> tuple[Sequence[int], Sequence[int]]:
        """For each level, among how many numbers each further word picks one."""

    @abstractmethod
    def drawn(self, labels: Ints, words: NDArray[np.uint64]) -> Ints:
        """A report (row of `entries`) for each label, with a row of `word_count` words each."""

    @abstractmethod
    def report(self, output: Ints | int) -> tuple[Ints | int, ...]:
        """An output as the numbers that a report is made of."""

    @abstractmethod
    def possible(self, reports: Ints) -> NDArray[np.bool_]:
        """Which rows of numbers are reports."""

    @abstractmethod
    def support(self, values: Ints, counts: Ints) -> Ints:
        """In how many reports each label is supported, where their numbers occur so often."""

    @property
    def word_count(self) -> int:
        return 1 + max(map(len, self.ranges))

    @cached_property
    def heavy(self) -> int:
        """The weight of an output that supports the truth."""
        return heaviest(UNIT, self.share)

    @cached_property
    def light(self) -> int:
        """That of any other."""
        return UNIT

    @cached_property
    def true_chance(self) -> Fraction:
        """That a report supports the true label."""
        inside, outside = self.levels
        return Fraction(inside * self.heavy, inside * self.heavy + outside * self.light)

    @cached_property
    def other_chance(self) -> Fraction:
        """That it supports any one other label; 0 where there is none."""
        if self.size == 1:
            return Fraction(0)
        inside, outside = self.levels
        rest = inside * (1 - self.together) / outside if outside else Fraction(0)
        return self.true_chance * self.together + (1 - self.true_chance) * rest

    @property
    def variance(self) -> Fraction:
        """Of all unbiased shares together, times the number of reports, whatever the truth."""
        self._check_telling()
        p, q = self.true_chance, self.other_chance
        return (self.size * q * (1 - q) + (1 - p - q) * (p - q)) / (p - q) ** 2

    def _check_telling(self) -> None:
        if self.true_chance == self.other_chance:
            raise BudgetError(
                "the share of a frequency oracle must be at least 2^-23, so that in whole "
                "numbers the truth weighs more than anything else, got "
                f"share={float(self.share):.2g}; use a larger epsilon",
                code="share_too_small",
                share=float(self.share),
            )

    @property
    def bound(self) -> Fraction:
        return Fraction(self.heavy, self.light)

    @property
    def extremes(self) -> tuple[Fraction, Fraction]:
        inside, outside = self.levels
        each = Fraction(inside + outside, self.output_count)
        total = inside * self.heavy + outside * self.light
        least = self.light if outside else self.heavy
        return each * least / total, each * self.heavy / total

    @cached_property
    def in_words(self) -> Fraction:
        """From the fewest and the most words that may lead to one output; rounded up.

        Of as many outputs as a level has, each is picked by equally many rows of numbers, and
        every number by the floor or the ceiling of 2^64 / range words.
        """
        owned = self._inside_words, 2**64 - self._inside_words
        fewest, most = [], []
        for words, outputs, ranges in zip(owned, self.levels, self.ranges, strict=True):
            if outputs:
                low = high = 1 << _DIGITS
                for r in ranges:
                    low = low * (2**64 // r * r) >> 64
                    high = -(-high * (-(-(2**64) // r) * r) >> 64)
                fewest.append(Fraction(words * low, outputs))
                most.append(Fraction(words * high, outputs))
        return max(most) / min(fewest)

    @property
    def stretch(self) -> Fraction:
        return max(Fraction(1), self.in_words / self.bound)

    def draw(self, secret: Secret, word: Callable[[], int]) -> int:
        words = np.array([[word() for _ in range(self.word_count)]], dtype=np.uint64)
        labels = np.array([secret], dtype=np.int64)
        self._check_labels(labels)
        return self._output(self.drawn(labels, words)[0])

    @abstractmethod
    def _output(self, report: Ints) -> int:
        """The output that a report stands for."""

    @cached_property
    def _inside_words(self) -> int:
        """The words below this one, of 2^64, decide that the truth is supported."""
        return math.ceil(self.true_chance * 2**64)

    def _is_inside(self, words: NDArray[np.uint64]) -> NDArray[np.bool_]:
        last = np.uint64(self._inside_words - 1)
        inside: NDArray[np.bool_] = words[:, 0] <= last
        return inside

    def _check(self) -> None:
        check_share(self.share)
        if not 1 <= self.size <= LABELS_MAX:
            raise DomainError(
                f"a question must have from 1 to {LABELS_MAX} labels, got {self.size}; ask "
                "about larger zones",
                code="label_count_out_of_range",
                labels=self.size,
                most=LABELS_MAX,
            )
        owned = [words for words in (self._inside_words, 2**64 - self._inside_words) if words]
        if min(owned) < _OWNED or max(map(sum, self.ranges)) > STEPS_MAX:
            raise BudgetError(
                "64-bit words must keep the share of a draw, and do not for "
                f"{self.size} labels at {float(self.share):g}; use a smaller epsilon or "
                "larger zones",
                code="word_precision_exceeded",
            )

    def _check_labels(self, labels: Ints) -> None:
        if np.any((labels < 0) | (labels >= self.size)):
            raise OutOfRange(
                f"input must be in [0, {self.size}); its value is withheld",
                code="input_out_of_range",
                size=self.size,
            )

    def _check_enumerable(self) -> None:
        few = self.output_count <= _ENUMERATED and int(self.first_output).bit_length() <= 62
        if not few or self.output_count * self.heavy >= 2**63:
            raise InvalidArgument(
                f"{self.output_count} outputs are too many to be enumerated; its bound and "
                "its loss in words are exact at any size",
                code="too_many_outputs",
                outputs=self.output_count,
            )
