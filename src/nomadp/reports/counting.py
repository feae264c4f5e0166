"""Files of reports to counts, piece by piece: memory does not grow with their number.

Of several reports under one id the first counts. Ids are compared by a number made of each,
and word for word only where two numbers are equal, so equal numbers cost time and no report.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from nomadp.errors import DomainError
from nomadp.formats.files import is_parquet
from nomadp.formats.measured_file import AnyPath
from nomadp.formats.parquet_files import damaged
from nomadp.formats.trajectory_batches import as_text
from nomadp.laws import Ints
from nomadp.mechanisms import Mechanism
from nomadp.reports.batches import Columns, columns_of
from nomadp.reports.counts import IMPOSSIBLE, REFUSED, Cell, Counts, check_readable
from nomadp.reports.files import header_of, parts_of
from nomadp.reports.point_rows import rows_by_point
from nomadp.reports.rows import SAME_ID, Rows, nested_column, public_of

__all__ = ["Counted", "count_files"]

ROWS = 1 << 17
"""Reports in memory at a time."""
_ODD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)

Progress = Callable[[int], None]
Words = NDArray[np.uint64]


class Counted(NamedTuple):
    """What files hold, and how many of their reports were left out, by reason."""

    counts: Counts
    refused: Mapping[str, int]


def count_files(
    mechanism: Mechanism, paths: Sequence[AnyPath], progress: Progress | None = None
) -> Counted:
    """All reports of files and folders of any layout, as one; each must be of the mechanism.

    A file that does not say how it was made is taken for one of this mechanism. ``progress`` is
    told how many more reports are counted.
    """
    check_readable(mechanism)
    sources = [part for path in paths for part in _sources(mechanism, Path(path))]
    doubtful = _repeated(sources)
    tally, seen = _Tally(mechanism), set[str]()
    for source in sources:
        for columns in source.pieces():
            tally.add(columns, _said_before(columns.tid, doubtful, seen))
            if progress is not None:
                progress(len(columns.tid))
    found = tally.counted()
    if not found.counts.cells.keys() - {(mechanism.identity, REFUSED, 0)}:
        left_out = sum(found.refused.values())
        what = (
            f"all {left_out} were left out; use the location file and the options that belong "
            "to them"
            if left_out
            else "there are none"
        )
        raise DomainError(
            f"there must be reports of {mechanism.name} at epsilon {mechanism.epsilon} over "
            f"its {len(mechanism.locations)} locations, and {what}",
            code="no_reports",
            left_out=left_out,
        )
    return found


class _Source(NamedTuple):
    """One file of reports."""

    path: Path
    mechanism: Mechanism
    rows: Rows | None
    """What it holds, where that is one row to a point: then it was read whole."""

    def ids(self) -> Iterator[Any]:
        if self.rows is not None:
            yield pa.array(self.rows.rows.names, pa.string())
            return
        for batch in self._batches(["tid"]):
            yield as_text("tid", batch["tid"])

    def pieces(self) -> Iterator[Columns]:
        if self.rows is not None:
            yield Columns.of(self.rows)
            return
        public = public_of(self.mechanism)
        for batch in self._batches(["tid", nested_column(public), "number"]):
            yield columns_of(batch, public)

    def _batches(self, wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
        try:
            # Without threads and buffers ahead: a piece at a time is all that is held.
            with pq.ParquetFile(self.path, pre_buffer=False) as file:
                names = [name for name in file.schema_arrow.names if name in wanted]
                yield from file.iter_batches(ROWS, columns=names, use_threads=True)
            return
        except (pa.ArrowException, OSError):
            pass
        # Raised outside the handler: the original may quote the file.
        raise damaged(self.path)


def _sources(mechanism: Mechanism, path: Path) -> list[_Source]:
    header = header_of(path)
    if header is not None:
        header.check_made_by(mechanism)
    found, public = [], public_of(mechanism)
    for part in parts_of(path):
        streamed = is_parquet(part) and nested_column(public) in _names(part)
        rows = None if streamed else rows_by_point(part, public)
        found.append(_Source(part, mechanism, rows))
    return found


def _names(path: Path) -> Sequence[str]:
    try:
        names: Sequence[str] = pq.read_schema(path).names
        return names
    except (pa.ArrowException, OSError):
        pass
    raise damaged(path)


def _repeated(sources: Sequence[_Source]) -> Words:
    """The numbers that stand for more than one report, in order."""
    each = [_number(ids) for source in sources for ids in source.ids()]
    every = np.concatenate([np.zeros(0, dtype=np.uint64), *each])
    del each
    every.sort()
    return np.unique(every[1:][every[1:] == every[:-1]])


def _said_before(tid: Any, doubtful: Words, seen: set[str]) -> NDArray[np.bool_]:
    """Which of these reports bear an id that came before; ids are noted."""
    again = np.zeros(len(tid), dtype=bool)
    if not len(doubtful):
        return again
    rows = np.flatnonzero(np.isin(_number(tid), doubtful))
    for row, name in zip(rows.tolist(), tid.take(pa.array(rows)).to_pylist(), strict=True):
        again[row] = name in seen
        seen.add(name)
    return again


def _number(ids: Any) -> Words:
    """A number for each text, the same for the same; others may share one, rarely."""
    ids = pc.fill_null(ids, "").cast(pa.large_string())
    size = np.asarray(pc.binary_length(ids))
    start = np.frombuffer(ids.buffers()[1], np.int64)[ids.offset : ids.offset + len(ids)]
    data = np.frombuffer(ids.buffers()[2] or b"", np.uint8)
    found = size.astype(np.uint64) * _ODD
    for length in np.unique(size).tolist():
        rows = np.flatnonzero(size == length)
        padded = np.zeros((len(rows), -(-length // 8) * 8), dtype=np.uint8)
        padded[:, :length] = data[start[rows][:, None] + np.arange(length)]
        for word in padded.view(np.uint64).T:
            mixed = (found[rows] ^ word) * _ODD
            found[rows] = mixed ^ (mixed >> _SHIFT)
    return found


class _Tally:
    """How often each value came in, by length, and what was left out."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self._laws: dict[int, Any] = {}
        self._counts: dict[int, Ints] = {}
        self._refused = Counter[str]()

    def add(self, columns: Columns, again: NDArray[np.bool_]) -> None:
        self._refused.update(columns.refused)
        self._refused[SAME_ID] += int(np.count_nonzero(again))
        lengths = np.diff(columns.offsets)
        for length in np.unique(lengths).tolist():
            rows = np.flatnonzero((lengths == length) & ~again)
            if len(rows):
                self._add(length, rows, columns)

    def _add(self, length: int, rows: Ints, columns: Columns) -> None:
        law = self._law(length)
        if law is None:
            self._refused[IMPOSSIBLE] += len(rows)
            return
        places = columns.locations[columns.offsets[rows][:, None] + np.arange(length)]
        numbers = None if columns.numbers is None else columns.numbers[rows]
        values = law.values(places, numbers)
        wrong = (values < 0).reshape(len(rows), -1).any(axis=1)
        self._refused[IMPOSSIBLE] += int(np.count_nonzero(wrong))
        more = np.bincount(values[~wrong].reshape(-1))
        known = self._counts.get(length, np.zeros(0, dtype=np.int64))
        total = np.zeros(max(len(more), len(known)), dtype=np.int64)
        total[: len(more)] += more
        total[: len(known)] += known
        self._counts[length] = total

    def _law(self, length: int) -> Any:
        if length not in self._laws:
            try:
                self._laws[length] = self._mechanism.report_law(length)
            except DomainError:  # of a length that is never reported
                self._laws[length] = None
        return self._laws[length]

    def counted(self) -> Counted:
        law, cells = self._mechanism.identity, dict[Cell, int]()
        for length, counts in sorted(self._counts.items()):
            for value in np.flatnonzero(counts).tolist():
                cells[law, length, value] = int(counts[value])
        refused = {reason: count for reason, count in self._refused.items() if count}
        if refused:
            cells[law, REFUSED, 0] = sum(refused.values())
        return Counted(Counts(cells), refused)
