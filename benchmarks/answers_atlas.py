"""Reports of ATLAS by many people, drawn from its exact law, counted and estimated."""

from functools import cached_property
from typing import Any

import numpy as np
from answers_questions import QUESTIONS, Population
from numpy.random import Generator

from nomadp.inference.evidence import JourneyEvidence
from nomadp.inference.fitting import Group
from nomadp.inference.journeys import possible_journeys
from nomadp.inference.shares import estimated_shares, learned_from_groups, table_of
from nomadp.laws import probabilities
from nomadp.mechanisms import make_mechanism

__all__ = ["AtlasReports"]

_AT_ONCE = 256  # trips whose chances are held at a time


class AtlasReports:
    """What people on the trips of a population would report."""

    def __init__(self, crowd: Population, epsilon: str) -> None:
        self.crowd = crowd
        self.channel = make_mechanism("atlas", crowd.locations, epsilon).channel(2)

    def drawn(self, people: Any, rng: Generator) -> Any:
        """How often each journey of the book is reported: multinomials, trip by trip."""
        count = np.zeros(self.channel.atlas.size, dtype=np.int64)
        for start in range(0, len(people), _AT_ONCE):
            rows = slice(start, start + _AT_ONCE)
            count += rng.multinomial(people[rows], self._chances(rows)).sum(axis=0)
        return count

    def _chances(self, rows: slice) -> Any:
        return probabilities(self.channel, self.crowd.journeys[rows].T)

    def counted(self, counts: Any) -> dict[str, Any]:
        return self.crowd.shares(self.channel.atlas.journeys, counts)

    def estimated(self, counts: Any) -> dict[str, Any]:
        crowd, rng = self.crowd, np.random.default_rng(1)
        group = Group(self._evidence, counts.astype(np.float64))
        learned = learned_from_groups(crowd.locations, [group], rng)
        return {
            question: estimated_shares(
                learned,
                lambda rows, question=question: table_of(
                    crowd.labels(question, rows), crowd.size(question)
                ),
                crowd.places(question),
            ).values
            for question in QUESTIONS
        }

    @cached_property
    def _evidence(self) -> JourneyEvidence:
        every = np.arange(self.channel.atlas.size)
        return JourneyEvidence(self.channel, possible_journeys(self.channel), every)
