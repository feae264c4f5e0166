"""Bayes estimates of whole journeys from ATLAS reports.

The possible truths are the atlas' own journeys and, where few of them are near a report, more
journeys of the same public walk. Only distinct reports are worked out; a million of them cost
no more than the atlas has journeys.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from nomadp.errors import DomainError
from nomadp.inference.estimate import Answers, Estimate, Floats, check_level
from nomadp.inference.evidence import JourneyEvidence
from nomadp.inference.prior import Prior
from nomadp.laws import Ints
from nomadp.mechanisms.atlas import Atlas, build_atlas
from nomadp.mechanisms.atlas.long import control_positions, interpolated
from nomadp.mechanisms.atlas.mechanism import JourneyLaw
from nomadp.mechanisms.atlas.response import JourneyResponse

__all__ = ["AtlasDecoder", "possible_journeys"]

SPARSE = 64
"""With fewer near journeys than this, a report's posterior is too coarse on the atlas alone."""
MORE = 4
"""So many more journeys of the public walk then join, for each one of the atlas."""
_ROWS = 1024  # reports whose masses are held at a time


@dataclass(frozen=True, eq=False)
class AtlasDecoder:
    """Decodes reports of trajectories of one length; each distinct report only once."""

    law: JourneyLaw
    prior: Prior | None = None
    """By default every journey of the public walk is equally likely."""
    level: float = 0.9
    _known: dict[int, tuple[Ints, Floats]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        check_level(self.level)

    @cached_property
    def channel(self) -> JourneyResponse:
        return self.law.channel

    @cached_property
    def support(self) -> Ints:
        return possible_journeys(self.channel)

    @cached_property
    def weights(self) -> Floats:
        """The prior probability of every possible journey."""
        if self.prior is None:
            return np.full(len(self.support), 1.0 / len(self.support))
        return self.prior.weights(self.support)

    def decode(self, indices: Ints) -> Estimate:
        """A row of locations for each report, which is the number of a journey."""
        reports = np.asarray(indices, dtype=np.int64)
        check_indices(reports, self.channel.atlas)
        distinct, which = np.unique(reports, return_inverse=True)
        self._learn_about([one for one in distinct.tolist() if one not in self._known])
        shape = (len(distinct), self.law.length)
        table, radius = np.empty(shape, dtype=np.int64), np.empty(shape)
        for row, report in enumerate(distinct.tolist()):
            table[row], radius[row] = self._known[report]
        return Estimate(table[which], radius[which], self.level)

    def _learn_about(self, reports: list[int]) -> None:
        if not reports:
            return
        evidence = JourneyEvidence(self.channel, self.support, np.array(reports))
        evidence.near  # noqa: B018 - found once, before threads share it
        with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
            positions = range(self.support.shape[1])
            columns = list(threads.map(lambda i: self._position(evidence, i), positions))
        best = np.stack([answer for answer, _ in columns])
        radius = np.stack([km for _, km in columns])
        places = np.stack(interpolated(self.law.locations, best, self.law.length), axis=1)
        around = _between_km(radius, self.law.length)
        for row, report in enumerate(reports):
            self._known[report] = places[row], around[row]

    def _position(self, evidence: JourneyEvidence, position: int) -> tuple[Ints, Floats]:
        """The best answer to every report at one position, and its radius."""
        places, label = np.unique(self.support[:, position], return_inverse=True)
        answers = Answers(self.law.locations, places)
        best, radius = [], []
        for start in range(0, len(evidence.reports), _ROWS):
            rows = slice(start, start + _ROWS)
            mass = evidence.mass(self.weights, label, len(places), rows)
            best.append(answers.best(mass))
            radius.append(answers.radius_km(mass, best[-1], self.level))
        return np.concatenate(best), np.concatenate(radius)


def possible_journeys(channel: JourneyResponse) -> Ints:
    """The truths a report may stand for: the atlas, and more of its walk where it is coarse.

    Where there are hardly more journeys than that, every one: so none is missing.
    """
    atlas = channel.atlas
    journeys = atlas.journeys.astype(np.int64)
    every = len(atlas.locations) ** atlas.length
    if every <= atlas.size:
        return journeys
    if every <= MORE * atlas.size:
        return build_atlas(atlas.locations, atlas.length, every).journeys.astype(np.int64)
    if channel.near_count >= SPARSE:
        return journeys
    more = build_atlas(atlas.locations, atlas.length, MORE * atlas.size).journeys
    return np.concatenate([journeys, more.astype(np.int64)])


def check_indices(reports: Ints, atlas: Atlas) -> None:
    if reports.ndim != 1 or (
        reports.size and not 0 <= reports.min() <= reports.max() < atlas.size
    ):
        raise DomainError(
            f"reports must be rows of the atlas of {atlas.size} journeys, and some are not"
        )


def _between_km(radius: Floats, length: int) -> Floats:
    """Radii for every position, (reports, length); between control points the larger one.

    What lies between control points was never reported, so there the level is not promised.
    """
    positions = control_positions(length, len(radius))
    after = np.searchsorted(positions, np.arange(length), side="left")
    before = np.searchsorted(positions, np.arange(length), side="right") - 1
    return np.maximum(radius[before], radius[after]).T
