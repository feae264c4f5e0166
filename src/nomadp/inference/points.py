"""Bayes estimates for mechanisms that perturb every point separately, such as EXP and BRR.

All points reported with the same share of epsilon have one law: a table of every location
against every report. Points are decoded one by one, as they were perturbed.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nomadp.errors import DomainError
from nomadp.inference.estimate import Answers, DecodedPoints, Floats, check_level
from nomadp.inference.evidence import TableEvidence
from nomadp.inference.prior import Prior
from nomadp.laws import Ints
from nomadp.mechanisms.fast.limits import TABLE_LIMIT
from nomadp.mechanisms.report_law import ReportLaw

__all__ = ["PointDecoder", "fits_table", "point_evidence"]


@dataclass(frozen=True, eq=False)
class PointDecoder:
    """Decodes points reported with one share of epsilon; the table is computed once."""

    law: ReportLaw
    prior: Prior | None = None
    """By default every location is equally likely."""
    level: float = 0.9

    def __post_init__(self) -> None:
        check_level(self.level)

    @cached_property
    def weights(self) -> Floats:
        """The prior probability of every location."""
        if self.prior is None:
            return np.full(len(self.law.locations), 1.0 / len(self.law.locations))
        return self.prior.location_weights()

    def decode(self, points: Ints) -> DecodedPoints:
        """An estimated location for each reported one."""
        reported = np.asarray(points, dtype=np.int64)
        best, radius = self._table
        if reported.size and not 0 <= reported.min() <= reported.max() < len(best):
            raise DomainError(
                f"reports must be one of {len(best)} public locations, but some are not",
                code="report_out_of_range",
                size=len(best),
            )
        return DecodedPoints(best[reported], radius[reported], self.level)

    @cached_property
    def _table(self) -> tuple[Ints, Floats]:
        # The posterior of every possible report, (reports, locations): Bayes' theorem once.
        locations = np.arange(len(self.law.locations))
        evidence = point_evidence(self.law, locations)
        mass = evidence.posterior(self.weights, locations, len(locations), slice(None))
        answers = Answers(self.law.locations, locations)
        best = answers.best(mass)
        return best, answers.radius_km(mass, best, self.level)


def point_evidence(law: ReportLaw, reports: Ints) -> TableEvidence:
    """The likelihood of true locations, given the reported ones."""
    if not fits_table(law):
        raise DomainError(
            f"decoding single points needs at most {TABLE_LIMIT} locations, got "
            f"{len(law.locations)}; use atlas, or a smaller set",
            code="point_table_too_large",
            locations=len(law.locations),
            most=TABLE_LIMIT,
        )
    return TableEvidence(law.channel, reports)


def fits_table(law: ReportLaw) -> bool:
    """Whether the table of every location against every report is small enough."""
    return len(law.locations) <= TABLE_LIMIT
