"""From reports to estimates, whatever mechanism they came from.

Reports are what `perturb_set` returns or a file holds; what they stand for is read back from
the mechanism, which must be the one that made them. A report matters only through its length
and its value under the mechanism's law: a row of the atlas, or a location for each point. There
are few distinct ones, however many reports come in.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nomadp.inference.estimate import Estimate, check_level
from nomadp.inference.evidence import TrajectoryEvidence
from nomadp.inference.journeys import CodebookDecoder, possible_journeys
from nomadp.inference.learning import Group, Progress, learn
from nomadp.inference.points import PointDecoder, fits_table, point_evidence
from nomadp.inference.prior import Prior
from nomadp.laws import Ints
from nomadp.mechanisms import Mechanism
from nomadp.mechanisms.report_law import ReportLaw
from nomadp.reports.counts import Counts, check_decodable, counts_of, released_values
from nomadp.reports.table import AnyReports

__all__ = ["Decoders", "can_decode", "decode", "groups_from", "groups_of", "fit_prior"]


@dataclass(frozen=True, eq=False)
class Decoders:
    """Decodes batch after batch; a decoder of one law serves all of them.

    Long trajectories of all lengths have one: they are decoded at their control points, and
    without the prior. It is of journeys like public walks, which long tracks are not: where it
    was tried, answers were up to 6 % worse for it.
    """

    mechanism: Mechanism
    prior: Prior | None
    level: float
    _by_law: dict[tuple[int, bool], Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        check_level(self.level)
        check_decodable(self.mechanism)

    def decode(self, reports: AnyReports, progress: Progress | None = None) -> Estimate:
        """The location with the smallest expected error for every reported point, in order."""
        locations = np.empty(len(reports.locations), dtype=np.int64)
        radius_km = np.empty(len(locations))
        for read in released_values(self.mechanism, reports):
            found = self.of_values(read.length, read.values, read.law)
            locations[read.where], radius_km[read.where] = found.locations, found.radius_km
            if progress is not None:
                progress(len(read.rows))
        return Estimate(locations, radius_km, self.level)

    def of_values(self, length: int, values: Ints, law: ReportLaw) -> Estimate:
        """For what reports of one length released under their law."""
        if law.whole:
            journey: Any = law
            seen = law.seen or length
            key = seen, length > seen
            if key not in self._by_law:
                prior = None if length > seen else self.prior
                self._by_law[key] = CodebookDecoder(journey, prior, self.level)
            whole: Estimate = self._by_law[key].decode(values, length)
            return whole
        key = length, False
        if key not in self._by_law:
            self._by_law[key] = PointDecoder(law, self.prior, self.level)
        points: Estimate = self._by_law[key].decode(values)
        return points


def groups_from(mechanism: Mechanism, counts: Counts) -> list[Group]:
    """The distinct reports of one mechanism by their law, for `nomadp.inference`.

    Lengths that are reported through as many points have one law: they are one group.
    """
    check_decodable(mechanism)
    laws: dict[tuple[bool, int], Any] = {}
    counted: dict[tuple[bool, int], dict[int, int]] = {}
    for length, values, often in counts.by_length(mechanism):
        law: Any = mechanism.report_law(length)
        key = law.whole, law.seen or length
        laws.setdefault(key, law)
        known = counted.setdefault(key, {})
        for value, count in zip(values.tolist(), often.tolist(), strict=True):
            known[value] = known.get(value, 0) + count
    found = []
    for key, known in counted.items():
        values, often = np.array(sorted(known.items()), dtype=np.int64).T
        found.append(Group(_evidence(laws[key], values), often.astype(np.float64)))
    return found


def can_decode(mechanism: Mechanism) -> bool:
    """Whether reported points alone tell what was released, and a table of them fits."""
    law = mechanism.report_law(1)
    return law is not None and not mechanism.is_oracle and (law.whole or fits_table(law))


def _evidence(law: Any, values: Ints) -> Any:
    if law.whole:
        return TrajectoryEvidence(law.channel, possible_journeys(law.channel), values)
    return point_evidence(law, values)


LEVEL = 0.9


def decode(
    mechanism: Mechanism,
    reports: AnyReports,
    prior: Prior | None = None,
    *,
    level: float = LEVEL,
    progress: Progress | None = None,
) -> Estimate:
    """The location with the smallest expected error for every reported point, in order.

    Bayes with the exact law: it is post-processing and costs nothing. ``mechanism`` is the one
    that made the ``reports``; without a ``prior`` anything is as likely. ``level`` is the
    probability with which the truth lies within the radius that comes with an estimate, if the
    prior is right. ``progress`` is told how many more reports are done. Raises `DomainError`
    for mechanisms whose reports do not tell what was released (TP, ATP, NGRAM).

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=10)
    >>> brr = nomadp.make_mechanism("brr", city.locations, epsilon=4)
    >>> reports = nomadp.perturb_set(brr, city.trajectories, nomadp.SeededRandom(1))
    >>> estimate = nomadp.decode(brr, reports, level=0.5)
    >>> len(estimate) == len(reports.locations)
    True
    """
    return Decoders(mechanism, prior, level).decode(reports, progress)


def fit_prior(
    mechanism: Mechanism, reports: AnyReports | Counts, *, progress: Progress | None = None
) -> Prior:
    """Where people go, learned from all their reports of one mechanism together.

    ``reports`` may have been counted (`Counts`): then their number costs nothing. Those of
    several mechanisms or epsilons: `nomadp.inference.learn` with the `groups_of`
    each. ``progress`` is told of every piece of learning that is done. Raises `ValueError` if
    there is no report, and `DomainError` as `decode` does.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=100)
    >>> brr = nomadp.make_mechanism("brr", city.locations, epsilon=8)
    >>> reports = nomadp.perturb_set(brr, city.trajectories, nomadp.SeededRandom(1))
    >>> nomadp.fit_prior(brr, reports).location_weights().shape
    (50,)
    """
    return learn(mechanism.locations, groups_of(mechanism, reports), progress=progress)


def groups_of(mechanism: Mechanism, reports: AnyReports | Counts) -> list[Group]:
    """The reports by their law, distinct ones counted; what cannot be one is left out."""
    check_decodable(mechanism)
    return groups_from(mechanism, counts_of(mechanism, reports))
