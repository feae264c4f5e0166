"""Which mechanism serves a wish better, before anybody has sent anything.

Journeys are what ATLAS reports. Hotspots and flows may be asked for directly, or estimated from
ATLAS' journeys; which errs less depends on epsilon, on the map and on how many people answer.
Both are simulated, from their exact laws, on walks of the public recipe between places of a
made-up popularity: nobody's trajectories are read, and walks are not people.
"""

from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator

from nomadp.geometry import Floats
from nomadp.inference.direct import Levels, direct_shares, pair_levels
from nomadp.inference.evidence import JourneyEvidence
from nomadp.inference.journeys import possible_journeys
from nomadp.inference.learning import Group, Progress
from nomadp.inference.shares import estimated_shares, learned_from_groups, table_of
from nomadp.laws import Channel, Ints, probabilities
from nomadp.locations import LocationSet
from nomadp.mechanisms.atlas import WholeJourney
from nomadp.mechanisms.atlas.book import public_walks
from nomadp.mechanisms.questions import Question, Trips, Visits
from nomadp.zones import Zones, zones_of

__all__ = ["WISHES", "Advice", "advise", "drawn_reports"]

WISHES: dict[str, type[Question]] = {"hotspots": Visits, "flows": Trips}
"""The question that asks for each."""
WALKS = 2000
DRAWS = 10
"""How often the answers to a direct question are drawn; of ATLAS, once."""
DISTRICTS = "grid:8"
UNEQUAL = 0.4
"""Standard deviation of the logarithm of how popular a district is, and a place within it: then
flat is about as wrong as on the sets of docs/answers.md, at which this was set."""
_AT_ONCE = 256  # walks whose chances are held at a time


@dataclass(frozen=True)
class Advice:
    """What was found for a wish; an error is the part of people put in a wrong zone."""

    wish: str
    question: str
    zones: str
    labels: int
    people: int
    epsilon: Fraction | int
    errors: dict[str, float]
    """Of the direct question, smoothed and raw, of ATLAS estimated, and of what no privacy
    (sampling alone) and no information (flat) give."""

    @property
    def better(self) -> str:
        """The mechanism that errs less; a tie goes to the question, whose error is known."""
        return self.question if self.errors["direct"] <= self.errors["atlas"] else "atlas"

    @property
    def times(self) -> float:
        """How many times more the other errs."""
        low, high = sorted([self.errors["direct"], self.errors["atlas"]])
        return high / low if low else 1.0

    @property
    def tells(self) -> bool:
        """Whether the better one tells anything that nobody would say without reports."""
        return min(self.errors["direct"], self.errors["atlas"]) < self.errors["flat"]

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "better": self.better, "tells": self.tells}


def advise(
    wish: str,
    atlas: WholeJourney,
    people: int,
    zones: str | Zones | None = None,
    progress: Progress | None = None,
) -> Advice:
    """Compare a direct question with ATLAS, both at the same epsilon, on the same map."""
    kind = WISHES[wish]
    question = kind(locations=atlas.locations, epsilon=atlas.epsilon, zones=zones or kind.zones)
    crowd = _Crowd(question)
    rng = np.random.default_rng(0)  # nothing private is drawn
    walkers = rng.multinomial(people, crowd.weights)
    errors = {
        "direct": float(np.mean([crowd.asked(walkers, rng) for _ in range(DRAWS)])),
        "raw": crowd.raw_error(people),
        "atlas": crowd.estimated(atlas, walkers, rng, progress),
        "no privacy": crowd.error(crowd.counted(crowd.walks, walkers / people)),
        "flat": crowd.error(crowd.flat),
    }
    rule, labels = question.partition.rule, question.label_count
    return Advice(wish, question.name, rule, labels, people, atlas.epsilon, errors)


@dataclass(frozen=True, eq=False)
class _Crowd:
    """Public walks of two points, each as likely as its places are popular."""

    question: Question

    @property
    def locations(self) -> LocationSet:
        return self.question.locations

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

    @property
    def pairs(self) -> bool:
        return self.question.name == "trips"

    def labels(self, walks: Ints) -> Ints:
        """One for each walk, or for each of its points: (walks, 1) or (walks, 2)."""
        zone = self.question.partition.of[walks]
        if self.pairs:
            return zone[:, :1] * len(self.question.partition) + zone[:, -1:]
        return zone

    def counted(self, walks: Ints, weights: Floats) -> Floats:
        label = self.labels(walks)
        each = np.repeat(weights, label.shape[1])
        count = np.bincount(label.reshape(-1), each, self.question.label_count)
        shares: Floats = count / count.sum()
        return shares

    @cached_property
    def truth(self) -> Floats:
        return self.counted(self.walks, self.weights)

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

    def asked(self, walkers: Ints, rng: Generator) -> float:
        """The error of one draw of everybody's answers: binomials, label by label."""
        label, total = self.labels(self.walks), int(walkers.sum())
        first = rng.binomial(walkers, 1 / label.shape[1])
        told = np.stack([first, walkers - first])[: label.shape[1]]
        true = np.zeros(self.question.label_count, dtype=np.int64)
        np.add.at(true, label.T, told)
        law = self.question.channel
        chances = float(law.true_chance), float(law.other_chance)
        support = rng.binomial(true, chances[0]) + rng.binomial(total - true, chances[1])
        found = direct_shares(support, total, *chances, self.levels)
        return self.error(found.values)

    def raw_error(self, people: int) -> float:
        """Expected without smoothing, from the exact variance of every share; 1 at most."""
        law = self.question.channel
        true, other = float(law.true_chance), float(law.other_chance)
        gain = true - other
        supported = other + self.truth * gain
        deviation = np.sqrt(supported * (1 - supported) / people) / gain
        return min(1.0, float(np.sqrt(2 / np.pi) * deviation.sum() / 2))

    def estimated(
        self, atlas: WholeJourney, walkers: Ints, rng: Generator, progress: Progress | None
    ) -> float:
        """The error of estimates from one draw of everybody's reports by ATLAS."""
        channel = atlas.channel(2)
        count = drawn_reports(channel, self.walks, walkers, rng)
        seen = np.flatnonzero(count)
        evidence = JourneyEvidence(channel, possible_journeys(channel), seen)
        group = Group(evidence, count[seen].astype(np.float64))
        learned = learned_from_groups(self.locations, [group], rng, progress)
        size, tally = self.question.label_count, self.labels
        shares = estimated_shares(
            learned, lambda rows: table_of(tally(rows), size), self.places
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
