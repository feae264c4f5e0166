"""Reports of ATLAS by many people, drawn from its exact law, counted and estimated."""

from functools import cached_property
from typing import Any

import numpy as np
from answers_questions import QUESTIONS, Population
from numpy.random import Generator

from nomadp.analysis.populations import simulated_reports
from nomadp.inference.codebook_decoder import possible_trajectories
from nomadp.inference.evidence import TrajectoryEvidence
from nomadp.inference.penalised_likelihood import Group
from nomadp.inference.prior import table_of
from nomadp.inference.shares import bootstrap_fit, estimated_shares
from nomadp.mechanisms import make_mechanism

__all__ = ["AtlasReports"]


class AtlasReports:
    """What people on the trips of a population would report."""

    def __init__(self, crowd: Population, epsilon: str, size: int | None = None) -> None:
        """By the book of the recipe, or by one of so many journeys."""
        options = {} if size is None else {"size": size}
        self.crowd = crowd
        self.channel = make_mechanism("atlas", crowd.locations, epsilon, **options).channel(2)

    def drawn(self, people: Any, rng: Generator) -> Any:
        """How often each journey of the book is reported: multinomials, trip by trip."""
        return simulated_reports(self.channel, self.crowd.journeys, people, rng)

    def counted(self, counts: Any) -> dict[str, Any]:
        return self.crowd.shares(self.channel.atlas.codewords, counts)

    def estimated(self, counts: Any) -> dict[str, Any]:
        crowd, rng = self.crowd, np.random.default_rng(1)
        group = Group(self.evidence, counts.astype(np.float64))
        learned = bootstrap_fit(crowd.locations, [group], rng)
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
    def evidence(self) -> TrajectoryEvidence:
        every = np.arange(self.channel.atlas.size)
        return TrajectoryEvidence(self.channel, possible_trajectories(self.channel), every)
