"""BRR, bipartite randomised response: the k nearest locations against all others.

Each point is reported by subset response. The number k is public: it minimises the expected
distance between truth and report when every location is equally likely to be the truth.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import DomainError
from nomadp.laws import Subset
from nomadp.locations import LocationSet
from nomadp.mechanisms.base import MOST, Mechanism, Range
from nomadp.mechanisms.points.ranked import Order, RankedPoints

__all__ = ["BipartiteResponse", "best_near_count"]

PRIOR_PAIRS = 2**25
"""Distances that are looked at when k is chosen: those from all locations of a set of up to
5,792. In a larger one, as many evenly spaced ones stand for all as the number allows (335 of
100,000, 33 of a million), so that choosing takes seconds. The choice is public all the same."""


@dataclass(frozen=True, kw_only=True)
class BipartiteResponse(RankedPoints):
    """BRR: one of the nearest locations with odds of e^share against each other one."""

    name: ClassVar[str] = "brr"
    version: ClassVar[int] = 2  # 1 looked at more distances to choose k in large sets
    ranges: ClassVar[Mapping[str, Range]] = {**Mechanism.ranges, "near_count": (1, MOST)}

    near_count: int | None = None
    """How many locations count as near; by default the best number for the share."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.near_count is not None and self.near_count > len(self.locations):
            raise DomainError(
                f"near_count must be from 1 to the {len(self.locations)} locations there are, "
                f"got near_count={self.near_count}",
                code="parameter_out_of_range",
                parameter="near_count",
                most=len(self.locations),
            )

    def law(self, share: Fraction, order: Order) -> Subset:
        near_count = self.near_count or self._best(share)
        return Subset(len(self.locations), near_count, order(near_count), share)

    def _best(self, share: Fraction) -> int:
        if share not in self._known:
            self._known[share] = best_near_count(self.locations, share)
        return self._known[share]

    @cached_property
    def _known(self) -> dict[Fraction, int]:
        return {}


def best_near_count(locations: LocationSet, share: Fraction) -> int:
    """The k whose expected distance is smallest under a uniform prior; the first in a tie."""
    near_km = _mean_nearest_sums_km(locations)
    counts = np.arange(1, len(near_km) + 1)
    gain = np.expm1(float(share))
    expected_km = (near_km * gain + near_km[-1]) / (counts * gain + len(counts))
    return int(expected_km.argmin()) + 1


@lru_cache(maxsize=4)
def _mean_nearest_sums_km(locations: LocationSet) -> NDArray[np.float64]:
    """For k = 1, 2, ...: the distances to a location's k nearest, summed; mean over them."""
    size = len(locations)
    inputs = np.linspace(0, size - 1, min(size, max(1, PRIOR_PAIRS // size)))
    total = np.zeros(size)
    for location in inputs.round():
        total += np.cumsum(np.sort(locations.distances_km(int(location))))
    return total / len(inputs)
