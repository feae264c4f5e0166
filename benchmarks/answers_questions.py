"""The questions of benchmarks/answers.py: labels of trips, true shares, and scores.

Density: the cell of a grid of 16 by 16 of a point. Hotspots: the same of 1024 by 1024, which
is nearly the location itself; scored by how many of the 10 that are named truly are the most
visited. Trips: the pair of areas, of 4 by 4, between which it goes. Lengths: the bin of its
distance in km. Only cells that hold a public location are labels.
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
        """How many of so many people make each trip."""
        return rng.multinomial(count, self.weights)

    @cached_property
    def zones(self) -> dict[str, Zones]:
        return {question: zones_of(self.locations, rule) for question, rule in ZONES.items()}

    def size(self, question: str) -> int:
        if question == "lengths":
            return BINS
        return len(self.zones[question]) ** (2 if question == "trips" else 1)

    def labels(self, question: str, journeys: Ints) -> Ints:
        """Of each journey, (n, 1), or of each of its points, (n, 2), where one is told."""
        if question == "lengths":
            ends = journeys[:, 0], journeys[:, -1]
            return self._bins(self.locations.distances_between_km(*ends))[:, None]
        zone = self.zones[question].of[journeys]
        if question == "trips":
            return zone[:, :1] * len(self.zones["trips"]) + zone[:, -1:]
        return zone

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
        if question == "lengths":
            return self._pairs
        held = np.bincount(self.zones[question].of)
        return np.outer(held, held).reshape(-1) if question == "trips" else held

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

    def levels(self, question: str) -> Levels:
        """Coarser partitions of the labels, and what is public of them."""
        if question == "lengths":
            groups = tuple(np.arange(BINS) * 2**k // BINS for k in range(1, 5))
        else:
            groups = tuple(self.zones[question].levels())
        if question == "trips":
            groups = pair_levels(groups, self.zones[question].distance_classes())
        return Levels(groups, self.flat[question], np.arange(self.size(question)))

    def scores(self, shares: dict[str, Floats]) -> dict[str, float]:
        """How far from the truth; of hotspots, the part that was named rightly."""
        found = {}
        for question, true in self.truth.items():
            if question == "density":
                found[question] = jensen_shannon(true, shares[question])
            elif question == "hotspots":
                found[question] = _recall(true, shares[question])
            else:
                found[question] = float(np.abs(shares[question] - true).sum())
        return found


def _recall(true: Floats, found: Floats) -> float:
    """Of the cells named, those that truly are among the first; equals are drawn among."""
    count = min(NAMED, len(true))
    limit = np.partition(found, -count)[-count]
    above, tied = found > limit, found == limit
    named = np.where(above, 1.0, tied * ((count - above.sum()) / tied.sum()))
    hot = true >= np.partition(true, -count)[-count]
    return float(named[hot].sum() / count)
