"""What every channel is, and the arithmetic that leaves no gap between proof and program.

Weights are clamped into a range whose ratio is at most e^share by rational arithmetic, so
float errors in a distance or an exponential can cost accuracy but never privacy. What is drawn
are words: an output of probability p owns floor or ceiling of p 2^64 of them. That is paid
from what the laws give away, as long as the lightest output owns enough words (`check_words`).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nomadp.budget import MIN_SHARE, exp_lower
from nomadp.errors import BudgetError

__all__ = [
    "UNIT",
    "Channel",
    "Ints",
    "Secret",
    "check_share",
    "check_words",
    "clamped",
    "heaviest",
    "high_product",
    "largest_unit",
    "probabilities",
    "words_ratio",
]

Ints = NDArray[np.int64]
Secret = Any
"""One secret input, or an array of them: a channel's weights gain a last axis of outputs."""

UNIT = 2**24
"""The smallest weight of most laws: truncating to integers costs less than 2^-24."""
_TOTAL_BELOW = 2**63  # what all weights of a law may add up to
_GIVEN_AWAY = 1 - Fraction(1, 2**30)
"""The laws stay this factor inside their bound, so that equality never has to be argued."""
_ROOM = 2**33
"""How often a total may hold the lightest weight, for each time a law gives something away.
Then the lightest output owns b >= 2^31 words, and (e^share (1 - 2^-30) b + 1) / (b - 1), which
bounds every ratio of words, is at most e^share."""


class Channel(ABC):
    """A public randomiser: for every secret input, integer weights over the same outputs."""

    share: Fraction
    """What one draw may cost: the logarithm of the largest ratio between two inputs."""

    @property
    @abstractmethod
    def outputs(self) -> Ints:
        """The values it may release; the same for every input."""

    @abstractmethod
    def weights(self, secret: Secret) -> Ints:
        """The exact law: weights over ``outputs`` (last axis) for each secret."""

    @property
    @abstractmethod
    def bound(self) -> Fraction:
        """The largest ratio of two inputs' probabilities that the construction allows."""

    @property
    def extremes(self) -> tuple[Fraction, Fraction] | None:
        """The least and the largest probability of any output, if the construction tells."""
        return None

    @property
    def in_words(self) -> Fraction | None:
        """The largest ratio of the words that lead to one output; None: nobody knows."""
        return None if self.extremes is None else words_ratio(*self.extremes)

    @property
    def stretch(self) -> Fraction | None:
        """By how much words may exceed a ratio of weights; None: one word draws, so count."""
        return None

    @property
    def first_output(self) -> int:
        """One of the outputs, at any size."""
        return int(self.outputs[0])

    def draw(self, secret: Secret, word: Callable[[], int]) -> int:
        """An output, with as many uniform 64-bit words for every secret: with one here."""
        cumulative = np.cumsum(self.weights(secret))
        target = word() * int(cumulative[-1]) >> 64
        return int(self.outputs[cumulative.searchsorted(target, side="right")])


@lru_cache(maxsize=4096)
def heaviest(unit: int, share: Fraction) -> int:
    """The largest integer weight that may stand against ``unit`` at a cost of ``share``."""
    return max(unit, math.floor(unit * exp_lower(share) * _GIVEN_AWAY))


@lru_cache(maxsize=4096)
def largest_unit(size: int, share: Fraction) -> int:
    """The largest unit up to `UNIT` with which ``size`` heaviest weights add up in 63 bits."""
    unit = UNIT
    while size * heaviest(unit, share) >= _TOTAL_BELOW:
        unit //= 2
    return unit


def probabilities(channel: Channel, secret: Secret) -> NDArray[np.float64]:
    """The law as floats, for figures and estimates; nothing private is drawn from it."""
    weight = channel.weights(secret)
    law: NDArray[np.float64] = weight / weight.sum(axis=-1, keepdims=True)
    return law


def clamped(raw: NDArray[np.float64], floor: int, ceiling: Ints | int) -> Ints:
    """Float weights forced into [floor, ceiling]; NaN becomes the floor."""
    safe = np.where(raw >= floor, np.minimum(raw, ceiling), floor)
    return safe.astype(np.int64)


def check_share(share: Fraction) -> None:
    if share < MIN_SHARE:
        raise BudgetError(
            f"the share of a draw must be positive and at least 2^-28, got share={share}",
            code="share_too_small",
            share=float(share),
        )


def check_words(lightest: int, total: int, given_away: int = 1) -> None:
    """Refuse weights that 63 bits cannot add up, or that 64-bit words cannot keep apart."""
    if total >= 2**63 or total > given_away * _ROOM * lightest:
        raise BudgetError(
            "the weights of a draw must add up to less than 2^63 and to at most "
            f"2^{32 + given_away} times the lightest, or 64-bit words cannot keep its share; "
            f"got {total} and {lightest}: use a smaller epsilon, or fewer locations or "
            "journeys",
            code="word_precision_exceeded",
        )


def words_ratio(least: Fraction, most: Fraction) -> Fraction | None:
    """The largest ratio of the words that outputs of such probabilities own; None: infinite."""
    fewest = math.floor(least * 2**64)
    return Fraction(math.ceil(most * 2**64), fewest) if fewest else None


def high_product(words: NDArray[np.uint64], totals: Ints | int) -> Ints:
    """floor(word * total / 2^64) without leaving 64 bits; totals must be below 2^63."""
    mask, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    bound = np.asarray(totals).astype(np.uint64)
    low, high = words & mask, words >> shift
    bound_low, bound_high = bound & mask, bound >> shift
    middle = high * bound_low + ((low * bound_low) >> shift)  # at most 2^64 - 2^32: no overflow
    carry = low * bound_high + (middle & mask)
    product = high * bound_high + (middle >> shift) + (carry >> shift)
    return np.asarray(product, dtype=np.int64)
