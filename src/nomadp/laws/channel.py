"""What every channel is, and the arithmetic that leaves no gap between proof and program.

Weights are clamped into a range whose ratio is at most e^share by rational arithmetic, so
float errors in a distance or an exponential can cost accuracy but never privacy.
"""

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nomadp.budget import exp_lower
from nomadp.errors import BudgetError

__all__ = [
    "UNIT",
    "Channel",
    "Ints",
    "Secret",
    "check_share",
    "clamped",
    "heaviest",
    "largest_unit",
    "probabilities",
]

Ints = NDArray[np.int64]
Secret = Any
"""One secret input, or an array of them: a channel's weights gain a last axis of outputs."""

UNIT = 2**24
"""The smallest weight of most laws: truncating to integers costs less than 2^-24."""
_TOTAL_BELOW = 2**63  # what all weights of a law may add up to
_GIVEN_AWAY = 1 - Fraction(1, 2**30)
"""The laws stay this factor inside their bound, so that equality never has to be argued."""


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


def clamped(raw: NDArray[np.float64], floor: int, ceiling: int) -> Ints:
    """Float weights forced into [floor, ceiling]; NaN becomes the floor."""
    safe = np.where(raw >= floor, np.minimum(raw, ceiling), floor)
    return safe.astype(np.int64)


def check_share(share: Fraction) -> None:
    if share <= 0:
        raise BudgetError(f"the share of a draw must be positive, got share={share}")
