"""People who are made up in public: walks between places of a made-up popularity.

What a question or ATLAS would tell of them is simulated from the exact laws of both. Nobody's
trajectories are read, and walks are not people.
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

__all__ = ["Asked", "Population", "drawn_reports"]

WALKS = 2000
DISTRICTS = "grid:8"
UNEQUAL = 0.4
"""Standard deviation of the logarithm of how popular a district is, and a place within it: then
flat is about as wrong as on the sets of docs/answers.md, at which this was set."""
_AT_ONCE = 256  # walks whose chances are held at a time


@dataclass(frozen=True, eq=False)
class Population:
    """People on public walks of two points, each as likely as its places are popular."""

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
        """How many take each walk."""
        return np.random.default_rng(0).multinomial(self.people, self.weights)

    def surveyed(self, atlas: Atlas, progress: Progress | None = None) -> BootstrapFit:
        """What is learned from one draw of everybody's reports by ATLAS, for all areas."""
        channel, rng = atlas.channel(2), np.random.default_rng(2)
        count = drawn_reports(channel, self.walks, self.walkers, rng)
        seen = np.flatnonzero(count)
        evidence = TrajectoryEvidence(channel, possible_trajectories(channel), seen)
        group = Group(evidence, count[seen].astype(np.float64))
        return bootstrap_fit(self.locations, [group], rng, progress)


@dataclass(frozen=True, eq=False)
class Asked:
    """A crowd that is asked a question, and what each way to answer it gets wrong."""

    crowd: Population
    question: FrequencyOracle

    @property
    def pairs(self) -> bool:
        return self.question.name == "trips"

    def labels(self, walks: Ints) -> Ints:
        """One for each walk, or for each of its points: (walks, 1) or (walks, 2)."""
        zone = self.question.partition.of[walks]
        if self.pairs:
            return zone[:, :1] * len(self.question.partition) + zone[:, -1:]
        return zone

    def counted(self, weights: Floats) -> Floats:
        label = self.labels(self.crowd.walks)
        each = np.repeat(weights, label.shape[1])
        count = np.bincount(label.reshape(-1), each, self.question.label_count)
        shares: Floats = count / count.sum()
        return shares

    @cached_property
    def truth(self) -> Floats:
        return self.counted(self.crowd.weights)

    @cached_property
    def places(self) -> Ints:
        """Locations, or pairs of them, of each label."""
        held = np.bincount(self.question.partition.of)
        return np.outer(held, held).reshape(-1) if self.pairs else held

    @property
    def flat(self) -> Floats:
        shares: Floats = self.places / self.places.sum()
        return shares

    @cached_property
    def levels(self) -> Levels:
        zones = self.question.partition
        groups = tuple(zones.levels())
        if self.pairs:
            groups = pair_levels(groups, zones.apart())
        return Levels(groups, self.flat, np.arange(self.question.label_count))

    def error(self, shares: Floats) -> float:
        """Half of the summed differences: who would have to be put elsewhere."""
        return float(np.abs(shares - self.truth).sum() / 2)

    def direct_error(self, rng: Generator) -> float:
        """Of one draw of everybody's answers: binomials, label by label."""
        walkers, people = self.crowd.walkers, self.crowd.people
        label = self.labels(self.crowd.walks)
        first = rng.binomial(walkers, 1 / label.shape[1])
        told = np.stack([first, walkers - first])[: label.shape[1]]
        true = np.zeros(self.question.label_count, dtype=np.int64)
        np.add.at(true, label.T, told)
        law = self.question.channel
        chances = float(law.true_chance), float(law.other_chance)
        support = rng.binomial(true, chances[0]) + rng.binomial(people - true, chances[1])
        found = oracle_shares(support, people, *chances, self.levels)
        return self.error(found.values)

    @cached_property
    def deviation(self) -> Floats:
        """Of every share without smoothing, by its exact variance."""
        law = self.question.channel
        true, other = float(law.true_chance), float(law.other_chance)
        gain = true - other
        supported = other + self.truth * gain
        spread: Floats = np.sqrt(supported * (1 - supported) / self.crowd.people) / gain
        return spread

    @property
    def raw_error(self) -> float:
        """Expected without smoothing; where it is above 1, no shares are that wrong."""
        return float(np.sqrt(2 / np.pi) * self.deviation.sum() / 2)

    def estimated_error(self, bootstrap: BootstrapFit) -> float:
        """Of what ATLAS' reports tell."""
        size, tally = self.question.label_count, self.labels
        shares = estimated_shares(
            bootstrap, lambda rows: table_of(tally(rows), size), self.places
        )
        return self.error(shares.values)


def drawn_reports(channel: Channel, journeys: Ints, people: Ints, rng: Generator) -> Ints:
    """How often each output is reported, when so many people make each of the journeys."""
    count = np.zeros(len(channel.outputs), dtype=np.int64)
    for start in range(0, len(people), _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        chances = probabilities(channel, journeys[rows].T)
        count += rng.multinomial(people[rows], chances).sum(axis=0)
    return count
