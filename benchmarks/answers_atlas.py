"""ATLAS reports of many people, drawn from the exact law, with counts and estimates."""

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
    """Simulated reports of a population's trips."""

    def __init__(self, crowd: Population, epsilon: str, size: int | None = None) -> None:
        """Uses the default codebook, or one of a given size."""
        options = {} if size is None else {"size": size}
        self.crowd = crowd
        self.channel = make_mechanism("atlas", crowd.locations, epsilon, **options).channel(2)

    def drawn(self, people: Any, rng: Generator) -> Any:
        """The number of reports of each codeword: a multinomial draw for each distinct trip."""
        return simulated_reports(self.channel, self.crowd.journeys, people, rng)

    def counted(self, counts: Any) -> dict[str, Any]:
        return self.crowd.shares(self.channel.atlas.codewords, counts)

    def estimated(self, counts: Any) -> dict[str, Any]:
        crowd, rng = self.crowd, np.random.default_rng(1)
        group = Group(self.evidence, counts.astype(np.float64))
        model = bootstrap_fit(crowd.locations, [group], rng)
        return {
            question: estimated_shares(
                model,
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
