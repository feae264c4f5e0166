"""The location with the smallest expected error, and how far the truth may be from it.

Bayes: given how probable every location is, the best answer under a distance is the one with
the smallest expected distance. It is computed for many reports at once as one matrix product.
Everything here reads released values and public ones only: it is post-processing and free.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import InvalidArgument
from nomadp.laws import Ints
from nomadp.locations import LocationSet

__all__ = ["Answers", "DecodedPoints", "check_level"]

Floats = NDArray[np.float64]
Mass = NDArray[np.float32]

CANDIDATES_MAX = 4096
"""Larger sets answer with one of so many, evenly chosen among the places that may be true."""
SURE = 2.0
"""An answer is given up for one that is nearer by so many standard deviations."""
_AT_ONCE = 1024  # reports whose sorted distances are held at a time


@dataclass(frozen=True)
class DecodedPoints:
    """Estimated locations, with the radius around each that holds ``level`` of the mass.

    `decode` makes it: ``locations`` are indices, one for each reported point in their order,
    and ``radius_km`` are kilometres.

    >>> import nomadp, numpy
    >>> estimate = nomadp.DecodedPoints(numpy.array([3, 1]), numpy.array([0.5, 2.0]), level=0.9)
    >>> len(estimate)
    2
    """

    locations: Ints
    radius_km: Floats
    level: float

    def __post_init__(self) -> None:
        check_level(self.level)
        if self.locations.shape != self.radius_km.shape:
            raise InvalidArgument(
                "an estimate must have one radius per location, got "
                f"{self.locations.shape} and {self.radius_km.shape}",
                code="array_sizes_differ",
            )

    def __len__(self) -> int:
        return len(self.locations)


@dataclass(frozen=True, eq=False)
class Answers:
    """What may be answered when the truth is one of ``places``."""

    locations: LocationSet
    places: Ints
    """Locations the truth may be at: what the columns of a mass stand for."""

    @cached_property
    def candidates(self) -> Ints:
        if len(self.locations) <= CANDIDATES_MAX:
            return np.arange(len(self.locations))
        count = min(len(self.places), CANDIDATES_MAX)
        return self.places[np.linspace(0, len(self.places) - 1, count).astype(np.int64)]

    @cached_property
    def table_km(self) -> Mass:
        """From every place (rows) to every candidate."""
        table = np.empty((len(self.places), len(self.candidates)), dtype=np.float32)
        for row, place in enumerate(self.places.tolist()):
            table[row] = self.locations.distances_km(place)[self.candidates]
        return table

    def expected_km(self, mass: Mass) -> Mass:
        """The expected error of every candidate (last axis), for each row of masses."""
        return mass @ self.table_km

    def best(self, mass: Mass) -> Ints:
        """For each row, the candidate with the smallest expected error; the first in a tie."""
        found: Ints = self.candidates[self.expected_km(mass).argmin(axis=1)]
        return found

    def improved(self, answers: Ints, mass: Mass, noise: Mass) -> Ints:
        """For each row the best candidate, where it beats a given answer beyond chance.

        Masses come from a sample of possible truths; ``noise`` are their variances.
        """
        best = self.best(mass)
        old_km, new_km = (
            self.locations.distances_between_km(each[:, None], self.places[None, :])
            for each in (answers, best)
        )
        gain_km = (mass * (old_km - new_km)).sum(axis=1)
        away_km = old_km - new_km - gain_km[:, None]
        deviation_km = np.sqrt((noise * away_km**2).sum(axis=1))
        return np.where(gain_km > SURE * deviation_km, best, answers)

    def radius_km(self, mass: Mass, answers: Ints, level: float) -> Floats:
        """The smallest radius around each answer with at least ``level`` of its row's mass."""
        radius = np.empty(len(answers))
        alike = np.argsort(answers, kind="stable")  # then few answers have to be sorted around
        for start in range(0, len(answers), _AT_ONCE):
            some = alike[start : start + _AT_ONCE]
            distinct, which = np.unique(answers[some], return_inverse=True)
            rows = [self.locations.distances_km(one)[self.places] for one in distinct.tolist()]
            distance = np.stack(rows)
            order = np.argsort(distance, axis=1)
            inside = np.cumsum(
                np.take_along_axis(mass[some], order[which], axis=1), axis=1, dtype=float
            )
            # Rounded sums may miss a level of 1 by a hair: the last place is always enough.
            short = inside < level * inside[:, -1:] * (1 - 1e-6)
            at = np.minimum(short.sum(axis=1), distance.shape[1] - 1)
            radius[some] = distance[which, order[which, at]]
        return radius


def check_level(level: float) -> None:
    if not 0 < level <= 1:
        raise InvalidArgument(
            f"level must be above 0 and at most 1, got level={level}",
            code="level_out_of_range",
            level=level,
        )
