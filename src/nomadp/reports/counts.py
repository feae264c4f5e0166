"""How often each distinct report came in: all that learning needs, and it adds up.

Counts of parts add to the counts of the whole, in any order: of batches, of machines, of days.
There are few distinct reports however many come in.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from nomadp.errors import SchemaError
from nomadp.laws import Ints
from nomadp.mechanisms import Mechanism
from nomadp.reports.table import AnyReports
from nomadp.reports.values import released_values

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["COLUMNS", "Counts"]

COLUMNS = ("law", "length", "value", "count")
REFUSED = 0
"""As a length: reports that were left out."""

Cell = tuple[str, int, int]
"""The identity of a mechanism, a length, and what was released under that law."""


@dataclass(frozen=True)
class Counts:
    """Reports counted by law, length and value; a value is a whole report, or a point of one.

    Counts of parts add up to those of all, so they can be made apart and sent on. ``refused``
    is how many reports the mechanism cannot have made.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=10)
    >>> exp = nomadp.make_mechanism("exp", city.locations, epsilon=4)
    >>> reports = nomadp.perturb_set(exp, city.trajectories, nomadp.SimulatedWords(1))
    >>> parts = (reports.select(range(4)), reports.select(range(4, 10)))
    >>> one, other = (nomadp.Counts.of(exp, part) for part in parts)
    >>> one + other == nomadp.Counts.of(exp, reports)
    True
    """

    cells: dict[Cell, int] = field(default_factory=dict)

    @classmethod
    def of(cls, mechanism: Mechanism, reports: AnyReports) -> "Counts":
        """Of the reports that the mechanism can have made; the others are only counted."""
        law, refused = mechanism.identity, reports.refusals
        cells: dict[Cell, int] = {}
        for read in released_values(mechanism, reports, strict=False):
            refused += int(np.count_nonzero(read.wrong))
            values, counts = np.unique(read.values[~read.wrong], return_counts=True)
            for value, count in zip(values.tolist(), counts.tolist(), strict=True):
                cells[law, read.length, value] = count
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
        """How many reports were left out."""
        return sum(count for (_, length, _), count in self.cells.items() if length == REFUSED)

    def by_length(self, mechanism: Mechanism) -> Iterator[tuple[int, Ints, Ints]]:
        """Of one law: each length, its distinct values in order, and how often each came in."""
        found: dict[int, list[tuple[int, int]]] = {}
        for (law, length, value), count in self.cells.items():
            if law == mechanism.identity and length != REFUSED:
                found.setdefault(length, []).append((value, count))
        for length in sorted(found):
            values, counts = np.array(sorted(found[length]), dtype=np.int64).T
            yield length, values, counts

    def to_arrow(self) -> "pa.RecordBatch":
        import pyarrow as pa

        rows = [(*cell, count) for cell, count in self.cells.items()]
        columns = list(zip(*rows, strict=True)) if rows else [(), (), (), ()]
        kinds = (pa.string(), pa.int64(), pa.int64(), pa.int64())
        arrays = [pa.array(each, kind) for each, kind in zip(columns, kinds, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, names=list(COLUMNS))

    @classmethod
    def from_arrow(cls, table: "pa.Table | pa.RecordBatch") -> "Counts":
        """From the columns law, length, value, count; rows of one cell are summed."""
        if missing := set(COLUMNS) - set(table.schema.names):
            raise SchemaError(f"counts must have the columns {', '.join(sorted(missing))}")
        cells: dict[Cell, int] = {}
        columns = (table[name].to_pylist() for name in COLUMNS)
        for law, length, value, count in zip(*columns, strict=True):
            cells[law, length, value] = cells.get((law, length, value), 0) + count
        return cls(cells)
