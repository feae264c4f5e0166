"""What reports say was released, length by length, and which of them say what cannot be."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from nomadp.errors import DomainError
from nomadp.laws import Ints
from nomadp.mechanisms import Mechanism
from nomadp.mechanisms.report_law import ReportLaw
from nomadp.reports.table import AnyReports
from nomadp.sequences import by_length

__all__ = ["IMPOSSIBLE", "Values", "check_readable", "possible", "released_values"]

IMPOSSIBLE = "no trajectory leads to them"


class Values(NamedTuple):
    """The reports of one length."""

    length: int
    law: ReportLaw
    rows: Ints
    """Which reports these are."""
    where: Ints
    """Where their points stand, (reports, length)."""
    values: Ints
    """What was released: one for each, or (reports, length)."""

    @property
    def wrong(self) -> Any:
        """Which of these reports no trajectory leads to."""
        return (self.values < 0).reshape(len(self.rows), -1).any(axis=1)


def check_readable(mechanism: Mechanism) -> None:
    if mechanism.report_law(1) is None:
        raise DomainError(
            "reports can be decoded and counted for atlas and for mechanisms that perturb each "
            f"point on its own, got {mechanism.name}, whose reported points do not tell what "
            "was released"
        )


def released_values(
    mechanism: Mechanism, reports: AnyReports, *, strict: bool = True
) -> Iterator[Values]:
    """Each length that occurs, and what its reports say.

    A report that says what cannot be is refused, or marked by -1 if not ``strict``.
    """
    check_readable(mechanism)
    reports.header.check_made_by(mechanism)
    for length, rows in by_length(reports):
        where = reports.offsets[rows][:, None] + np.arange(length)
        numbers = None if reports.numbers is None else reports.numbers[rows]
        try:
            law: Any = mechanism.report_law(length)
            values = law.values(reports.locations[where], numbers)
        except DomainError:  # of a length that is never reported
            if strict:
                raise
            law, values = None, np.full(len(rows), -1)
        wrong = int(np.count_nonzero(values < 0))
        if wrong and strict:
            raise DomainError(
                f"every report must be one that {mechanism.name} makes, got {wrong} of length "
                f"{length} that are not; were they made with this mechanism and these options?"
            )
        yield Values(length, law, rows, where, values)


def possible(mechanism: Mechanism, reports: AnyReports) -> AnyReports:
    """All but those that no trajectory leads to, which are counted."""
    bad = np.zeros(len(reports), dtype=bool)
    for read in released_values(mechanism, reports, strict=False):
        bad[read.rows] = read.wrong
    return reports.without(bad, IMPOSSIBLE)
