"""BRR, bipartite randomised response: the k nearest locations are likelier than all others.

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
"""Number of distances from which k is chosen. Up to 5,792 locations, that is all of them. In a
larger set, evenly spaced locations represent all (335 of 100,000, 33 of a million), so that the
choice takes seconds. It depends on the public set alone."""


@dataclass(frozen=True, kw_only=True)
class BipartiteResponse(RankedPoints):
    """BRR: each of the nearest locations is e^share times as likely as each of the others."""

    name: ClassVar[str] = "brr"
    version: ClassVar[int] = 2  # 1 chose k from more distances in large sets
    ranges: ClassVar[Mapping[str, Range]] = {**Mechanism.ranges, "near_count": (1, MOST)}

    near_count: int | None = None
    """Number of near locations (k); by default the best one for the share."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.near_count is not None and self.near_count > len(self.locations):
            raise DomainError(
                f"near_count must be from 1 to {len(self.locations)}, the number of locations, "
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
    """The k with the smallest expected error under a uniform prior; the first in a tie."""
    # E_k = ((e^share - 1) S_k + S_m) / (k (e^share - 1) + m), where S_k is the mean sum of the
    # k smallest distances: all m locations weigh 1, and the k nearest e^share - 1 more.
    near_km = _mean_nearest_sums_km(locations)
    counts = np.arange(1, len(near_km) + 1)
    gain = np.expm1(float(share))
    expected_km = (near_km * gain + near_km[-1]) / (counts * gain + len(counts))
    return int(expected_km.argmin()) + 1


@lru_cache(maxsize=4)
def _mean_nearest_sums_km(locations: LocationSet) -> NDArray[np.float64]:
    """For k = 1, 2, ...: the sum of the k smallest distances, as a mean over locations."""
    size = len(locations)
    inputs = np.linspace(0, size - 1, min(size, max(1, PRIOR_PAIRS // size)))
    total = np.zeros(size)
    for location in inputs.round():
        total += np.cumsum(np.sort(locations.distances_km(int(location))))
    return total / len(inputs)
