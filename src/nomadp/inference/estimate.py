"""The Bayes estimate of a location, and its credible radius.

Given the posterior of the true location, the Bayes estimate is the location with the smallest
expected distance. It is computed for many reports at once, as one matrix product. Everything
here reads only released and public values: it is post-processing, at no privacy cost.
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
"""The most candidates for an estimate. In larger sets they are evenly spaced among the
locations of the support."""
STD_ERRORS_MIN = 2.0
"""The gain, in Monte Carlo standard errors, for which one estimate replaces another."""
_AT_ONCE = 1024  # reports whose sorted distances are in memory at a time


@dataclass(frozen=True)
class DecodedPoints:
    """Estimated locations, each with its credible radius.

    `decode` returns it. For each reported point, in order, ``locations`` has the index of a
    location. The true location is within ``radius_km`` of it with posterior probability
    ``level``.

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
                "decoded points must have one radius per location, got "
                f"{self.locations.shape} and {self.radius_km.shape}",
                code="array_sizes_differ",
            )

    def __len__(self) -> int:
        return len(self.locations)


@dataclass(frozen=True, eq=False)
class Answers:
    """Bayes estimates when the truth is one of ``places``.

    A posterior is a row of probabilities, with a column for each of ``places``.
    """

    locations: LocationSet
    places: Ints
    """The locations at which the truth may be."""

    @cached_property
    def candidates(self) -> Ints:
        if len(self.locations) <= CANDIDATES_MAX:
            return np.arange(len(self.locations))
        count = min(len(self.places), CANDIDATES_MAX)
        return self.places[np.linspace(0, len(self.places) - 1, count).astype(np.int64)]

    @cached_property
    def table_km(self) -> Mass:
        """The distance from every place (row) to every candidate (column)."""
        table = np.empty((len(self.places), len(self.candidates)), dtype=np.float32)
        for row, place in enumerate(self.places.tolist()):
            table[row] = self.locations.distances_km(place)[self.candidates]
        return table

    def expected_km(self, mass: Mass) -> Mass:
        """The expected error of every candidate (column), for each posterior (row)."""
        return mass @ self.table_km

    def best(self, mass: Mass) -> Ints:
        """The candidate with the smallest expected error, the first in a tie."""
        estimates: Ints = self.candidates[self.expected_km(mass).argmin(axis=1)]
        return estimates

    def improved(self, answers: Ints, mass: Mass, noise: Mass) -> Ints:
        """The best candidates, where they are significantly better than the given answers.

        The posterior comes from a sample of possible truths; ``noise`` is its variance.
        """
        best = self.best(mass)
        old_km, new_km = (
            self.locations.distances_between_km(estimates[:, None], self.places[None, :])
            for estimates in (answers, best)
        )
        gain_km = (mass * (old_km - new_km)).sum(axis=1)
        # The delta method for a ratio of sums over sampled truths.
        residual_km = old_km - new_km - gain_km[:, None]
        std_error_km = np.sqrt((noise * residual_km**2).sum(axis=1))
        return np.where(gain_km > STD_ERRORS_MIN * std_error_km, best, answers)

    def radius_km(self, mass: Mass, answers: Ints, level: float) -> Floats:
        """The credible radius: the smallest with at least ``level`` of the posterior inside."""
        radius = np.empty(len(answers))
        by_answer = np.argsort(answers, kind="stable")  # equal answers share sorted distances
        for start in range(0, len(answers), _AT_ONCE):
            batch = by_answer[start : start + _AT_ONCE]
            distinct, inverse = np.unique(answers[batch], return_inverse=True)
            rows = [self.locations.distances_km(k)[self.places] for k in distinct.tolist()]
            distance = np.stack(rows)
            order = np.argsort(distance, axis=1)
            inside = np.cumsum(
                np.take_along_axis(mass[batch], order[inverse], axis=1), axis=1, dtype=float
            )
            # The first distance at which the cumulated posterior reaches the level.
            # Rounding may leave the sum just below a level of 1: the last place is enough.
            short = inside < level * inside[:, -1:] * (1 - 1e-6)
            last = np.minimum(short.sum(axis=1), distance.shape[1] - 1)
            radius[batch] = distance[inverse, order[inverse, last]]
        return radius


def check_level(level: float) -> None:
    if not 0 < level <= 1:
        raise InvalidArgument(
            f"level must be above 0 and at most 1, got level={level}",
            code="level_out_of_range",
            level=level,
        )
