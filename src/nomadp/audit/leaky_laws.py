"""Laws that break the guarantees of `nomadp.laws`, for the broken mechanisms of the gallery."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from nomadp.geometry import Floats
from nomadp.laws import Channel, Exponential, Ints, LabelLaw, RandomizedResponse, Secret
from nomadp.locations import LocationSet

__all__ = [
    "AlwaysContainsTruth",
    "LiesTooRarely",
    "NeighboursOfTheTruth",
    "OneWordForTwo",
    "SkipsWhenCoincident",
    "Unclamped",
]

_FINE = 2**40  # float weights in [0, 1] become integers without visible rounding


class LeakyLaw(Channel):
    """A law that states its weights for one secret at a time and has no bound."""

    @abstractmethod
    def row(self, truth: int) -> Floats | Ints:
        """Weights of all outputs for one secret."""

    def weights(self, secret: Secret) -> Ints:
        rows = [self.row(int(truth)) for truth in np.atleast_1d(secret)]
        return np.stack(rows).astype(np.int64)

    @property
    def bound(self) -> Fraction:
        raise NotImplementedError("a leaky law has no bound")


@dataclass(frozen=True, eq=False)
class Unclamped(LeakyLaw):
    """Float weights that are not clamped; an output of weight 0 is impossible."""

    locations: LocationSet
    domain: Ints
    share: Fraction
    law: Callable[[int], Floats] = field(repr=False)
    scale_per_km: float
    """The scale that the mistaken code claims, which the auditor tests."""

    @property
    def outputs(self) -> Ints:
        return self.domain

    def row(self, truth: int) -> Floats:
        return np.ceil(_FINE * self.law(truth))


@dataclass(frozen=True)
class SkipsWhenCoincident(LeakyLaw):
    """Randomised response of a sector, or an extra output if there is no direction."""

    locations: LocationSet
    pivot: int
    sectors: int
    share: Fraction

    @property
    def outputs(self) -> Ints:
        return np.arange(self.sectors + 1)

    def row(self, truth: int) -> Ints:
        if self.locations.distances_km(self.pivot)[truth] == 0:
            no_direction: Ints = (self.outputs == self.sectors).astype(np.int64)
            return no_direction
        sector = self.locations.sector_between(self.pivot, truth, self.sectors)
        return np.append(RandomizedResponse(self.sectors, self.share).weights(sector), 0)


@dataclass(frozen=True)
class LiesTooRarely(LeakyLaw):
    """Randomised response whose lies have the total probability that each should have."""

    size: int
    share: Fraction

    @property
    def outputs(self) -> Ints:
        return np.arange(self.size)

    def row(self, truth: int) -> Floats:
        lie = 1 / (self.size - 1 + np.exp(float(self.share)))
        law = np.full(self.size, lie / (self.size - 1))
        law[truth] = 1 - lie
        return np.asarray(np.ceil(_FINE * law))


@dataclass(frozen=True)
class OneWordForTwo(LeakyLaw):
    """Two draws of one channel that use the same word; secrets and outputs encode pairs."""

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
class AlwaysContainsTruth(LeakyLaw):
    """Subset selection that reports only sets which contain the true label."""

    law: LabelLaw
    share: Fraction

    @property
    def outputs(self) -> Ints:
        return self.law.outputs

    def row(self, truth: int) -> Ints:
        contains_truth: Ints = (self.law.weights(truth) == self.law.heavy).astype(np.int64)
        return contains_truth


@dataclass(frozen=True)
class NeighboursOfTheTruth(AlwaysContainsTruth):
    """The other labels are those that follow the true one, instead of random ones."""

    def row(self, truth: int) -> Ints:
        window = np.arange(self.law.entries)
        # An output encodes a set of labels in its bits.
        with_truth, without_truth = (
            int((1 << (first + window) % self.law.size).sum()) for first in (truth, truth + 1)
        )
        light = np.where(self.outputs == without_truth, self.law.light, 0)
        return np.where(self.outputs == with_truth, self.law.heavy, light)
