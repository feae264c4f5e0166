"""Bayes estimates of whole trajectories from reports of codewords.

The possible truths are fresh public random walks. With the public prior, the best estimate for
a report is the reported codeword itself, because Lloyd's algorithm has made each codeword the
best estimate for its reports. Only distinct reports are decoded, so the time is limited by the
size of the codebook, not by the number of reports.
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
"""The number of possible truths: per codeword, at least and at most."""
PRIOR_WEIGHT = 0.35
"""The weight of a fitted prior, mixed with the uniform one: a fitted prior also distinguishes
truths between which no report can decide."""
_ROWS = 1024  # reports whose posteriors are in memory at a time


@dataclass(frozen=True, eq=False)
class CodebookDecoder:
    """Decodes reports of one law at its control points, each distinct report only once."""

    law: CodewordReports
    prior: Prior | None = None
    """By default all public random walks are equally likely."""
    level: float = 0.9
    _decoded: dict[int, tuple[Ints, Floats]] = field(
        default_factory=dict, init=False, repr=False
    )

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
        """The prior probability of every possible trajectory."""
        if self.prior is None:
            return np.full(len(self.support), 1.0 / len(self.support))
        fitted = self.prior.weights(self.support)
        # Exact posteriors use the fitted prior as it is; improved codewords a cautious mixture.
        if not self.returns_codeword:
            return fitted
        return PRIOR_WEIGHT * fitted + (1 - PRIOR_WEIGHT) / len(self.support)

    @cached_property
    def returns_codeword(self) -> bool:
        """Whether the reported codeword is the estimate, unless a prior improves it.

        That holds for the channel the codebook was optimised for. Where all possible truths fit
        into the support, the exact posterior is used instead.
        """
        atlas = self.channel.atlas
        complete = len(self.support) == len(atlas.locations) ** atlas.length
        same_channel = self.channel.near_count == atlas.near_count
        return same_channel and math.isfinite(atlas.error_km) and not complete

    def decode(self, indices: Ints, length: int | None = None) -> DecodedPoints:
        """A row of ``length`` locations for each report, which is the number of a codeword.

        The default is the law's length; other lengths must have the same control points.
        """
        reports = np.asarray(indices, dtype=np.int64)
        check_indices(reports, self.channel.atlas)
        distinct, inverse = np.unique(reports, return_inverse=True)
        self._decode_distinct([k for k in distinct.tolist() if k not in self._decoded])
        length = length or self.law.length
        shape = (len(distinct), self.channel.atlas.length)
        control, radius = np.empty(shape, dtype=np.int64), np.empty(shape)
        for row, report in enumerate(distinct.tolist()):
            control[row], radius[row] = self._decoded[report]
        table = interpolated(self.law.locations, control.T, length).T
        radius_km = _interpolated_km(radius.T, length)
        return DecodedPoints(table[inverse], radius_km[inverse], self.level)

    def _decode_distinct(self, reports: list[int]) -> None:
        if not reports:
            return
        evidence = TrajectoryEvidence(self.channel, self.support, np.array(reports))
        evidence.near  # noqa: B018 - computed once, before threads share it
        with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
            positions = range(self.support.shape[1])
            columns = list(
                threads.map(lambda i: self._estimate_position(evidence, i), positions)
            )
        best = np.stack([location for location, _ in columns], axis=1)
        radius = np.stack([km for _, km in columns], axis=1)
        for row, report in enumerate(reports):
            self._decoded[report] = best[row], radius[row]

    def _estimate_position(
        self, evidence: TrajectoryEvidence, position: int
    ) -> tuple[Ints, Floats]:
        """The estimate and the credible radius of every report at one position."""
        # The posterior of a trajectory, summed over all that have the same place here.
        places, label = np.unique(self.support[:, position], return_inverse=True)
        answers = Answers(self.law.locations, places)
        best, radius = [], []
        for start in range(0, len(evidence.reports), _ROWS):
            rows = slice(start, start + _ROWS)
            mass = evidence.posterior(self.weights, label, len(places), rows)
            if not self.returns_codeword:
                best.append(answers.best(mass))
            else:
                best.append(self.channel.atlas.codewords[evidence.reports[rows], position])
                # Another answer replaces the codeword only if it is better beyond the Monte
                # Carlo error of the support.
                if self.prior is not None and not self.prior.is_public:
                    noise = evidence.posterior_variance(self.weights, label, len(places), rows)
                    best[-1] = answers.improved(best[-1].astype(np.int64), mass, noise)
            radius.append(answers.radius_km(mass, best[-1], self.level))
        return np.concatenate(best), np.concatenate(radius)


def possible_trajectories(channel: CodewordResponse) -> Ints:
    """The possible truths: public random walks that did not train the codebook.

    If there are no more trajectories than that, all of them, so that none is missing.
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
            f"reports must be numbers of one of {atlas.size} codewords, but some are not",
            code="report_out_of_range",
            size=atlas.size,
        )


def _interpolated_km(radius: Floats, length: int) -> Floats:
    """The radius at every position, (reports, length); between control points the larger one.

    Points between control points were not reported, so their radius has no guaranteed level.
    """
    positions = control_positions(length, len(radius))
    after = np.searchsorted(positions, np.arange(length), side="left")
    before = np.searchsorted(positions, np.arange(length), side="right") - 1
    return np.maximum(radius[before], radius[after]).T
