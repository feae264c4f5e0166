"""L-SRR, staircase randomised response (CCS 2022), in a form that is private.

Each point: all locations ordered by distance to it fall into groups, and a group is likelier
the nearer it is, in equal steps.

Differs from the publication: the groups end at the same ranks for every point. Groups that
depend on the point make the total of the weights depend on it too, and the true loss was
1.5 to 1.8 at a nominal 1.

A point's share may be at most about ln(2^34 / locations): 15.2 over 4,000, 9.7 over a million.
Beyond, 64-bit words cannot keep the groups apart, and `split` refuses (laws/channel.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from nomadp.laws import Staircase
from nomadp.mechanisms.base import MOST, Mechanism, Range
from nomadp.mechanisms.points.ranked import Order, RankedPoints

__all__ = ["StaircaseResponse"]


@dataclass(frozen=True, kw_only=True)
class StaircaseResponse(RankedPoints):
    """L-SRR: nearer groups of locations are likelier, from e^share down to 1."""

    name: ClassVar[str] = "l-srr"
    ranges: ClassVar[Mapping[str, Range]] = {
        **Mechanism.ranges,
        "locations": (2, MOST),
        "groups": (2, MOST),
    }

    groups: int = 5
    """How many; with fewer locations, each is a group of its own."""

    def law(self, share: Fraction, order: Order) -> Staircase:
        size = len(self.locations)
        return Staircase(size, self.groups, order(size), share)
