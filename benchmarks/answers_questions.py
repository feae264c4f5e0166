"""The questions of benchmarks/answers.py: labels of trips, true shares, and scores.

Density: the cell of a grid of 16 by 16 of a point. Trips: the pair of areas, of 4 by 4, between
which it goes. Lengths: the bin of its distance in km. Only cells that hold a public location
are labels. Hotspots are read from the density: of the 10 cells named, how many truly are.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator

from nomadp.analysis.hotspots import jensen_shannon
from nomadp.locations import LocationSet
from nomadp.trajectory import TrajectorySet
from nomadp.zones import Zones, zones_of

__all__ = ["QUESTIONS", "Population", "SCORES"]

QUESTIONS = ("density", "trips", "lengths")
SCORES = ("density", "hotspots", "trips", "lengths")
DENSITY, AREAS, BINS, HOTSPOTS = "grid:16", "grid:4", 16, 10
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
        """How many of so many people make each trip."""
        return rng.multinomial(count, self.weights)

    @cached_property
    def cells(self) -> Zones:
        return zones_of(self.locations, DENSITY)

    @cached_property
    def areas(self) -> Zones:
        return zones_of(self.locations, AREAS)

    def size(self, question: str) -> int:
        sizes = {"density": len(self.cells), "trips": len(self.areas) ** 2, "lengths": BINS}
        return sizes[question]

    def labels(self, question: str, journeys: Ints) -> Ints:
        """Of each journey, (n, 1), or of each of its points, (n, 2), where one is told."""
        if question == "density":
            return self.cells.of[journeys]
        first, last = journeys[:, 0], journeys[:, -1]
        if question == "trips":
            return (self.areas.of[first] * len(self.areas) + self.areas.of[last])[:, None]
        distance_km = self.locations.distances_between_km(first, last)
        return self._bins(distance_km)[:, None]

    def _bins(self, distance_km: Floats) -> Ints:
        """Narrower for short trips: bin k begins at (k / 16)^2 of the largest distance."""
        share = np.sqrt(distance_km / self.locations.diameter_km)
        return np.minimum((share * BINS).astype(np.int64), BINS - 1)

    def askable(self, question: str, people: Ints, rng: Generator) -> Ints:
        """How many would truly answer each label; of two points each draws one."""
        labels = self.labels(question, self.journeys)
        told = [people]
        if labels.shape[1] == 2:
            first = rng.binomial(people, 0.5)
            told = [first, people - first]
        count = np.zeros(self.size(question), dtype=np.int64)
        for column, some in zip(labels.T, told, strict=True):
            np.add.at(count, column, some)
        return count

    def shares(self, journeys: Ints, people: Floats) -> dict[str, Floats]:
        """By question, when so many people truly make these journeys."""
        found = {}
        for question in QUESTIONS:
            labels = self.labels(question, journeys)
            each = np.repeat(people, labels.shape[1])
            count = np.bincount(labels.reshape(-1), each, self.size(question))
            found[question] = count / count.sum()
        return found

    @cached_property
    def truth(self) -> dict[str, Floats]:
        return self.shares(self.journeys, self.weights)

    def places(self, question: str) -> Ints:
        """How many locations, or pairs of them, have each label."""
        if question == "density":
            return np.bincount(self.cells.of)
        if question == "trips":
            held = np.bincount(self.areas.of)
            return np.outer(held, held).reshape(-1)
        return self._pairs

    @cached_property
    def _pairs(self) -> Ints:
        count = np.zeros(BINS, dtype=np.int64)
        for k in range(len(self.locations)):
            bins = self._bins(self.locations.distances_km(k))
            count += np.bincount(bins, minlength=BINS)
        return count

    @cached_property
    def flat(self) -> dict[str, Floats]:
        """What somebody without reports would say: any location, or any pair, is as likely."""
        places = {question: self.places(question) for question in QUESTIONS}
        return {question: held / held.sum() for question, held in places.items()}

    def levels(self, question: str) -> list[Ints]:
        """Coarser partitions of the labels, coarsest first."""
        if question == "density":
            return self.cells.levels()
        if question == "lengths":
            return [np.arange(BINS) * 2**k // BINS for k in range(1, 5)]
        return [
            (group[:, None] * (group.max() + 1) + group).reshape(-1)
            for group in self.areas.levels()
        ]

    def scores(self, shares: dict[str, Floats]) -> dict[str, float]:
        """Distances to the truth, and the recall of hotspots."""
        true = self.truth
        apart = {name: float(np.abs(shares[name] - true[name]).sum()) for name in QUESTIONS}
        return apart | {
            "density": jensen_shannon(true["density"], shares["density"]),
            "hotspots": _recall(true["density"], shares["density"]),
        }


def _recall(true: Floats, found: Floats) -> float:
    """Of the cells named, those that truly are among the first; equals are drawn among."""
    count = min(HOTSPOTS, len(true))
    limit = np.partition(found, -count)[-count]
    above, tied = found > limit, found == limit
    named = np.where(above, 1.0, tied * ((count - above.sum()) / tied.sum()))
    hot = true >= np.partition(true, -count)[-count]
    return float(named[hot].sum() / count)
