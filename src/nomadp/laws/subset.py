"""Laws by rank: the weight of an item depends on its rank in an order that the secret defines.

The number of items with each weight is the same for every input. So the total is constant, and
the privacy loss is the log of the largest weight divided by the smallest. Laws whose total
exceeds 2^33 times the smallest weight are refused. The total of a staircase is about size
(1 + e^share) / 2 times the smallest weight, so 4,000 items allow a share of up to 15.2, and a
million items up to 9.7.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import InvalidArgument
from nomadp.laws.channel import (
    Channel,
    Ints,
    Secret,
    check_share,
    check_words,
    heaviest,
    largest_unit,
)
from nomadp.locations import LocationSet

__all__ = ["NearestLocations", "RankLaw", "Staircase", "Subset", "TwoLevels", "nearest_first"]


@dataclass(frozen=True)
class NearestLocations:
    """The ``count`` locations nearest to the secret one, nearest first, ties by index."""

    locations: LocationSet
    count: int

    def __call__(self, secret: Secret) -> Ints:
        order = np.argsort(self.locations.distances_km(int(secret)), kind="stable")
        return order[: self.count]


def nearest_first(distance: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
    """Mark exactly ``count`` entries of the last axis: the smallest distances, ties by
    index."""
    # The count must be exact even with ties: the constant total of a law depends on it.
    # A threshold alone would mark more items where distances tie, and reveal the secret.
    limit = np.partition(distance, count - 1, axis=-1)[..., count - 1, None]
    near: NDArray[np.bool_] = distance < limit
    tied = distance == limit
    missing = count - near.sum(axis=-1, keepdims=True)
    near |= tied & (np.cumsum(tied, axis=-1) <= missing)
    return near


class RankLaw(Channel):
    """The base class of laws by rank: one row of weights for each secret."""

    size: int

    @cached_property
    def outputs(self) -> Ints:
        return np.arange(self.size)

    @property
    def lightest(self) -> int:
        return largest_unit(self.size, self.share)

    def weights(self, secret: Secret) -> Ints:
        secrets = np.asarray(secret)
        if secrets.ndim:
            return np.stack([self.row(scalar) for scalar in secrets])
        return self.row(secret)

    def row(self, secret: Secret) -> Ints:
        """The weights for one secret."""
        raise NotImplementedError

    @property
    def bound(self) -> Fraction:
        return Fraction(heaviest(self.lightest, self.share), self.lightest)

    @property
    def total(self) -> int:
        """The sum of the weights, which is the same for every secret."""
        raise NotImplementedError

    @property
    def extremes(self) -> tuple[Fraction, Fraction]:
        heavy = heaviest(self.lightest, self.share)
        return Fraction(self.lightest, self.total), Fraction(heavy, self.total)


class TwoLevels(RankLaw):
    """Two weights: the ``near_count`` items nearest to the secret weigh more."""

    near_count: int  # k; every secret has exactly k near items

    def __post_init__(self) -> None:
        check_share(self.share)
        if not 1 <= self.near_count <= self.size:
            raise InvalidArgument(
                f"near_count must be between 1 and size={self.size}, got {self.near_count}",
                code="near_count_out_of_range",
                near_count=self.near_count,
                size=self.size,
            )
        # If all items are near, all weights are equal and nothing is revealed.
        if self.near_count < self.size:
            check_words(self.lightest, self.total)

    @property
    def total(self) -> int:
        far = (self.size - self.near_count) * self.lightest
        return self.near_count * heaviest(self.lightest, self.share) + far


@dataclass(frozen=True)
class Subset(TwoLevels):
    """Two weights over ``size`` items; ``nearest`` maps a secret to its distinct near items."""

    size: int
    near_count: int
    nearest: Callable[[Secret], Ints] = field(repr=False)
    share: Fraction

    def row(self, secret: Secret) -> Ints:
        near = np.zeros(self.size, dtype=bool)
        near[self.nearest(secret)] = True
        if np.count_nonzero(near) != self.near_count:
            raise InvalidArgument(
                f"nearest must name exactly {self.near_count} distinct items",
                code="nearest_not_distinct",
                near_count=self.near_count,
            )
        return np.where(near, heaviest(self.lightest, self.share), self.lightest)


@dataclass(frozen=True)
class Staircase(RankLaw):
    """Weights in steps of equal height over ``size`` items, cut at the same ranks for all.

    ``order`` maps a secret to all items, nearest first. The ranks are divided into ``groups``
    steps whose widths differ by at most one item. With fewer items than groups, every item is a
    step of its own.
    """

    size: int
    groups: int
    order: Callable[[Secret], Ints] = field(repr=False)
    share: Fraction

    def __post_init__(self) -> None:
        check_share(self.share)
        if self.groups < 2 or self.size < 2:
            raise InvalidArgument(
                "a staircase must have at least 2 groups and 2 items, "
                f"got groups={self.groups}, size={self.size}",
                code="staircase_too_small",
                groups=self.groups,
                size=self.size,
            )
        check_words(self.lightest, self.total)

    @property
    def levels(self) -> Ints:
        """The weight at each rank: a decreasing arithmetic progression over the groups."""
        return _levels(self.size, self.groups, self.share)

    @property
    def total(self) -> int:
        return int(self.levels.sum())

    def row(self, secret: Secret) -> Ints:
        weight = np.zeros(self.size, dtype=np.int64)
        weight[self.order(secret)] = self.levels
        if not weight.all():
            raise InvalidArgument(
                f"order must name each of the {self.size} items once",
                code="order_not_a_permutation",
                size=self.size,
            )
        return weight


@lru_cache(maxsize=8)
def _levels(size: int, groups: int, share: Fraction) -> Ints:
    # Group k of 0 .. last weighs low + rise (last - k) / last, rounded down. Python integers do
    # not overflow before the division.
    last, low = min(groups, size) - 1, largest_unit(size, share)
    group = np.arange(size) * (last + 1) // size
    rise = heaviest(low, share) - low
    weights = [low + rise * (last - k) // last for k in range(last + 1)]
    levels = np.array(weights, dtype=np.int64)[group]
    levels.flags.writeable = False
    return levels
