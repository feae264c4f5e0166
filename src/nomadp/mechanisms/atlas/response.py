"""The law of a report: two levels over the journeys of an atlas."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from nomadp.laws import Channel, Ints, Secret, heaviest
from nomadp.laws.channel import check_share, check_words, largest_unit
from nomadp.mechanisms.atlas.book import Atlas

__all__ = ["JourneyResponse", "nearest_first"]


@dataclass(frozen=True, eq=False)
class JourneyResponse(Channel):
    """Two levels over the journeys of an atlas: heavier for the nearest ones to the secret."""

    atlas: Atlas
    near_count: int
    share: Fraction

    def __post_init__(self) -> None:
        check_share(self.share)
        if not 1 <= self.near_count <= self.atlas.size:
            raise ValueError(
                f"near_count must be from 1 to {self.atlas.size}, got {self.near_count}"
            )
        if self.near_count < self.atlas.size:  # else all weigh the same
            check_words(self.light, self.total)

    @property
    def outputs(self) -> Ints:
        return np.arange(self.atlas.size)

    def weights(self, secret: Secret) -> Ints:
        return np.where(self.near(np.asarray(secret)), self.heavy, self.light)

    def near(self, secret: Ints) -> NDArray[np.bool_]:
        """Which journeys weigh more (last axis); ``secret`` is (n,) or (n, inputs)."""
        return nearest_first(self.atlas.distances_km(secret), self.near_count)

    @property
    def light(self) -> int:
        """The weight of a journey that is not near."""
        return largest_unit(self.atlas.size, self.share)

    @property
    def heavy(self) -> int:
        """The weight of a near one."""
        return heaviest(self.light, self.share)

    @property
    def bound(self) -> Fraction:
        return Fraction(self.heavy, self.light)

    @property
    def total(self) -> int:
        """Of all weights, whatever the secret is."""
        far = self.atlas.size - self.near_count
        return self.near_count * self.heavy + far * self.light

    @property
    def extremes(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.light, self.total), Fraction(self.heavy, self.total)


def nearest_first(distance: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
    """Exactly ``count`` of the last axis: the smallest distances, ties by index."""
    limit = np.partition(distance, count - 1, axis=-1)[..., count - 1, None]
    near: NDArray[np.bool_] = distance < limit
    tied = distance == limit
    missing = count - near.sum(axis=-1, keepdims=True)
    near |= tied & (np.cumsum(tied, axis=-1) <= missing)
    return near
