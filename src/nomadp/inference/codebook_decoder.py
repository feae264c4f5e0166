"""Bayes estimates of whole journeys from ATLAS reports.

The possible truths are fresh public walks. Before anything is learned from reports, the best
answer to a report is the reported journey itself: the atlas was made so. Only distinct reports
are worked out; a million of them cost no more than the atlas has journeys.
"""

import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from nomadp.errors import DomainError
from nomadp.inference.estimate import Answers, DecodedPoints, Floats, check_level
from nomadp.inference.evidence import TrajectoryEvidence
from nomadp.inference.prior import Prior
from nomadp.laws import Ints
from nomadp.mechanisms.atlas import Codebook
from nomadp.mechanisms.atlas.codebook import CodewordResponse
from nomadp.mechanisms.atlas.long import control_positions, interpolated
from nomadp.mechanisms.atlas.mechanism import CodewordReports
from nomadp.walks import public_walks

__all__ = ["CodebookDecoder", "possible_trajectories"]

WALKS_EACH, WALKS_LEAST, WALKS_MOST = 64, 8192, 32768
"""Possible truths for each journey of the atlas, and in all."""
TRUSTED = 0.35
"""How much a learned prior is believed: it also tells apart truths that no report does."""
_ROWS = 1024  # reports whose masses are held at a time


@dataclass(frozen=True, eq=False)
class CodebookDecoder:
    """Decodes reports of one law, at its control points; each distinct report only once."""

    law: CodewordReports
    prior: Prior | None = None
    """By default every journey of the public walk is equally likely."""
    level: float = 0.9
    _known: dict[int, tuple[Ints, Floats]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        check_level(self.level)

    @cached_property
    def channel(self) -> CodewordResponse:
        return self.law.channel

    @cached_property
    def support(self) -> Ints:
        return possible_trajectories(self.channel)

    @cached_property
    def weights(self) -> Floats:
        """The prior probability of every possible journey."""
        if self.prior is None:
            return np.full(len(self.support), 1.0 / len(self.support))
        learned = self.prior.weights(self.support)
        if not self.looks_up:
            return learned
        return TRUSTED * learned + (1 - TRUSTED) / len(self.support)

    @cached_property
    def looks_up(self) -> bool:
        """Whether a reported journey is its own best answer, as long as no prior says more.

        Not with another channel, and not where all truths can be looked at.
        """
        atlas = self.channel.atlas
        every = len(self.support) == len(atlas.locations) ** atlas.length
        own = self.channel.near_count == atlas.near_count
        return own and math.isfinite(atlas.error_km) and not every

    def decode(self, indices: Ints, length: int | None = None) -> DecodedPoints:
        """A row of locations for each report, which is the number of a journey.

        Of the law's length, or of another that is reported through as many control points.
        """
        reports = np.asarray(indices, dtype=np.int64)
        check_indices(reports, self.channel.atlas)
        distinct, which = np.unique(reports, return_inverse=True)
        self._learn_about([one for one in distinct.tolist() if one not in self._known])
        length = length or self.law.length
        shape = (len(distinct), self.channel.atlas.length)
        control, radius = np.empty(shape, dtype=np.int64), np.empty(shape)
        for row, report in enumerate(distinct.tolist()):
            control[row], radius[row] = self._known[report]
        table = interpolated(self.law.locations, control.T, length).T
        return DecodedPoints(table[which], _between_km(radius.T, length)[which], self.level)

    def _learn_about(self, reports: list[int]) -> None:
        if not reports:
            return
        evidence = TrajectoryEvidence(self.channel, self.support, np.array(reports))
        evidence.near  # noqa: B018 - found once, before threads share it
        with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
            positions = range(self.support.shape[1])
            columns = list(threads.map(lambda i: self._position(evidence, i), positions))
        best = np.stack([answer for answer, _ in columns], axis=1)
        radius = np.stack([km for _, km in columns], axis=1)
        for row, report in enumerate(reports):
            self._known[report] = best[row], radius[row]

    def _position(self, evidence: TrajectoryEvidence, position: int) -> tuple[Ints, Floats]:
        """The best answer to every report at one position, and its radius."""
        places, label = np.unique(self.support[:, position], return_inverse=True)
        answers = Answers(self.law.locations, places)
        best, radius = [], []
        for start in range(0, len(evidence.reports), _ROWS):
            rows = slice(start, start + _ROWS)
            mass = evidence.posterior(self.weights, label, len(places), rows)
            if not self.looks_up:
                best.append(answers.best(mass))
            else:
                best.append(self.channel.atlas.codewords[evidence.reports[rows], position])
                if self.prior is not None and not self.prior.is_public:
                    noise = evidence.posterior_variance(self.weights, label, len(places), rows)
                    best[-1] = answers.improved(best[-1].astype(np.int64), mass, noise)
            radius.append(answers.radius_km(mass, best[-1], self.level))
        return np.concatenate(best), np.concatenate(radius)


def possible_trajectories(channel: CodewordResponse) -> Ints:
    """The truths a report may stand for: public walks that the atlas was not made from.

    Where there are no more journeys than that, every one: so none is missing.
    """
    atlas = channel.atlas
    places, length = len(atlas.locations), atlas.length
    count = max(WALKS_LEAST, min(WALKS_MOST, WALKS_EACH * atlas.size))
    if places**length <= count:
        return np.indices((places,) * length).reshape(length, -1).T
    return public_walks(atlas.locations, length, count, "truths").astype(np.int64)


def check_indices(reports: Ints, atlas: Codebook) -> None:
    if reports.ndim != 1 or (
        reports.size and not 0 <= reports.min() <= reports.max() < atlas.size
    ):
        raise DomainError(
            f"reports must be rows of the atlas of {atlas.size} journeys, and some are not",
            code="report_out_of_range",
            size=atlas.size,
        )


def _between_km(radius: Floats, length: int) -> Floats:
    """Radii for every position, (reports, length); between control points the larger one.

    What lies between control points was never reported, so there the level is not promised.
    """
    positions = control_positions(length, len(radius))
    after = np.searchsorted(positions, np.arange(length), side="left")
    before = np.searchsorted(positions, np.arange(length), side="right") - 1
    return np.maximum(radius[before], radius[after]).T
