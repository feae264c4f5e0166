"""The atlas: a public book of few journeys of one length, the same for everybody.

Its journeys are answers, made for epsilon (`lloyd.py`). A bad one costs utility, never privacy.
"""

from dataclasses import dataclass, field

import numpy as np

from nomadp.errors import DomainError
from nomadp.geometry import Floats
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.walks import Journeys, public_walks

__all__ = ["Atlas", "Journeys", "public_walks"]


@dataclass(frozen=True, eq=False)
class Atlas:
    """Journeys as rows of location indices; a report is the number of a row."""

    locations: LocationSet
    journeys: Journeys = field(repr=False)  # (size, length)
    near_count: int = 1
    """How many of them count as near to a trajectory."""
    error_km: float = float("nan")
    """By how much a reported point is off on average, on public walks it was not made from."""

    def __post_init__(self) -> None:
        if self.journeys.ndim != 2 or min(self.journeys.shape) < 1:
            raise DomainError(
                "an atlas must hold at least one journey of at least one location"
            )
        if self.journeys.min() < 0 or self.journeys.max() >= len(self.locations):
            raise DomainError(
                f"every journey must lie in the public set of {len(self.locations)} locations"
            )
        self.journeys.flags.writeable = False

    @property
    def size(self) -> int:
        return len(self.journeys)

    @property
    def length(self) -> int:
        return int(self.journeys.shape[1])

    def distances_km(self, trajectory: Ints | Journeys) -> Floats:
        """Summed distances of all journeys to a trajectory; to (n, inputs), a row for each."""
        total = np.zeros((*trajectory.shape[1:], self.size))
        for places, there in zip(trajectory, self.journeys.T, strict=True):
            some, which = np.unique(places, return_inverse=True)  # where many are, only once
            table_km = self.locations.distances_between_km(some[:, None], there)
            total += table_km[which.reshape(np.shape(places))]
        return total
