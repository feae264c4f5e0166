"""Finite laws in integer weights: the only source of randomness a mechanism may use.

A *channel* is a public value. For every secret input it states integer weights over the same
outputs; an output's probability is its weight over their sum, exactly. The client draws from
it with one 64-bit word, the auditor enumerates it, the collector inverts it, and the fast
kernels are tested against it: nobody writes a second copy.

Why this leaves no gap between proof and program: weights are
clamped into a range whose ratio is at most e^share by rational arithmetic, so float errors in
a distance or an exponential can cost accuracy but never privacy.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nomadp.budget import exp_lower
from nomadp.errors import BudgetError
from nomadp.locations import LocationSet

__all__ = [
    "Channel",
    "Disc",
    "Exponential",
    "FairCoin",
    "Ints",
    "RandomizedResponse",
    "Secret",
    "SquareWave",
    "Subset",
    "distance_rows_km",
    "probabilities",
    "square_wave_half_width",
]

Ints = NDArray[np.int64]
Secret = Any
"""One secret input, or an array of them: a channel's weights gain a last axis of outputs."""

_RESPONSE_UNIT = 2**32
_UNIT = 2**24
_GIVEN_AWAY = 1 - Fraction(1, 2**30)
"""The laws stay this factor inside their bound, so that equality never has to be argued."""


@lru_cache(maxsize=4096)
def heaviest(unit: int, share: Fraction) -> int:
    """The largest integer weight that may stand against ``unit`` at a cost of ``share``."""
    return max(unit, math.floor(unit * exp_lower(share) * _GIVEN_AWAY))


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


@dataclass(frozen=True)
class RandomizedResponse(Channel):
    """k-RR: the true value with odds of at most e^share to 1 against each other one."""

    size: int
    share: Fraction

    def __post_init__(self) -> None:
        check_share(self.share)
        if self.size < 2:
            raise ValueError(f"size must be at least 2, got size={self.size}")

    @cached_property
    def outputs(self) -> Ints:
        return np.arange(self.size)

    def weights(self, secret: Secret) -> Ints:
        value = np.asarray(secret)
        if np.any((value < 0) | (value >= self.size)):
            raise IndexError(f"input must be in [0, {self.size}); its value is withheld")
        true = value[..., None] == self.outputs
        return np.where(true, heaviest(_RESPONSE_UNIT, self.share), _RESPONSE_UNIT)

    @property
    def bound(self) -> Fraction:
        return Fraction(heaviest(_RESPONSE_UNIT, self.share), _RESPONSE_UNIT)


@dataclass(frozen=True)
class Disc:
    """All locations within ``radius_km`` of a released anchor."""

    anchor: int
    radius_km: float


@dataclass(frozen=True, eq=False)
class Exponential(Channel):
    """Nearer locations are likelier: weight e^(-share d / 2 span) over a public domain.

    The input is any location of the set, inside the domain or not. ``span_km`` is a public
    upper bound of the domain's width; when the domain lies in a disc, distances count from
    where the disc begins, so that the largest weight is near its ceiling for every input.
    """

    locations: LocationSet
    domain: Ints = field(repr=False)
    span_km: float
    share: Fraction
    disc: Disc | None = None

    def __post_init__(self) -> None:
        check_share(self.share)
        if not len(self.domain):
            raise ValueError("the domain of an exponential law must hold at least one location")

    @property
    def outputs(self) -> Ints:
        return self.domain

    @property
    def scale_per_km(self) -> float:
        return float(self.share) / (2 * self.span_km) if self.span_km > 0 else 0.0

    def weights(self, secret: Secret) -> Ints:
        row = distance_rows_km(self.locations, secret)
        distance = row[..., self.domain]
        if self.disc is not None:
            outside = row[..., self.disc.anchor] - self.disc.radius_km
            distance = distance - np.maximum(0.0, outside)[..., None]
        ceiling = heaviest(_UNIT, self.share / 2)
        return clamped(ceiling * np.exp(-self.scale_per_km * distance), _UNIT, ceiling)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._law() == other._law()

    def __hash__(self) -> int:
        return hash(self._law())

    def _law(self) -> tuple[object, ...]:
        facts = (self.span_km, self.share, self.disc)
        return (self.locations.sha256, self.domain.tobytes(), *facts)

    @property
    def bound(self) -> Fraction:
        # One factor for the weight itself, one for the total it is divided by.
        return Fraction(heaviest(_UNIT, self.share / 2), _UNIT) ** 2


@dataclass(frozen=True)
class SquareWave(Channel):
    """A number in [0, 1], cut into cells, reported as a cell nearby (Eq. 4).

    Input cells are 0 .. resolution-1. Output cells reach ``reach`` further on both sides, and
    output cell j stands for input cell j - reach. The bound holds for any resolution.
    """

    resolution: int
    share: Fraction

    def __post_init__(self) -> None:
        check_share(self.share)
        if self.resolution < 1:
            raise ValueError(f"resolution must be at least 1, got {self.resolution}")

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
        away = np.abs(self.outputs - self.reach - np.asarray(secret)[..., None])
        return np.where(away <= self.reach, heaviest(_UNIT, self.share), _UNIT)

    @property
    def bound(self) -> Fraction:
        return Fraction(heaviest(_UNIT, self.share), _UNIT)


@dataclass(frozen=True, eq=False)
class Subset(Channel):
    """Two levels over ``size`` items: heavier for the ``near_count`` nearest to the secret.

    ``nearest`` maps one secret to exactly that many distinct items; since their number is
    public and constant, so is the total, and the loss is the ratio of the two weights.
    """

    size: int
    near_count: int
    nearest: Callable[[Secret], Ints] = field(repr=False)
    share: Fraction

    def __post_init__(self) -> None:
        check_share(self.share)
        if not 1 <= self.near_count <= self.size:
            raise ValueError(
                f"near_count must be between 1 and size={self.size}, got {self.near_count}"
            )

    @cached_property
    def outputs(self) -> Ints:
        return np.arange(self.size)

    def weights(self, secret: Secret) -> Ints:
        secrets = np.asarray(secret)
        if secrets.ndim:
            return np.stack([self.weights(one) for one in secrets])
        weight = np.full(self.size, _UNIT, dtype=np.int64)
        weight[self.nearest(secret)] = heaviest(_UNIT, self.share)
        if np.count_nonzero(weight > _UNIT) not in (0, self.near_count):
            raise ValueError(f"nearest must name exactly {self.near_count} distinct items")
        return weight

    @property
    def bound(self) -> Fraction:
        return Fraction(heaviest(_UNIT, self.share), _UNIT)


@dataclass(frozen=True)
class FairCoin(Channel):
    """0 or 1 with equal chances, whatever the input: costs nothing."""

    share: Fraction = Fraction(0)

    @property
    def outputs(self) -> Ints:
        return np.arange(2)

    def weights(self, secret: Secret) -> Ints:
        return np.ones((*np.shape(secret), 2), dtype=np.int64)

    @property
    def bound(self) -> Fraction:
        return Fraction(1)


def probabilities(channel: Channel, secret: Secret) -> NDArray[np.float64]:
    """The law as floats, for figures and estimates; nothing private is drawn from it."""
    weight = channel.weights(secret)
    law: NDArray[np.float64] = weight / weight.sum(axis=-1, keepdims=True)
    return law


def clamped(raw: NDArray[np.float64], floor: int, ceiling: int) -> Ints:
    """Float weights forced into [floor, ceiling]; NaN becomes the floor."""
    safe = np.where(raw >= floor, np.minimum(raw, ceiling), floor)
    return safe.astype(np.int64)


def distance_rows_km(locations: LocationSet, secret: Secret) -> NDArray[np.float64]:
    """Distances from each secret location to every location, along a new last axis."""
    secrets = np.asarray(secret)
    if secrets.ndim == 0:
        return locations.distances_km(int(secrets))
    return np.stack([locations.distances_km(int(one)) for one in secrets])


def square_wave_half_width(share: float) -> float:
    """The width b of the square wave (Eq. 4), stable from 1e-12 to 1e3."""
    if share > 20:
        decay = math.exp(-share)
        return decay * (share - 1 + decay) / (2 * (1 - (1 + share) * decay))
    term, above, below = 0.5, 0.0, 0.0  # term = share^k / (k+2)!
    for k in range(120):
        above += (k + 1) * term
        below += term
        term *= share / (k + 3)
    return above * math.exp(-share) / (2 * below)


def check_share(share: Fraction) -> None:
    if share <= 0:
        raise BudgetError(f"the share of a draw must be positive, got share={share}")
