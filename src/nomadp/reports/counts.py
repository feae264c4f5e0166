"""Counts of distinct reports by length: a sufficient statistic for all estimates.

Counts of parts (batches, machines, days) add up to the counts of the whole, in any order. Their
size depends on the number of distinct reports, not on the number of reports.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nomadp.errors import DomainError, SchemaError
from nomadp.laws import Ints
from nomadp.mechanisms import Mechanism
from nomadp.mechanisms.report_law import ReportLaw
from nomadp.reports.table import AnyReports
from nomadp.sequences import by_length

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "COLUMNS",
    "IMPOSSIBLE",
    "Counts",
    "ReleasedValues",
    "check_decodable",
    "check_countable",
    "counts_of",
    "drop_impossible",
    "released_values",
]

IMPOSSIBLE = "no trajectory leads to them"

COLUMNS = ("law", "length", "value", "count")
REFUSED = 0
"""The length under which reports that were left out are counted."""

Cell = tuple[str, int, int]
"""The identity of a mechanism, a length, and a value released under that law."""


class ReleasedValues(NamedTuple):
    """The reports of one length."""

    length: int
    law: ReportLaw
    rows: Ints
    """Indices of the reports."""
    points: Ints
    """Indices of their points, (reports, length)."""
    values: Ints
    """The released values: one for each report, or (reports, length)."""

    @property
    def impossible(self) -> Any:
        """Which of these reports no trajectory can produce, (reports,)."""
        return (self.values < 0).reshape(len(self.rows), -1).any(axis=1)


def check_countable(mechanism: Mechanism) -> None:
    """Refuse mechanisms whose reports have no law that could be inverted."""
    if mechanism.report_law(1) is None:
        raise DomainError(
            "the mechanism must be atlas, a frequency oracle or one that perturbs each point "
            f"separately, so that its reports can be decoded and counted, got {mechanism.name}",
            code="mechanism_not_decodable",
            mechanism=mechanism.name,
        )


def check_decodable(mechanism: Mechanism) -> None:
    """Refuse frequency oracles, and mechanisms whose reports cannot be decoded."""
    if mechanism.is_oracle:
        raise DomainError(
            "reports must contain locations to be decoded, got reports of "
            f'{mechanism.name}, a frequency oracle; use "nomadp query"',
            code="frequency_oracle_unsupported",
            mechanism=mechanism.name,
        )
    check_countable(mechanism)


def released_values(
    mechanism: Mechanism, reports: AnyReports, *, strict: bool = True
) -> Iterator[ReleasedValues]:
    """The released values of all reports, by length.

    An impossible report is refused, or marked by -1 if not ``strict``.
    """
    check_countable(mechanism)
    reports.header.check_made_by(mechanism)
    for length, rows in by_length(reports):
        points = reports.offsets[rows][:, None] + np.arange(length)
        numbers = None if reports.numbers is None else reports.numbers[rows]
        try:
            law: Any = mechanism.report_law(length)
            values = law.values(reports.locations[points], numbers)
        except DomainError:  # the mechanism never reports this length
            if strict:
                raise
            law, values = None, np.full(len(rows), -1)
        impossible = int(np.count_nonzero(values < 0))
        if impossible and strict:
            raise DomainError(
                f"every report must be possible under {mechanism.name}, got {impossible} of "
                f"length {length} that are not; check the mechanism and its options",
                code="impossible_reports",
                reports=impossible,
                length=length,
            )
        yield ReleasedValues(length, law, rows, points, values)


def drop_impossible(mechanism: Mechanism, reports: AnyReports) -> AnyReports:
    """The reports without impossible ones, which are counted as refused."""
    impossible = np.zeros(len(reports), dtype=bool)
    for released in released_values(mechanism, reports, strict=False):
        impossible[released.rows] = released.impossible
    return reports.without(impossible, IMPOSSIBLE)


@dataclass(frozen=True)
class Counts:
    """Number of reports by law, length and value (a whole report, or one of its points).

    Counts of parts add up to the counts of all reports, so you can count in several places and
    add the results. ``refused`` is the number of reports that the mechanism cannot have made.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=10)
    >>> exp = nomadp.make_mechanism("exp", city.locations, epsilon=4)
    >>> reports = nomadp.perturb_set(exp, city.trajectories, nomadp.SeededRandom(1))
    >>> parts = (reports.select(range(4)), reports.select(range(4, 10)))
    >>> one, other = (nomadp.Counts.of(exp, part) for part in parts)
    >>> one + other == nomadp.Counts.of(exp, reports)
    True
    """

    cells: dict[Cell, int] = field(default_factory=dict)
    """The count of each (identity of the mechanism, length, released value)."""

    @classmethod
    def of(cls, mechanism: Mechanism, reports: AnyReports) -> "Counts":
        """Count reports.

        Args:
            mechanism: The mechanism that made the reports.
            reports: The reports. Those that the mechanism cannot have made count as refused.

        Returns:
            The counts.

        Raises:
            DomainError: The reports are of another mechanism, or do not contain everything that
                was released (TP, ATP, NGRAM).
        """
        law, refused = mechanism.identity, reports.n_refused
        cells: dict[Cell, int] = {}
        for released in released_values(mechanism, reports, strict=False):
            refused += int(np.count_nonzero(released.impossible))
            values = released.values[~released.impossible]
            values, counts = np.unique(values, return_counts=True)
            for value, count in zip(values.tolist(), counts.tolist(), strict=True):
                cells[law, released.length, value] = count
        if refused:
            cells[law, REFUSED, 0] = refused
        return cls(cells)

    def __add__(self, other: "Counts") -> "Counts":
        cells = dict(self.cells)
        for cell, count in other.cells.items():
            cells[cell] = cells.get(cell, 0) + count
        return Counts(cells)

    @property
    def refused(self) -> int:
        """Number of reports that were left out."""
        return sum(count for (_, length, _), count in self.cells.items() if length == REFUSED)

    def reports(self, mechanism: Mechanism) -> int:
        """The number of counted reports of this mechanism."""
        return sum(self.lengths(mechanism).values())

    def lengths(self, mechanism: Mechanism) -> dict[int, int]:
        """The number of reports of this mechanism, by length."""
        reports = {}
        for length, _, counts in self.by_length(mechanism):
            law = mechanism.report_law(length)
            # A report adds one value if it is one (ATLAS), else one for each of its points.
            values_per_report = 1 if law is not None and law.whole else length
            reports[length] = int(counts.sum()) // values_per_report
        return reports

    def only(self, mechanism: Mechanism) -> "Counts":
        """Only the counts of this mechanism."""
        law = mechanism.identity
        return Counts({cell: count for cell, count in self.cells.items() if cell[0] == law})

    @cached_property
    def sha256(self) -> str:
        """Hash of all counts, independent of their order."""
        digest = hashlib.sha256(b"nomadp-counts-1\n")
        for (law, length, value), count in sorted(self.cells.items()):
            digest.update(f"{law}\n{length} {value} {count}\n".encode())
        return digest.hexdigest()

    def by_length(self, mechanism: Mechanism) -> Iterator[tuple[int, Ints, Ints]]:
        """For each length: the length, the sorted distinct values, and the count of each."""
        pairs: dict[int, list[tuple[int, int]]] = {}
        for (law, length, value), count in self.cells.items():
            if law == mechanism.identity and length != REFUSED:
                pairs.setdefault(length, []).append((value, count))
        for length in sorted(pairs):
            values, counts = np.array(sorted(pairs[length]), dtype=np.int64).T
            yield length, values, counts

    def to_arrow(self) -> "pa.RecordBatch":
        """An Arrow table with a row per cell: the columns law, length, value and count."""
        import pyarrow as pa

        rows = ((*cell, count) for cell, count in self.cells.items())
        named = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
        types = [(name, pa.string() if name == "law" else pa.int64()) for name in COLUMNS]
        return pa.RecordBatch.from_pylist(named, schema=pa.schema(types))

    @classmethod
    def from_arrow(cls, table: "pa.Table | pa.RecordBatch") -> "Counts":
        """The counts in an Arrow table with the columns law, length, value and count.

        Rows of the same cell are added up. Raises `SchemaError` if a column is missing.
        """
        if missing := set(COLUMNS) - set(table.schema.names):
            raise SchemaError(
                f"counts must have the columns {', '.join(sorted(missing))}",
                code="columns_missing",
                missing=tuple(sorted(missing)),
            )
        cells: dict[Cell, int] = {}
        columns = (table[name].to_pylist() for name in COLUMNS)
        for law, length, value, count in zip(*columns, strict=True):
            cells[law, length, value] = cells.get((law, length, value), 0) + count
        return cls(cells)


def counts_of(mechanism: Mechanism, evidence: AnyReports | Counts) -> Counts:
    """The counts of this mechanism, counted now if necessary; refused if there are none."""
    if isinstance(evidence, Counts):
        check_countable(mechanism)
        counts = evidence.only(mechanism)
        if evidence.cells and not counts.cells:
            raise DomainError(
                "counts must be of the mechanism that is queried, got counts of others; count "
                f"the reports that {mechanism.name} at epsilon {mechanism.epsilon} made",
                code="counts_of_another_mechanism",
                mechanism=mechanism.name,
            )
        _check_possible(mechanism, counts)
        return counts
    return Counts.of(mechanism, evidence)


def _check_possible(mechanism: Mechanism, counts: Counts) -> None:
    """Refuse values that the mechanism never reports: counts may come from anywhere."""
    for length, values, count in counts.by_length(mechanism):
        law: Any = mechanism.report_law(max(length, 1))
        size = mechanism.report_size if mechanism.is_oracle else len(law.channel.outputs)
        if length < 1 or values[0] < 0 or values[-1] >= size or count.min() < 1:
            raise DomainError(
                f"counts must be of values that {mechanism.name} at epsilon "
                f"{mechanism.epsilon} reports, got others of length {length}; count the "
                "reports again",
                code="impossible_counts",
                length=length,
            )
