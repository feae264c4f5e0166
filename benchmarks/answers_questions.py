"""The queries of benchmarks/answers.py: labels of trips, true shares and scores.

Density: the cell of a point in a 16 x 16 grid. Hotspots: the same in a 1024 x 1024 grid, whose
cells are almost single locations; the score is the recall of the 10 most visited cells. Trips:
the origin-destination pair in a 4 x 4 grid. Lengths: the bin of the distance in km. Only cells
with a public location are labels.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator

from nomadp.analysis.hotspots import jensen_shannon
from nomadp.inference.frequencies import Levels, pair_levels
from nomadp.locations import LocationSet
from nomadp.trajectory import TrajectorySet
from nomadp.zones import Zones, zones_of

__all__ = ["QUESTIONS", "Population"]

QUESTIONS = ("density", "hotspots", "trips", "lengths")
ZONES = {"density": "grid:16", "hotspots": "grid:1024", "trips": "grid:4"}
BINS, NAMED = 16, 10
Ints = Any
Floats = Any


@dataclass(frozen=True, eq=False)
class Population:
    """Distinct trips of two points over public locations, and the share of each."""

    locations: LocationSet
    journeys: Ints  # (trips, 2)
    weights: Floats

    @classmethod
    def of(cls, locations: LocationSet, trajectories: TrajectorySet) -> "Population":
        ends = trajectories.resampled(2).locations.reshape(-1, 2)
        journeys, counts = np.unique(ends, axis=0, return_counts=True)
        return cls(locations, journeys, counts / counts.sum())

    def drawn(self, count: int, rng: Generator) -> Ints:
        """How many of ``count`` sampled people make each trip."""
        return rng.multinomial(count, self.weights)

    @cached_property
    def zones(self) -> dict[str, Zones]:
        return {question: zones_of(self.locations, rule) for question, rule in ZONES.items()}

    def size(self, question: str) -> int:
        if question == "lengths":
            return BINS
        return len(self.zones[question]) ** (2 if question == "trips" else 1)

    def labels(self, question: str, journeys: Ints) -> Ints:
        """The label of each trip, (n, 1), or of each of its points, (n, 2)."""
        if question == "lengths":
            ends = journeys[:, 0], journeys[:, -1]
            return self._bins(self.locations.distances_between_km(*ends))[:, None]
        zone = self.zones[question].of[journeys]
        if question == "trips":
            return zone[:, :1] * len(self.zones["trips"]) + zone[:, -1:]
        return zone

    def _bins(self, distance_km: Floats) -> Ints:
        """Bins of distances. Bin k begins at (k / 16)^2 of the largest distance."""
        share = np.sqrt(distance_km / self.locations.diameter_km)
        return np.minimum((share * BINS).astype(np.int64), BINS - 1)

    def label_counts(self, question: str, people: Ints, rng: Generator) -> Ints:
        """The number of people with each true label; those with two pick one at random."""
        labels = self.labels(question, self.journeys)
        people_by_column = [people]
        if labels.shape[1] == 2:
            first = rng.binomial(people, 0.5)
            people_by_column = [first, people - first]
        count = np.zeros(self.size(question), dtype=np.int64)
        for column, n_people in zip(labels.T, people_by_column, strict=True):
            np.add.at(count, column, n_people)
        return count

    def shares(self, journeys: Ints, people: Floats) -> dict[str, Floats]:
        """The true shares of weights query for trips and their numbers of people."""
        result = {}
        for question in QUESTIONS:
            labels = self.labels(question, journeys)
            weights = np.repeat(people, labels.shape[1])
            count = np.bincount(labels.reshape(-1), weights, self.size(question))
            result[question] = count / count.sum()
        return result

    @cached_property
    def truth(self) -> dict[str, Floats]:
        return self.shares(self.journeys, self.weights)

    def places(self, question: str) -> Ints:
        """The number of locations, or pairs of locations, with each label."""
        if question == "lengths":
            return self._pairs
        counts = np.bincount(self.zones[question].of)
        return np.outer(counts, counts).reshape(-1) if question == "trips" else counts

    @cached_property
    def _pairs(self) -> Ints:
        count = np.zeros(BINS, dtype=np.int64)
        for k in range(len(self.locations)):
            bins = self._bins(self.locations.distances_km(k))
            count += np.bincount(bins, minlength=BINS)
        return count

    @cached_property
    def baseline(self) -> dict[str, Floats]:
        """The uniform baseline: every location, or pair of locations, is equally likely."""
        places = {question: self.places(question) for question in QUESTIONS}
        return {question: counts / counts.sum() for question, counts in places.items()}

    def levels(self, question: str) -> Levels:
        """Coarser partitions of the labels, and their baseline."""
        if question == "lengths":
            groups = tuple(np.arange(BINS) * 2**k // BINS for k in range(1, 5))
        else:
            groups = tuple(self.zones[question].levels())
        if question == "trips":
            groups = pair_levels(groups, self.zones[question].distance_classes())
        return Levels(groups, self.baseline[question], np.arange(self.size(question)))

    def scores(self, shares: dict[str, Floats]) -> dict[str, float]:
        """The distance from the truth for each query; the recall for hotspots."""
        result = {}
        for question, true in self.truth.items():
            if question == "density":
                result[question] = jensen_shannon(true, shares[question])
            elif question == "hotspots":
                result[question] = _recall(true, shares[question])
            else:
                result[question] = float(np.abs(shares[question] - true).sum())
        return result


def _recall(true: Floats, estimated: Floats) -> float:
    """The recall of the most visited cells. Ties count with their expected value."""
    count = min(NAMED, len(true))
    limit = np.partition(estimated, -count)[-count]
    above, tied = estimated > limit, estimated == limit
    chosen = np.where(above, 1.0, tied * ((count - above.sum()) / tied.sum()))
    is_hot = true >= np.partition(true, -count)[-count]
    return float(chosen[is_hot].sum() / count)
