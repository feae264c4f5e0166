"""Simulated populations: public random walks between places of made-up popularity.

The errors of frequency oracles and of ATLAS are simulated on them, from the exact law of each.
No real trajectory is read, and people do not move like random walks.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import Generator

from nomadp.geometry import Floats
from nomadp.inference.codebook_decoder import possible_trajectories
from nomadp.inference.empirical_bayes import Group, Progress
from nomadp.inference.evidence import TrajectoryEvidence
from nomadp.inference.frequencies import Levels, oracle_shares, pair_levels
from nomadp.inference.prior import table_of
from nomadp.inference.shares import BootstrapFit, bootstrap_fit, estimated_shares
from nomadp.laws import Channel, Ints, probabilities
from nomadp.locations import LocationSet
from nomadp.mechanisms.atlas import Atlas
from nomadp.mechanisms.oracles import FrequencyOracle
from nomadp.walks import public_walks
from nomadp.zones import zones_of

__all__ = ["Population", "SimulatedQuery", "simulated_reports"]

WALKS = 2000
DISTRICTS = "grid:8"
UNEQUAL = 0.4
"""The standard deviation of the log-popularity of districts, and of places within them. It was
chosen so that the uniform baseline has about the same error as in docs/answers.md."""
_AT_ONCE = 256  # walks whose report probabilities are in memory at a time


@dataclass(frozen=True, eq=False)
class Population:
    """A number of people on public random walks of two points.

    The probability of a walk is proportional to the popularity of both of its places.
    """

    locations: LocationSet
    people: int

    @cached_property
    def walks(self) -> Ints:
        return public_walks(self.locations, 2, WALKS, "advice").astype(np.int64)

    @cached_property
    def weights(self) -> Floats:
        rng, district = np.random.default_rng(1), zones_of(self.locations, DISTRICTS)
        appeal = rng.normal(0, UNEQUAL, len(self.locations))
        appeal += rng.normal(0, UNEQUAL, len(district))[district.of]
        weight = np.exp(appeal[self.walks].sum(axis=1))
        shares: Floats = weight / weight.sum()
        return shares

    @cached_property
    def walkers(self) -> Ints:
        """The number of people on each walk."""
        return np.random.default_rng(0).multinomial(self.people, self.weights)

    def fit(self, atlas: Atlas, progress: Progress | None = None) -> BootstrapFit:
        """The model of ATLAS, fitted to one simulated report of each person, for all areas."""
        channel, rng = atlas.channel(2), np.random.default_rng(2)
        count = simulated_reports(channel, self.walks, self.walkers, rng)
        reported = np.flatnonzero(count)
        evidence = TrajectoryEvidence(channel, possible_trajectories(channel), reported)
        group = Group(evidence, count[reported].astype(np.float64))
        return bootstrap_fit(self.locations, [group], rng, progress)


@dataclass(frozen=True, eq=False)
class SimulatedQuery:
    """A query to a simulated population, and the error of each way to estimate its shares."""

    population: Population
    oracle: FrequencyOracle

    @property
    def pairs(self) -> bool:
        return self.oracle.name == "trips"

    def labels(self, walks: Ints) -> Ints:
        """The label of each walk, (walks, 1), or of each of its points, (walks, 2)."""
        zone = self.oracle.partition.of[walks]
        if self.pairs:
            return zone[:, :1] * len(self.oracle.partition) + zone[:, -1:]
        return zone

    def shares_of(self, weights: Floats) -> Floats:
        """The share of each label, if walks have these weights."""
        label = self.labels(self.population.walks)
        repeated = np.repeat(weights, label.shape[1])
        count = np.bincount(label.reshape(-1), repeated, self.oracle.label_count)
        shares: Floats = count / count.sum()
        return shares

    @cached_property
    def truth(self) -> Floats:
        return self.shares_of(self.population.weights)

    @cached_property
    def places(self) -> Ints:
        """The number of locations, or of pairs of them, of each label."""
        size = np.bincount(self.oracle.partition.of)
        return np.outer(size, size).reshape(-1) if self.pairs else size

    @property
    def baseline(self) -> Floats:
        shares: Floats = self.places / self.places.sum()
        return shares

    @cached_property
    def levels(self) -> Levels:
        zones = self.oracle.partition
        groups = tuple(zones.levels())
        if self.pairs:
            groups = pair_levels(groups, zones.distance_classes())
        return Levels(groups, self.baseline, np.arange(self.oracle.label_count))

    def error(self, shares: Floats) -> float:
        """The total variation distance to the truth: the part of people in a wrong area."""
        return float(np.abs(shares - self.truth).sum() / 2)

    def oracle_error(self, rng: Generator) -> float:
        """The error of the oracle's estimate in one simulation of everybody's reports."""
        walkers, people = self.population.walkers, self.population.people
        label = self.labels(self.population.walks)
        # Each person reports one label: that of the walk, or of one of its points at random.
        first = rng.binomial(walkers, 1 / label.shape[1])
        reporters = np.stack([first, walkers - first])[: label.shape[1]]
        true = np.zeros(self.oracle.label_count, dtype=np.int64)
        np.add.at(true, label.T, reporters)
        law = self.oracle.channel
        p, q = float(law.true_chance), float(law.other_chance)
        # The support of a label is a sum of binomials; labels are drawn independently.
        support = rng.binomial(true, p) + rng.binomial(people - true, q)
        return self.error(oracle_shares(support, people, p, q, self.levels).values)

    @cached_property
    def std_error(self) -> Floats:
        """The standard error of every raw share, from its exact variance."""
        law = self.oracle.channel
        p, q = float(law.true_chance), float(law.other_chance)
        gap = p - q
        supported = q + self.truth * gap
        std_error: Floats = np.sqrt(supported * (1 - supported) / self.population.people) / gap
        return std_error

    @property
    def raw_error(self) -> float:
        """The expected error of raw shares, which may exceed 1, the largest error of shares.

        The mean absolute error of a normal variable is sqrt(2 / pi) standard deviations.
        """
        return float(np.sqrt(2 / np.pi) * self.std_error.sum() / 2)

    def model_error(self, bootstrap: BootstrapFit) -> float:
        """The error of the shares that are estimated from ATLAS reports."""
        size, tally = self.oracle.label_count, self.labels
        shares = estimated_shares(
            bootstrap, lambda rows: table_of(tally(rows), size), self.places
        )
        return self.error(shares.values)


def simulated_reports(
    channel: Channel, trajectories: Ints, people: Ints, rng: Generator
) -> Ints:
    """Simulate how often each output is reported; ``people[k]`` people make trajectory k."""
    count = np.zeros(len(channel.outputs), dtype=np.int64)
    for start in range(0, len(people), _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        probability = probabilities(channel, trajectories[rows].T)
        count += rng.multinomial(people[rows], probability).sum(axis=0)
    return count
