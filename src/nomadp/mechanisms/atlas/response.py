"""The law of a report: two levels over the journeys of an atlas."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from nomadp.laws import Ints, Secret, heaviest
from nomadp.laws.channel import check_share, check_words
from nomadp.laws.subset import RankLaw, nearest_first
from nomadp.mechanisms.atlas.book import Atlas

__all__ = ["JourneyResponse"]


@dataclass(frozen=True, eq=False)
class JourneyResponse(RankLaw):
    """Two levels over the journeys of an atlas: heavier for the nearest ones to the secret."""

    atlas: Atlas
    near_count: int
    share: Fraction

    def __post_init__(self) -> None:
        check_share(self.share)
        if not 1 <= self.near_count <= self.size:
            raise ValueError(f"near_count must be from 1 to {self.size}, got {self.near_count}")
        if self.near_count < self.size:  # else all weigh the same
            check_words(self.lightest, self.total)

    @property
    def size(self) -> int:  # type: ignore[override]
        return self.atlas.size

    def weights(self, secret: Secret) -> Ints:
        return np.where(self.near(secret), heaviest(self.lightest, self.share), self.lightest)

    def near(self, secret: Secret) -> NDArray[np.bool_]:
        """Which journeys weigh more (last axis); the secret is (n,) or (n, inputs)."""
        return nearest_first(self.atlas.distances_km(np.asarray(secret)), self.near_count)

    @property
    def total(self) -> int:
        far = (self.size - self.near_count) * self.lightest
        return self.near_count * heaviest(self.lightest, self.share) + far
