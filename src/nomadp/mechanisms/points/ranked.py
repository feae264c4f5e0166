"""Mechanisms that are one law by rank, used once for each point."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from nomadp.budget import Split
from nomadp.laws import Channel, Ints, NearestLocations, Secret, Staircase, Subset
from nomadp.mechanisms.points.exp import PointByPoint

__all__ = ["Order", "RankedPoints"]

Order = Callable[[int], Callable[[Secret], Ints]]
"""Maps a number n to a function that lists the n items nearest to a secret, nearest first."""


@dataclass(frozen=True, kw_only=True)
class RankedPoints(PointByPoint):
    """A mechanism that is one law by rank, used once for each point."""

    @abstractmethod
    def law(self, share: Fraction, order: Order) -> Subset | Staircase:
        """The law of one point, given a function that orders the locations."""

    def split(self, length: int) -> Split:
        split = super().split(length)
        self.channel(split.shares()["point"])  # refuses a share that words cannot resolve
        return split

    def channel(self, share: Fraction) -> Channel:
        return self.law(share, partial(NearestLocations, self.locations))
