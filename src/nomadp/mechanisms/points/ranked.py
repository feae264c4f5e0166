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
"""For a number of items: the rule that names so many, nearest to the secret first."""


@dataclass(frozen=True, kw_only=True)
class RankedPoints(PointByPoint):
    """A mechanism that is one law by rank, used once for each point."""

    @abstractmethod
    def law(self, share: Fraction, order: Order) -> Subset | Staircase:
        """How one point is perturbed, whatever the order."""

    def split(self, length: int) -> Split:
        found = super().split(length)
        self.channel(found.shares()["point"])  # a share that words cannot keep is refused here
        return found

    def channel(self, share: Fraction) -> Channel:
        return self.law(share, partial(NearestLocations, self.locations))
