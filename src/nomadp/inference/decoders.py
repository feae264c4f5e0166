"""What reports say, in pieces that can be worked out apart and put together.

A report matters to inference only through its length and its value under the mechanism's law:
a row of the atlas, or a location for each point. There are few distinct ones, however many
reports come in.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nomadp.errors import DomainError
from nomadp.inference.estimate import Estimate, check_level
from nomadp.inference.evidence import JourneyEvidence
from nomadp.inference.journeys import AtlasDecoder, possible_journeys
from nomadp.inference.learning import Group, Progress
from nomadp.inference.points import PointDecoder, check_table, point_evidence
from nomadp.inference.prior import Prior
from nomadp.laws import Ints
from nomadp.mechanisms import Mechanism
from nomadp.mechanisms.report_law import ReportLaw
from nomadp.reports.counts import Counts, released_values
from nomadp.reports.table import AnyReports

__all__ = ["Decoders", "can_decode", "groups_from"]


@dataclass(frozen=True, eq=False)
class Decoders:
    """Decodes batch after batch; a decoder of one length serves all of them."""

    mechanism: Mechanism
    prior: Prior | None
    level: float
    _by_length: dict[int, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        check_level(self.level)

    def decode(self, reports: AnyReports, progress: Progress | None = None) -> Estimate:
        """The location with the smallest expected error for every reported point, in order."""
        locations = np.empty(len(reports.locations), dtype=np.int64)
        radius_km = np.empty(len(locations))
        for read in released_values(self.mechanism, reports):
            found = self._decoder(read.length, read.law).decode(read.values)
            locations[read.where], radius_km[read.where] = found.locations, found.radius_km
            if progress is not None:
                progress(len(read.rows))
        return Estimate(locations, radius_km, self.level)

    def _decoder(self, length: int, law: ReportLaw) -> Any:
        if length not in self._by_length:
            kind: Any = AtlasDecoder if law.whole else PointDecoder
            self._by_length[length] = kind(law, self.prior, self.level)
        return self._by_length[length]


def groups_from(mechanism: Mechanism, counts: Counts) -> list[Group]:
    """The distinct reports of one mechanism by their law, for `nomadp.inference`."""
    return [
        Group(_evidence(mechanism.report_law(length), values), often.astype(np.float64))
        for length, values, often in counts.by_length(mechanism)
    ]


def can_decode(mechanism: Mechanism) -> bool:
    """Whether reported points alone tell what was released, and a table of them fits."""
    law = mechanism.report_law(1)
    if law is None:
        return False
    try:
        return law.whole or check_table(law)
    except DomainError:
        return False


def _evidence(law: Any, values: Ints) -> Any:
    if law.whole:
        return JourneyEvidence(law.channel, possible_journeys(law.channel), values)
    return point_evidence(law, values)
