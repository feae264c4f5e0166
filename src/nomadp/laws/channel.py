"""The base class of all channels, and the exact arithmetic behind their privacy bound.

Weights are clamped to a range whose ratio is at most e^share in rational arithmetic. Rounding
errors in a distance or an exponential can therefore cost accuracy, but never privacy. The
program draws 64-bit words: an output of probability p owns the floor or the ceiling of p 2^64
of them. The laws reserve a little slack for this rounding, and `check_words` makes sure that it
is enough for the least likely output.
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
"""One secret input, or an array of inputs; weights have a further last axis of outputs."""

UNIT = 2**24
"""The smallest weight of most laws: rounding down to integers changes it by less than 2^-24."""
_TOTAL_BELOW = 2**63  # the sum of all weights of a law
_SLACK = 1 - Fraction(1, 2**30)
"""The laws stay below e^share by this factor: slack for the rounding to 64-bit words."""
_TOTAL_RATIO_MAX = 2**33
"""Maximum ratio of the total to the lightest weight, for each factor of slack that a law has.
Then the lightest output owns b >= 2^31 words, and every ratio of words is at most
(e^share (1 - 2^-30) b + 1) / (b - 1). That is at most e^share, because 2^-30 b >= 2."""


class Channel(ABC):
    """A finite randomiser: for every secret input, integer weights over the same outputs."""

    share: Fraction
    """Privacy loss of one draw: log of the largest probability ratio between two inputs."""

    @property
    @abstractmethod
    def outputs(self) -> Ints:
        """All values that may be released; they are the same for every input."""

    @abstractmethod
    def weights(self, secret: Secret) -> Ints:
        """The exact law: for each secret, weights over ``outputs`` (last axis)."""

    @property
    @abstractmethod
    def bound(self) -> Fraction:
        """Upper bound of the ratio of any output's probabilities under two inputs."""

    @property
    def extremes(self) -> tuple[Fraction, Fraction] | None:
        """The smallest and largest probability of any output; None if not known in closed
        form."""
        return None

    @property
    def word_ratio(self) -> Fraction | None:
        """Upper bound of the ratio of words that lead to one output; None if not known."""
        return None if self.extremes is None else words_ratio(*self.extremes)

    @property
    def stretch(self) -> Fraction | None:
        """Factor by which the ratio of words may exceed that of weights.

        None if one word draws an output: then the words can simply be counted.
        """
        return None

    @property
    def first_output(self) -> int:
        """One of the outputs, computed without enumerating them."""
        return int(self.outputs[0])

    def draw(self, secret: Secret, word: Callable[[], int]) -> int:
        """Draw an output. The number of 64-bit words is the same for every secret: here one."""
        # Inverse transform sampling in integers: the first cumulative weight above the target.
        cumulative = np.cumsum(self.weights(secret))
        target = word() * int(cumulative[-1]) >> 64
        return int(self.outputs[cumulative.searchsorted(target, side="right")])


@lru_cache(maxsize=4096)
def heaviest(unit: int, share: Fraction) -> int:
    """The largest integer weight whose ratio to ``unit`` is within e^share, with slack."""
    # Everything rounds down: the lower bound of e^share, the slack and the weight.
    return max(unit, math.floor(unit * exp_lower(share) * _SLACK))


@lru_cache(maxsize=4096)
def largest_unit(size: int, share: Fraction) -> int:
    """The largest unit up to `UNIT` for which ``size`` heaviest weights add up in 63 bits."""
    unit = UNIT
    # Halving keeps the ratio of weights; it only makes their rounding coarser.
    while size * heaviest(unit, share) >= _TOTAL_BELOW:
        unit //= 2
    return unit


def probabilities(channel: Channel, secret: Secret) -> NDArray[np.float64]:
    """The probabilities as floats, for figures and estimates; never used for drawing."""
    weight = channel.weights(secret)
    law: NDArray[np.float64] = weight / weight.sum(axis=-1, keepdims=True)
    return law


def clamped(raw: NDArray[np.float64], floor: int, ceiling: Ints | int) -> Ints:
    """Float weights clamped to [floor, ceiling]; NaN becomes the floor."""
    # Whatever rounding did to ``raw``, the ratio of two weights is now at most ceiling / floor.
    safe = np.where(raw >= floor, np.minimum(raw, ceiling), floor)
    return safe.astype(np.int64)


def check_share(share: Fraction) -> None:
    if share < MIN_SHARE:
        raise BudgetError(
            f"the share of a draw must be positive and at least 2^-28, got share={share}",
            code="share_too_small",
            share=float(share),
        )


def check_words(lightest: int, total: int, slack_factors: int = 1) -> None:
    """Refuse weights whose sum exceeds 63 bits, or that 64-bit words cannot resolve.

    ``slack_factors`` is the number of factors of a probability ratio that have slack.
    """
    if total >= _TOTAL_BELOW or total > slack_factors * _TOTAL_RATIO_MAX * lightest:
        raise BudgetError(
            "the weights of a draw must add up to less than 2^63 and to at most "
            f"2^{32 + slack_factors} times the smallest weight, so that 64-bit words can "
            f"resolve them, got a sum of {total} and a smallest weight of {lightest}; use a "
            "smaller epsilon, or fewer locations or codewords",
            code="word_precision_exceeded",
        )


def words_ratio(least: Fraction, most: Fraction) -> Fraction | None:
    """Upper bound of the ratio of words, from two probabilities; None if it is infinite."""
    # An output of probability p owns the floor or the ceiling of p 2^64 words.
    fewest = math.floor(least * 2**64)
    return Fraction(math.ceil(most * 2**64), fewest) if fewest else None


def high_product(words: NDArray[np.uint64], totals: Ints | int) -> Ints:
    """floor(word * total / 2^64) in 64-bit arithmetic; totals must be below 2^63."""
    # Schoolbook multiplication of 32-bit halves: four partial products, and their carries.
    mask, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    bound = np.asarray(totals).astype(np.uint64)
    low, high = words & mask, words >> shift
    bound_low, bound_high = bound & mask, bound >> shift
    middle = high * bound_low + ((low * bound_low) >> shift)  # at most 2^64 - 2^32: no overflow
    carry = low * bound_high + (middle & mask)
    product = high * bound_high + (middle >> shift) + (carry >> shift)
    return np.asarray(product, dtype=np.int64)
