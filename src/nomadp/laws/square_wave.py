"""The square wave: a number is reported as a nearby number (Li et al., SIGMOD 2020)."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from nomadp.errors import InvalidArgument
from nomadp.laws.channel import UNIT, Channel, Ints, Secret, check_share, check_words, heaviest

__all__ = ["SquareWave", "square_wave_half_width"]

_SERIES_UP_TO = 20  # the share up to which the width is a quotient of two series
_TERMS = 120  # of each series: at a share of 20, the later ones are below 1e-16 of the sum


@dataclass(frozen=True)
class SquareWave(Channel):
    """A number in [0, 1], divided into cells, is reported as a nearby cell (Eq. 4).

    Input cells are 0 .. resolution-1. Output cells reach ``reach`` further on both sides, and
    output cell j stands for input cell j - reach. The bound holds for any resolution.
    """

    resolution: int
    share: Fraction

    def __post_init__(self) -> None:
        check_share(self.share)
        if self.resolution < 1:
            raise InvalidArgument(
                f"resolution must be at least 1, got {self.resolution}",
                code="resolution_out_of_range",
                resolution=self.resolution,
            )
        check_words(UNIT, self._total)

    @cached_property
    def reach(self) -> int:
        return math.floor(square_wave_half_width(float(self.share)) * self.resolution)

    @cached_property
    def outputs(self) -> Ints:
        return np.arange(self.resolution + 2 * self.reach)

    def cell(self, value: Any) -> Ints:
        """The input cell of a number in [0, 1]."""
        cells: Ints = np.floor(np.asarray(value) * self.resolution).astype(np.int64)
        return cells.clip(0, self.resolution - 1)

    def weights(self, secret: Secret) -> Ints:
        distance = np.abs(self.outputs - self.reach - np.asarray(secret)[..., None])
        return np.where(distance <= self.reach, heaviest(UNIT, self.share), UNIT)

    @property
    def bound(self) -> Fraction:
        return Fraction(heaviest(UNIT, self.share), UNIT)

    @property
    def _total(self) -> int:
        # Outputs reach far enough on both sides that every input has all of its near cells.
        near = 2 * self.reach + 1
        return near * heaviest(UNIT, self.share) + (self.resolution - 1) * UNIT

    @property
    def extremes(self) -> tuple[Fraction, Fraction]:
        heavy = heaviest(UNIT, self.share)
        return Fraction(UNIT, self._total), Fraction(heavy, self._total)


def square_wave_half_width(share: float) -> float:
    """The width b of the square wave (Eq. 4), stable from 1e-12 to 1e3."""
    # The printed formula, b = (s e^s - e^s + 1) / (2 e^s (e^s - 1 - s)), cancels all digits for
    # a small share s and overflows for a large one. Here both sides of the fraction are divided
    # by s^2 as power series, or by e^2s.
    if share > _SERIES_UP_TO:
        decay = math.exp(-share)
        return decay * (share - 1 + decay) / (2 * (1 - (1 + share) * decay))
    # s e^s - e^s + 1 = s^2 sum (k+1) s^k / (k+2)!, and e^s - 1 - s = s^2 sum s^k / (k+2)!.
    term, numerator, denominator = 0.5, 0.0, 0.0  # term = share^k / (k+2)!
    for k in range(_TERMS):
        numerator += (k + 1) * term
        denominator += term
        term *= share / (k + 3)
    return numerator * math.exp(-share) / (2 * denominator)
