"""Count files of reports batch by batch, so that memory per report is 8 bytes.

Only the first report of each id counts. A first pass hashes all ids to 64 bits. A second pass
compares ids exactly, but only those whose hash occurs twice. So a hash collision costs time and
never drops a report, and the hash need not be a cryptographic one.
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
from nomadp.reports.batches import ReportColumns, columns_of
from nomadp.reports.counts import IMPOSSIBLE, REFUSED, Cell, Counts, check_countable
from nomadp.reports.point_rows import reports_by_point
from nomadp.reports.raw_reports import SAME_ID, RawReports, domain_of, nested_column
from nomadp.reports.report_files import header_of, parts_of

__all__ = ["FileCounts", "count_files"]

ROWS = 1 << 17
"""Reports in memory at a time."""
# A multiplicative hash: 2^64 divided by the golden ratio (Knuth, The Art of Computer
# Programming, volume 3, section 6.4), and a shift that mixes high bits into low ones.
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)

Progress = Callable[[int], None]
Hashes = NDArray[np.uint64]


class FileCounts(NamedTuple):
    """The counts of files, and the number of reports that were left out, by reason."""

    counts: Counts
    refused: Mapping[str, int]


def count_files(
    mechanism: Mechanism, paths: Sequence[AnyPath], progress: Progress | None = None
) -> FileCounts:
    """Count all reports of files and folders of any layout together.

    Each must be of ``mechanism``; a file without a header is assumed to be. ``progress`` is
    called with the number of reports counted since its last call.
    """
    check_countable(mechanism)
    sources = [part for path in paths for part in _sources(mechanism, Path(path))]
    collisions = _colliding_hashes(sources)
    tally, seen = _Tally(mechanism), set[str]()
    for source in sources:
        for columns in source.pieces():
            tally.add(columns, _repeated_ids(columns.tid, collisions, seen))
            if progress is not None:
                progress(len(columns.tid))
    result = tally.result()
    if not result.counts.cells.keys() - {(mechanism.identity, REFUSED, 0)}:
        left_out = sum(result.refused.values())
        problem = (
            f"all {left_out} were left out; use the location file and the options that belong "
            "to them"
            if left_out
            else "there are none"
        )
        raise DomainError(
            f"there must be reports of {mechanism.name} at epsilon {mechanism.epsilon} over "
            f"its {len(mechanism.locations)} locations, and {problem}",
            code="no_reports",
            left_out=left_out,
        )
    return result


class _Source(NamedTuple):
    """One file of reports."""

    path: Path
    mechanism: Mechanism
    raw: RawReports | None
    """The reports of a file with one row per point, which is read as a whole; else None."""

    def ids(self) -> Iterator[Any]:
        if self.raw is not None:
            yield pa.array(self.raw.sequences.names, pa.string())
            return
        for batch in self._batches(["tid"]):
            yield as_text("tid", batch["tid"])

    def pieces(self) -> Iterator[ReportColumns]:
        if self.raw is not None:
            yield ReportColumns.of(self.raw)
            return
        domain = domain_of(self.mechanism)
        for batch in self._batches(["tid", nested_column(domain), "number"]):
            yield columns_of(batch, domain)

    def _batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        try:
            # Without reading ahead, memory holds one batch at a time.
            with pq.ParquetFile(self.path, pre_buffer=False) as file:
                names = [name for name in file.schema_arrow.names if name in columns]
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
    sources, domain = [], domain_of(mechanism)
    for part in parts_of(path):
        streamed = is_parquet(part) and nested_column(domain) in _column_names(part)
        raw = None if streamed else reports_by_point(part, domain)
        sources.append(_Source(part, mechanism, raw))
    return sources


def _column_names(path: Path) -> Sequence[str]:
    try:
        names: Sequence[str] = pq.read_schema(path).names
        return names
    except (pa.ArrowException, OSError):
        pass
    raise damaged(path)


def _colliding_hashes(sources: Sequence[_Source]) -> Hashes:
    """The sorted hashes that more than one report has."""
    pieces = [_hashes_of(ids) for source in sources for ids in source.ids()]
    hashes = np.concatenate([np.zeros(0, dtype=np.uint64), *pieces])
    del pieces  # as large as all hashes
    hashes.sort()
    return np.unique(hashes[1:][hashes[1:] == hashes[:-1]])


def _repeated_ids(tid: Any, collisions: Hashes, seen: set[str]) -> NDArray[np.bool_]:
    """Which of these reports have an id in ``seen``; adds the others to it."""
    repeated = np.zeros(len(tid), dtype=bool)
    if not len(collisions):
        return repeated
    rows = np.flatnonzero(np.isin(_hashes_of(tid), collisions))
    for row, name in zip(rows.tolist(), tid.take(pa.array(rows)).to_pylist(), strict=True):
        repeated[row] = name in seen
        seen.add(name)
    return repeated


def _hashes_of(ids: Any) -> Hashes:
    """A 64-bit hash of each id, over its bytes in steps of 8."""
    ids = pc.fill_null(ids, "").cast(pa.large_string())
    size = np.asarray(pc.binary_length(ids))
    # Read Arrow's buffers (64-bit offsets and UTF-8) in place, without Python strings.
    start = np.frombuffer(ids.buffers()[1], np.int64)[ids.offset : ids.offset + len(ids)]
    data = np.frombuffer(ids.buffers()[2] or b"", np.uint8)
    hashes = size.astype(np.uint64) * _MULTIPLIER
    for length in np.unique(size).tolist():
        rows = np.flatnonzero(size == length)
        padded = np.zeros((len(rows), -(-length // 8) * 8), dtype=np.uint8)
        padded[:, :length] = data[start[rows][:, None] + np.arange(length)]
        for word in padded.view(np.uint64).T:
            mixed = (hashes[rows] ^ word) * _MULTIPLIER
            hashes[rows] = mixed ^ (mixed >> _SHIFT)
    return hashes


class _Tally:
    """Counts of each value by length, and of the reports that were left out."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self._laws: dict[int, Any] = {}
        self._counts: dict[int, Ints] = {}
        self._refused = Counter[str]()

    def add(self, columns: ReportColumns, repeated: NDArray[np.bool_]) -> None:
        self._refused.update(columns.refused)
        self._refused[SAME_ID] += int(np.count_nonzero(repeated))
        lengths = np.diff(columns.offsets)
        for length in np.unique(lengths).tolist():
            rows = np.flatnonzero((lengths == length) & ~repeated)
            if len(rows):
                self._add(length, rows, columns)

    def _add(self, length: int, rows: Ints, columns: ReportColumns) -> None:
        law = self._law(length)
        if law is None:
            self._refused[IMPOSSIBLE] += len(rows)
            return
        places = columns.locations[columns.offsets[rows][:, None] + np.arange(length)]
        numbers = None if columns.numbers is None else columns.numbers[rows]
        values = law.values(places, numbers)
        impossible = (values < 0).reshape(len(rows), -1).any(axis=1)
        self._refused[IMPOSSIBLE] += int(np.count_nonzero(impossible))
        new = np.bincount(values[~impossible].reshape(-1))
        old = self._counts.get(length, np.zeros(0, dtype=np.int64))
        total = np.zeros(max(len(new), len(old)), dtype=np.int64)
        total[: len(new)] += new
        total[: len(old)] += old
        self._counts[length] = total

    def _law(self, length: int) -> Any:
        if length not in self._laws:
            try:
                self._laws[length] = self._mechanism.report_law(length)
            except DomainError:  # the mechanism never reports this length
                self._laws[length] = None
        return self._laws[length]

    def result(self) -> FileCounts:
        law, cells = self._mechanism.identity, dict[Cell, int]()
        for length, counts in sorted(self._counts.items()):
            for value in np.flatnonzero(counts).tolist():
                cells[law, length, value] = int(counts[value])
        refused = {reason: count for reason, count in self._refused.items() if count}
        if refused:
            cells[law, REFUSED, 0] = sum(refused.values())
        return FileCounts(Counts(cells), refused)
