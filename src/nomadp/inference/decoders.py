"""What reports say, in pieces that can be worked out apart and put together.

A report matters to inference only through its length and its value under the mechanism's law:
a page of the atlas, or a location for each point. There are few distinct ones, however many
reports come in.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nomadp.errors import DomainError
from nomadp.extras import require
from nomadp.inference.estimate import Estimate, check_level
from nomadp.inference.evidence import JourneyEvidence
from nomadp.inference.journeys import AtlasDecoder, possible_journeys, reported_indices
from nomadp.inference.learning import Group, Progress
from nomadp.inference.points import PointDecoder, point_evidence
from nomadp.inference.prior import Prior
from nomadp.laws import Ints
from nomadp.mechanisms import Mechanism
from nomadp.mechanisms.atlas import WholeJourney
from nomadp.mechanisms.atlas.many import by_length
from nomadp.mechanisms.points.exp import PointByPoint
from nomadp.trajectory import TrajectorySet

__all__ = ["Decoders", "check_decodable", "group_of", "reported_values"]


@dataclass(frozen=True, eq=False)
class Decoders:
    """Decodes batch after batch; a decoder of one length serves all of them."""

    mechanism: Mechanism
    prior: Prior | None
    level: float
    _by_length: dict[int, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        check_level(self.level)

    def decode(self, reports: TrajectorySet, progress: Progress | None = None) -> Estimate:
        """The location with the smallest expected error for every reported point, in order."""
        locations = np.empty(len(reports.locations), dtype=np.int64)
        radius_km = np.empty(len(locations))
        for length, where, values in reported_values(self.mechanism, reports):
            found = self._decoder(length).decode(values)
            locations[where], radius_km[where] = found.locations, found.radius_km
            if progress is not None:
                progress(len(where))
        return Estimate(locations, radius_km, self.level)

    def _decoder(self, length: int) -> Any:
        if length not in self._by_length:
            mechanism, rest = self.mechanism, (self.prior, self.level)
            if isinstance(mechanism, WholeJourney):
                self._by_length[length] = AtlasDecoder(mechanism, length, *rest)
            elif isinstance(mechanism, PointByPoint):
                share = mechanism.split(length).shares()["point"]
                self._by_length[length] = PointDecoder(mechanism, share, *rest)
        return self._by_length[length]


def reported_values(
    mechanism: Mechanism, reports: TrajectorySet
) -> Iterator[tuple[int, Ints, Ints]]:
    """Each length that occurs, where the points of its reports stand, and their values.

    A value is one for a report of the atlas, and one for each point otherwise.
    """
    require("analysis")
    check_decodable(mechanism)
    reports.check_size(len(mechanism.locations))
    for length, these in by_length(reports):
        where = reports.offsets[these][:, None] + np.arange(length)
        seen = reports.locations[where]
        if isinstance(mechanism, WholeJourney):
            yield length, where, reported_indices(mechanism, seen)
        else:
            yield length, where, seen


def group_of(mechanism: Mechanism, length: int, reports: Ints, counts: Ints) -> Group:
    """Distinct reports of one length and how often each came in, for `nomadp.inference`."""
    order = np.argsort(reports)
    evidence: Any
    if isinstance(mechanism, WholeJourney):
        channel = mechanism.channel(length)
        evidence = JourneyEvidence(channel, possible_journeys(channel), reports[order])
    elif isinstance(mechanism, PointByPoint):
        share = mechanism.split(length).shares()["point"]
        evidence = point_evidence(mechanism, share, reports[order])
    return Group(evidence, counts[order].astype(np.float64))


def check_decodable(mechanism: Mechanism) -> None:
    if not isinstance(mechanism, WholeJourney | PointByPoint):
        raise DomainError(
            "reports can be decoded and counted for atlas and for mechanisms that perturb each "
            f"point on its own, got {mechanism.name}, whose reported points do not tell what "
            "was released"
        )
