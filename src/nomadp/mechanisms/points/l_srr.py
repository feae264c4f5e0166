"""L-SRR, staircase randomised response (CCS 2022), in a form that is private.

For each point, all locations are ordered by distance and divided into groups. Weights fall from
group to group in equal steps.

Differs from the publication: the groups end at the same ranks for every point. If groups depend
on the point, so does the total of the weights, and the true loss was 1.5 to 1.8 at a nominal 1.

A point's share may be at most about ln(2^34 / locations): 15.2 over 4,000, 9.7 over a million.
Beyond, 64-bit words cannot resolve the weights, and `split` refuses (laws/channel.py).
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
    """L-SRR: nearer groups of locations weigh more, from e^share down to 1."""

    name: ClassVar[str] = "l-srr"
    ranges: ClassVar[Mapping[str, Range]] = {
        **Mechanism.ranges,
        "locations": (2, MOST),
        "groups": (2, MOST),
    }

    groups: int = 5
    """Number of groups; with fewer locations, each is a group of its own."""

    def law(self, share: Fraction, order: Order) -> Staircase:
        size = len(self.locations)
        return Staircase(size, self.groups, order(size), share)
