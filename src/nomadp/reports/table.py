"""Collected reports, and simulated reports for experiments.

Only `Reports` may be sent and stored. `SimulatedReports` have the same columns and can be
decoded and evaluated, but they protect nobody: others could repeat their randomness, or their
mechanism is not private, or neither is known. Nothing that stores or sends reports accepts
them. Neither class derives from the other, so `isinstance` cannot confuse them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from nomadp.errors import DomainError, NotPrivateError
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.mechanisms import Mechanism
from nomadp.randomness import RandomSource
from nomadp.reports.header import Header, check_locations
from nomadp.sequences import Sequences

__all__ = [
    "AnyReports",
    "Reports",
    "SimulatedReports",
    "report_ids",
    "reports_as",
    "order_of_ids",
]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AnyReports(Sequences):
    """Reports as columns. Report k is `locations[offsets[k]:offsets[k + 1]]`.

    ``names`` are the ids of the reports. In reports of frequency oracles, ``locations`` are the
    released numbers instead of locations.
    """

    header: Header
    """How the reports were made."""
    location_set: LocationSet
    """The public location set."""
    numbers: Ints | None = None
    """The released number of each report, if there is just one (ATLAS: a codeword's index)."""
    transcripts: tuple[tuple[int, ...], ...] | None = None
    """Everything that the steps of the program released for each report, if it was kept."""
    refused: Mapping[str, int] = field(default_factory=dict)
    """Number of reports that were left out, by reason."""
    entry_size: int | None = None
    """For a frequency oracle: all values are below this number. None: values are locations."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_size(len(self.location_set) if self.entry_size is None else self.entry_size)
        check_locations(self.header.location_set_sha256, self.location_set)
        for column in (self.numbers, self.transcripts):
            if column is not None and len(column) != len(self):
                raise DomainError(
                    f"every report must have one number and one transcript or none, got "
                    f"{len(column)} for {len(self)}",
                    code="column_length_mismatch",
                    length=len(column),
                    reports=len(self),
                )

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the reports; random, so that they reveal nothing about the sender."""
        return self.names

    @property
    def n_refused(self) -> int:
        """Number of reports that were left out."""
        return sum(self.refused.values())

    def _columns(self, chosen: Ints) -> dict[str, Any]:
        numbers, transcripts = self.numbers, self.transcripts
        return {
            "numbers": None if numbers is None else numbers[chosen],
            "transcripts": transcripts and tuple(transcripts[k] for k in chosen.tolist()),
        }

    def without(self, bad: Any, reason: str) -> Self:
        """A copy without some of the reports, which are counted in ``refused``.

        Args:
            bad: For each report, whether to leave it out.
            reason: The key under which ``refused`` counts them.

        Returns:
            The other reports.
        """
        count = int(np.count_nonzero(bad))
        if not count:
            return self
        refused = {**self.refused, reason: self.refused.get(reason, 0) + count}
        return replace(self.select(np.flatnonzero(~bad)), refused=refused)

    def __repr__(self) -> str:
        mechanism = f"{self.header.mechanism} at epsilon {self.header.epsilon}"
        return f"{type(self).__name__}({len(self)} of {mechanism})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AnyReports):
            return NotImplemented
        mine, theirs = (
            (r.header, r.transcripts, None if r.numbers is None else r.numbers.tolist())
            for r in (self, other)
        )
        return mine == theirs and super().__eq__(other)

    __hash__ = None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Reports(AnyReports):
    """Private reports, drawn with randomness that nobody else can repeat.

    `perturb_set` and `read_reports` return them. ``header`` describes how they were made,
    ``locations`` and ``offsets`` hold the reported values, ``ids`` their random ids,
    ``numbers`` the codewords that ATLAS released, and ``refused`` the number of unreadable
    reports by reason. Raises `NotPrivateError` if the header says that they are not private.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=10)
    >>> exp = nomadp.make_mechanism("exp", city.locations, epsilon=4)
    >>> reports = nomadp.perturb_set(exp, city.trajectories)
    >>> reports.header.mechanism, len(reports.ids), reports.n_refused
    ('exp', 10, 0)
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.header.private:
            raise NotPrivateError(
                "Reports must come from a private mechanism and secret randomness, got a "
                "header that says otherwise; use SimulatedReports",
                code="reports_not_private",
            )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SimulatedReports(AnyReports):
    """Reports for experiments, which must not be stored or sent as those of people.

    They were drawn from a seed, or by a mechanism that is not private. They have the columns of
    `Reports`, but are not an instance of it.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=10)
    >>> exp = nomadp.make_mechanism("exp", city.locations, epsilon=4)
    >>> simulated = nomadp.perturb_set(exp, city.trajectories, nomadp.SeededRandom(1))
    >>> isinstance(simulated, nomadp.SimulatedReports), isinstance(simulated, nomadp.Reports)
    (True, False)
    """


def reports_as(
    header: Header, location_set: LocationSet, sequences: Sequences, **columns: Any
) -> AnyReports:
    """`Reports` if the header says that they are private, else `SimulatedReports`."""
    kind = Reports if header.private else SimulatedReports
    fields = sequences.offsets, sequences.locations, sequences.names
    return kind(*fields, header=header, location_set=location_set, **columns)


def report_ids(
    randomness: RandomSource, mechanism: Mechanism, tids: tuple[str, ...]
) -> tuple[str, ...]:
    """An id of 128 random bits for each trajectory, different for each mechanism.

    An id is drawn from the job's randomness, from the stream named by the tid. So a resumed job
    gives every report the same id again, and without the job's key an id reveals nothing.
    """
    if not tids:
        return ()
    named = randomness.bound_to(f"report ids of {mechanism.identity}").named(tids)
    digits = named.rows(np.arange(len(tids)), 2).astype(">u8").tobytes().hex()
    return tuple(digits[first : first + 32] for first in range(0, len(digits), 32))


def order_of_ids(ids: tuple[str, ...]) -> list[int]:
    """The sorted order of random ids, which is independent of the order of drawing."""
    return sorted(range(len(ids)), key=ids.__getitem__)
