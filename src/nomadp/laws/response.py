"""Randomised response, and the draw that reads no secret at all."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from nomadp.errors import InvalidArgument, OutOfRange
from nomadp.laws.channel import Channel, Ints, Secret, check_share, check_words, heaviest

__all__ = ["RESPONSE_UNIT", "RandomizedResponse", "Uniform"]

RESPONSE_UNIT = 2**32
"""The weight of every other value: rounding the true one's changes the ratio by < 2^-32."""


@dataclass(frozen=True)
class RandomizedResponse(Channel):
    """k-RR: the true value with odds of at most e^share to 1 against each other one (Eq. 2)."""

    size: int
    share: Fraction

    def __post_init__(self) -> None:
        check_share(self.share)
        if self.size < 2:
            raise InvalidArgument(
                f"size must be at least 2, got size={self.size}",
                code="size_out_of_range",
                size=self.size,
            )
        check_words(RESPONSE_UNIT, self._total)

    @property
    def _total(self) -> int:
        return heaviest(RESPONSE_UNIT, self.share) + (self.size - 1) * RESPONSE_UNIT

    @cached_property
    def outputs(self) -> Ints:
        return np.arange(self.size)

    def weights(self, secret: Secret) -> Ints:
        value = np.asarray(secret)
        if np.any((value < 0) | (value >= self.size)):
            raise OutOfRange(
                f"input must be in [0, {self.size}); its value is withheld",
                code="input_out_of_range",
                size=self.size,
            )
        # The total is the same for every input, so the loss is the log of the weights' ratio.
        true = value[..., None] == self.outputs
        return np.where(true, heaviest(RESPONSE_UNIT, self.share), RESPONSE_UNIT)

    @property
    def bound(self) -> Fraction:
        return Fraction(heaviest(RESPONSE_UNIT, self.share), RESPONSE_UNIT)

    @property
    def extremes(self) -> tuple[Fraction, Fraction]:
        heavy = heaviest(RESPONSE_UNIT, self.share)
        return Fraction(RESPONSE_UNIT, self._total), Fraction(heavy, self._total)


@dataclass(frozen=True)
class Uniform(Channel):
    """One of ``size`` equally likely values. It reads no secret, so it uses no budget.

    Its input may be a *released* number n, and the output is then one of the first n values.
    (A secret input would leak: the auditor would flag that the support depends on it.)
    """

    size: int
    share: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.size < 1:
            raise InvalidArgument(
                f"size must be at least 1, got size={self.size}",
                code="size_out_of_range",
                size=self.size,
            )

    @cached_property
    def outputs(self) -> Ints:
        return np.arange(self.size)

    def weights(self, secret: Secret) -> Ints:
        count = np.asarray(self.size if secret is None else secret)
        if np.any((count < 1) | (count > self.size)):
            raise InvalidArgument(
                f"a uniform draw must have from 1 to {self.size} values",
                code="count_out_of_range",
                size=self.size,
            )
        possible: Ints = (self.outputs < count[..., None]).astype(np.int64)
        return possible

    @property
    def bound(self) -> Fraction:
        return Fraction(1)
