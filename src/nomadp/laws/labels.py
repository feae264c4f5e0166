"""The common part of all frequency oracles: a report supports labels, the true one more often.

These are pure LDP protocols in the sense of Wang et al. (2017). Outputs that support the true
label have weight `heavy`, all others `light`. The number of outputs that support a label is the
same for every label, so the total is constant and the privacy loss is the log of the weights'
ratio. Any two labels are supported together by the same number of outputs, so a report
supports every other label with the same probability, and shares have unbiased estimates.
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
"""Words that each level must own: rounding then changes its probability by a relative 2^-32."""
STEPS_MAX = 2**30
"""Maximum sum of the ranges of all further words, each uniform up to range / 2^64. Together
they raise a ratio by less than 2 (2^-32 + 2^-34), which is below the laws' slack of 2^-30."""
_DIGITS = 192  # binary digits of products that are rounded to the safe side
_OUTPUTS_MAX = 2**20  # of laws that are enumerated


class LabelLaw(Channel):
    """Two weights over outputs, each of which supports some of ``size`` labels.

    Drawing has two stages. The first word decides whether the report supports the truth. The
    others pick one of those outputs uniformly. The number of words does not depend on the
    secret.
    """

    size: int
    """Number of labels; a secret is one of them."""

    @property
    @abstractmethod
    def entries(self) -> int:
        """Number of integers in a report."""

    @property
    @abstractmethod
    def entry_size(self) -> int:
        """Number of values that each of these integers may take."""

    @property
    @abstractmethod
    def levels(self) -> tuple[int, int]:
        """Numbers of outputs that do and do not support the truth, up to a common factor."""

    @property
    @abstractmethod
    def overlap(self) -> Fraction:
        """Of the outputs that support one label, the fraction that supports another, too."""

    @property
    @abstractmethod
    def output_count(self) -> int:
        """Number of outputs."""

    @property
    @abstractmethod
    def ranges(self) -> tuple[Sequence[int], Sequence[int]]:
        """For each level, the size of the range from which each further word picks."""

    @abstractmethod
    def drawn(self, labels: Ints, words: NDArray[np.uint64]) -> Ints:
        """Draw a report (a row of `entries`) for each label from a row of `word_count`
        words."""

    @abstractmethod
    def report(self, output: Ints | int) -> tuple[Ints | int, ...]:
        """The integers of the report that an output stands for."""

    @abstractmethod
    def possible(self, reports: Ints) -> NDArray[np.bool_]:
        """For each row of integers, whether it is a valid report."""

    @abstractmethod
    def support(self, values: Ints, counts: Ints) -> Ints:
        """Number of reports that support each label, given ``counts`` of each value."""

    @property
    def word_count(self) -> int:
        return 1 + max(map(len, self.ranges))

    @cached_property
    def heavy(self) -> int:
        """Weight of an output that supports the true label."""
        return heaviest(UNIT, self.share)

    @cached_property
    def light(self) -> int:
        """Weight of any other output."""
        return UNIT

    @cached_property
    def true_chance(self) -> Fraction:
        """Probability that a report supports the true label (p in the literature)."""
        inside, outside = self.levels
        return Fraction(inside * self.heavy, inside * self.heavy + outside * self.light)

    @cached_property
    def other_chance(self) -> Fraction:
        """Probability that it supports any given other label (q); 0 if there is none."""
        if self.size == 1:
            return Fraction(0)
        inside, outside = self.levels
        # The outputs of a level are equally likely. Another label has as many outputs as the
        # truth: the fraction `overlap` of them supports both, the rest are outside.
        rest = inside * (1 - self.overlap) / outside if outside else Fraction(0)
        return self.true_chance * self.overlap + (1 - self.true_chance) * rest

    @property
    def variance(self) -> Fraction:
        """Total variance of the unbiased share estimates, times the number of reports.

        It does not depend on the true shares.
        """
        self._check_informative()
        # With c_x reports out of n supporting x, (c_x / n - q) / (p - q) is unbiased. For the
        # share s, its variance is [q (1 - q) + s (1 - p - q) (p - q)] / (n (p - q)^2): linear
        # in s (Wang et al. 2017), and the shares add up to 1.
        p, q = self.true_chance, self.other_chance
        return (self.size * q * (1 - q) + (1 - p - q) * (p - q)) / (p - q) ** 2

    def _check_informative(self) -> None:
        if self.true_chance == self.other_chance:
            raise BudgetError(
                "the share of a frequency oracle must be at least 2^-23, so that the true "
                "label has a larger integer weight than any other, got "
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
        # Levels count outputs up to a common factor; this is the factor's inverse.
        unit = Fraction(inside + outside, self.output_count)
        total = inside * self.heavy + outside * self.light
        least = self.light if outside else self.heavy
        return unit * least / total, unit * self.heavy / total

    @cached_property
    def word_ratio(self) -> Fraction:
        """Upper bound from the fewest and the most words that may lead to one output.

        Within a level, every output is picked by the same number of rows of integers, and every
        integer by the floor or the ceiling of 2^64 / range words.
        """
        owned = self._inside_words, 2**64 - self._inside_words
        fewest, most = [], []
        for words, outputs, ranges in zip(owned, self.levels, self.ranges, strict=True):
            if outputs:
                low = high = 1 << _DIGITS  # fixed point: floor for low, ceiling for high
                for r in ranges:
                    low = low * (2**64 // r * r) >> 64
                    high = -(-high * (-(-(2**64) // r) * r) >> 64)
                fewest.append(Fraction(words * low, outputs))
                most.append(Fraction(words * high, outputs))
        return max(most) / min(fewest)

    @property
    def stretch(self) -> Fraction:
        return max(Fraction(1), self.word_ratio / self.bound)

    def draw(self, secret: Secret, word: Callable[[], int]) -> int:
        words = np.array([[word() for _ in range(self.word_count)]], dtype=np.uint64)
        labels = np.array([secret], dtype=np.int64)
        self._check_labels(labels)
        return self._output(self.drawn(labels, words)[0])

    @abstractmethod
    def _output(self, report: Ints) -> int:
        """The output that a report represents."""

    @cached_property
    def _inside_words(self) -> int:
        """Number of first words, of 2^64, for which the report supports the truth."""
        # That is, floor(word * total / 2^64) is below the sum of the weights inside.
        return math.ceil(self.true_chance * 2**64)

    def _is_inside(self, words: NDArray[np.uint64]) -> NDArray[np.bool_]:
        last = np.uint64(self._inside_words - 1)
        inside: NDArray[np.bool_] = words[:, 0] <= last
        return inside

    def _check(self) -> None:
        check_share(self.share)
        if not 1 <= self.size <= LABELS_MAX:
            raise DomainError(
                f"a frequency oracle must have from 1 to {LABELS_MAX} labels, got {self.size}; "
                "use larger zones",
                code="label_count_out_of_range",
                labels=self.size,
                most=LABELS_MAX,
            )
        owned = [words for words in (self._inside_words, 2**64 - self._inside_words) if words]
        if min(owned) < _OWNED or max(map(sum, self.ranges)) > STEPS_MAX:
            raise BudgetError(
                "64-bit words must resolve the probabilities of a draw, got "
                f"{self.size} labels at epsilon {float(self.share):g}; use a smaller epsilon "
                "or larger zones",
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
        # Outputs are held in 64-bit integers, and their weights must add up in 63 bits.
        few = self.output_count <= _OUTPUTS_MAX and int(self.first_output).bit_length() <= 62
        if not few or self.output_count * self.heavy >= 2**63:
            raise InvalidArgument(
                f"a law must have at most {_OUTPUTS_MAX} outputs to be enumerated, got "
                f"{self.output_count}; its bound and its loss in words are exact at any size",
                code="too_many_outputs",
                outputs=self.output_count,
            )
