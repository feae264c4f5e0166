"""Laws without the guarantees of `nomadp.laws`: what the broken mechanisms draw from."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from nomadp.geometry import Floats
from nomadp.laws import Channel, Exponential, Ints, LabelLaw, RandomizedResponse, Secret
from nomadp.locations import LocationSet

__all__ = [
    "AlwaysHeld",
    "LiesTooRarely",
    "NeighboursOfTheTruth",
    "OneWordForTwo",
    "SkipsWhenCoincident",
    "Unclamped",
]

_FINE = 2**40  # float weights in [0, 1] become integers without visible rounding


class LeakyLaw(Channel):
    """States its weights for one secret at a time and claims no bound."""

    @abstractmethod
    def row(self, truth: int) -> Floats | Ints:
        """Weights of all outputs for one secret."""

    def weights(self, secret: Secret) -> Ints:
        return np.stack([self.row(int(one)) for one in np.atleast_1d(secret)]).astype(np.int64)

    @property
    def bound(self) -> Fraction:
        raise NotImplementedError("a leaky law has no bound")


@dataclass(frozen=True, eq=False)
class Unclamped(LeakyLaw):
    """Float weights taken as they are; those of zero make an output impossible."""

    locations: LocationSet
    domain: Ints
    share: Fraction
    law: Callable[[int], Floats] = field(repr=False)
    scale_per_km: float
    """What a reader of the code would take its scale to be."""

    @property
    def outputs(self) -> Ints:
        return self.domain

    def row(self, truth: int) -> Floats:
        return np.ceil(_FINE * self.law(truth))


@dataclass(frozen=True)
class SkipsWhenCoincident(LeakyLaw):
    """Randomised response of a sector, or the extra value "none" when there is no direction."""

    locations: LocationSet
    pivot: int
    sectors: int
    share: Fraction

    @property
    def outputs(self) -> Ints:
        return np.arange(self.sectors + 1)

    def row(self, truth: int) -> Ints:
        if self.locations.distances_km(self.pivot)[truth] == 0:
            none: Ints = (self.outputs == self.sectors).astype(np.int64)
            return none
        sector = self.locations.sector_between(self.pivot, truth, self.sectors)
        return np.append(RandomizedResponse(self.sectors, self.share).weights(sector), 0)


@dataclass(frozen=True)
class LiesTooRarely(LeakyLaw):
    """All lies together are as likely as a single one should be."""

    size: int
    share: Fraction

    @property
    def outputs(self) -> Ints:
        return np.arange(self.size)

    def row(self, truth: int) -> Floats:
        lie = 1 / (self.size - 1 + np.exp(float(self.share)))
        each = np.full(self.size, lie / (self.size - 1))
        each[truth] = 1 - lie
        return np.asarray(np.ceil(_FINE * each))


@dataclass(frozen=True)
class OneWordForTwo(LeakyLaw):
    """Two draws of the same channel with one word; secrets and outputs are coded as pairs."""

    channel: Exponential

    @property
    def share(self) -> Fraction:  # type: ignore[override]
        return 2 * self.channel.share

    @property
    def outputs(self) -> Ints:
        return np.arange(len(self.channel.outputs) ** 2)

    def row(self, truth: int) -> Floats:
        first, second = divmod(truth, len(self.channel.outputs))
        ends = [self._ends(first), self._ends(second)]
        # The pair (i, j) is drawn by the words in cell i of one law and cell j of the other.
        low = np.maximum(ends[0][:-1, None], ends[1][None, :-1])
        high = np.minimum(ends[0][1:, None], ends[1][None, 1:])
        return np.asarray(np.floor(_FINE * np.maximum(high - low, 0.0))).ravel()

    def _ends(self, secret: int) -> Floats:
        cumulative = np.cumsum(self.channel.weights(secret))
        return np.append(0.0, cumulative / cumulative[-1])


@dataclass(frozen=True)
class AlwaysHeld(LeakyLaw):
    """Every set of labels that holds the true one, and no other."""

    law: LabelLaw
    share: Fraction

    @property
    def outputs(self) -> Ints:
        return self.law.outputs

    def row(self, truth: int) -> Ints:
        held: Ints = (self.law.weights(truth) == self.law.heavy).astype(np.int64)
        return held


@dataclass(frozen=True)
class NeighboursOfTheTruth(AlwaysHeld):
    """The other labels of a set are those that follow the true one."""

    def row(self, truth: int) -> Ints:
        window = np.arange(self.law.entries)
        held, not_held = (
            int((1 << (first + window) % self.law.size).sum()) for first in (truth, truth + 1)
        )
        light = np.where(self.outputs == not_held, self.law.light, 0)
        return np.where(self.outputs == held, self.law.heavy, light)
