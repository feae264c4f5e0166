"""Parquet files with one row per trajectory: reading in pieces or as a whole, and writing.

They are made from files with one row per point, in bounded memory. So the rows of a trajectory
must be consecutive and ordered by seq; sorting is left to a database. A tid that occurs again
later is an error, and detecting it takes 8 bytes of memory per tid. A uid stays with its
trajectory, because privacy budgets are counted per person.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nomadp.errors import NomadpError, SchemaError
from nomadp.formats.atomic import write_atomically
from nomadp.formats.files import check_readable, file_path, is_parquet, require_columns
from nomadp.formats.measured_file import AnyPath, file_sha256
from nomadp.formats.parquet_files import damaged
from nomadp.formats.presets import BY_ID
from nomadp.formats.trajectory_batches import BEGIN, TRAJECTORY_SCHEMA, texts, trajectories_of
from nomadp.formats.unreadable import BadRows
from nomadp.locations import LocationSet
from nomadp.trajectory import TrajectorySet

__all__ = [
    "NestedFile",
    "is_nested",
    "nest_file",
    "read_nested",
    "repeated_tids",
    "trajectories_in",
]

COLUMNS = TRAJECTORY_SCHEMA.names
ROWS_MAX = 16_384
POINTS_MAX = 1_000_000
"""Most points in memory at a time. Pieces of long trajectories have fewer rows."""
SUSPECTS_MAX = 100_000
"""Most repeated hashes whose tids are compared in full in one pass over the file."""
POINTS_AT_A_TIME = 1_000_000


def is_nested(path: Path) -> bool:
    """Whether a Parquet file has one row per trajectory; False if it cannot be read."""
    try:
        names = pq.read_schema(path).names
    except (pa.ArrowException, OSError):
        return False
    return set(COLUMNS) <= set(names)


class NestedFile:
    """A file of trajectories that is read in pieces, never as a whole."""

    def __init__(self, path: Path, *, hours: bool = False) -> None:
        self.path = path
        self.hours = hours  # whether to read when trajectories begin
        self._state = self._file_state()
        self._footer = _open(self.path).metadata
        self.rows: int = self._footer.num_rows
        if not self.rows:
            raise BadRows(
                f"{path} must have at least one row, but it has only a header", code="no_rows"
            )

    def __repr__(self) -> str:
        return f"NestedFile({self.rows} trajectories, contents withheld)"

    @cached_property
    def piece_rows(self) -> int:
        """The number of rows to read at a time."""
        values = sum(self._points_in(k) for k in range(self._footer.num_row_groups))
        return max(1, min(ROWS_MAX, POINTS_MAX * self.rows // max(values, 1)))

    def sha256(self) -> str:
        """The hash of the whole file, which identifies a job."""
        return file_sha256(self.path)

    def check_unchanged(self) -> None:
        """Raise `SchemaError` if the file was modified after it was opened."""
        if self._file_state() != self._state:
            raise SchemaError(
                f"{self.path} must not change while it is read, but it did; start again",
                code="file_changed",
            )

    def batches(self, first: int = 0) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The pieces from row ``first`` on, each with the number of its first row."""
        self.check_unchanged()
        groups, row = self._groups_from(first)
        file = _open(self.path)
        reads_times = self.hours and BEGIN in file.schema_arrow.names
        columns = [*COLUMNS, BEGIN] if reads_times else COLUMNS
        batches = file.iter_batches(self.piece_rows, row_groups=groups, columns=columns)
        while (batch := self._next_batch(batches)) is not None:
            skipped = min(max(first - row, 0), batch.num_rows)
            if skipped < batch.num_rows:
                yield row + skipped, batch.slice(skipped)
            row += batch.num_rows

    def trajectories(self, row: int, batch: pa.RecordBatch, locations: LocationSet) -> Any:
        """The trajectories of a piece. An error names the range of rows."""
        try:
            return trajectories_of(batch, locations, hours=self.hours)
        except NomadpError as error:
            first, last = row + 1, row + batch.num_rows
            refusal = type(error)(
                f"{self.path}, rows {first} to {last}: {error}",
                **{**vars(error), "rows": (first, last)},
            )
        raise refusal

    def texts(self, name: str) -> Iterator[str]:
        """A column of text, read 16,384 rows at a time."""
        batches = _open(self.path).iter_batches(ROWS_MAX, columns=[name])
        while (batch := self._next_batch(batches)) is not None:
            yield from texts(name, batch.column(0)).to_pylist()

    def uids(self) -> Iterator[str] | None:
        """The user id of each trajectory; None if the file has none."""
        return self.texts("uid") if "uid" in self._footer.schema.names else None

    def _file_state(self) -> tuple[int, int, int]:
        check_readable(self.path)
        status = self.path.stat()
        return status.st_ino, status.st_size, status.st_mtime_ns

    def _groups_from(self, first: int) -> tuple[list[int], int]:
        """The row groups from the one that contains ``first``, and the first row of it."""
        group, row = 0, 0
        while row + (size := self._footer.row_group(group).num_rows) <= first < self.rows:
            group, row = group + 1, row + size
        return list(range(group, self._footer.num_row_groups)), row

    def _points_in(self, group: int) -> int:
        """The number of points in a row group: the values of its longest column, the lists."""
        group_metadata = self._footer.row_group(group)
        columns = range(group_metadata.num_columns)
        return max(int(group_metadata.column(k).num_values) for k in columns)

    def _next_batch(self, batches: Any) -> Any:
        try:
            return next(batches, None)
        except (pa.ArrowException, OSError):
            refusal = damaged(self.path)
        # Raised outside the handler: the original error may quote the file.
        raise refusal


def _open(path: Path) -> Any:
    """Open a Parquet file for reading in pieces."""
    try:
        # Buffered, because a file may be a single row group that does not fit into memory.
        return pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False)
    except (pa.ArrowException, OSError):
        refusal = damaged(path)
    raise refusal


def repeated_tids(source: NestedFile) -> int:
    """The number of tids that occurred before; exact, with 8 bytes of memory per tid."""
    # Equal tids have equal hashes, and in sorted order equal hashes are neighbours.
    hashes = np.fromiter(map(_hash, source.texts("tid")), np.int64, source.rows)
    hashes.sort()
    repeated_hashes = hashes[1:][hashes[1:] == hashes[:-1]]
    # Equal hashes may rarely be collisions, so tids with equal hashes are compared in full.
    for first in range(0, len(repeated_hashes), SUSPECTS_MAX):
        suspects, seen = set(repeated_hashes[first : first + SUSPECTS_MAX].tolist()), set()
        for tid in source.texts("tid"):
            if _hash(tid) in suspects:
                if tid in seen:
                    return len(repeated_hashes)
                seen.add(tid)
    return 0


_hash = hash  # Python's own: 64 bits, with a key that differs between processes


def read_nested(path: Path, locations: LocationSet, *, hours: bool = False) -> TrajectorySet:
    """Read all trajectories of a file at once."""
    file = NestedFile(path, hours=hours)
    pieces = [file.trajectories(row, batch, locations) for row, batch in file.batches()]
    tids = tuple(tid for piece in pieces for tid in piece.tids)
    repeated = len(tids) - len(set(tids))
    if repeated:
        raise SchemaError(
            f"{path}: tid must be unique, got {repeated} duplicates among {len(tids)}",
            code="tid_repeated",
            repeated=repeated,
        )
    lengths = np.concatenate([piece.lengths for piece in pieces])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    hours_by_piece = [piece.hours for piece in pieces if piece.hours is not None]
    return TrajectorySet(
        offsets,
        np.concatenate([piece.locations for piece in pieces]),
        tids,
        np.concatenate(hours_by_piece) if len(hours_by_piece) == len(pieces) else None,
    )


def trajectories_in(
    name: str, table: pa.Table, locations: LocationSet, *, hours: bool = False
) -> tuple[TrajectorySet, tuple[str, ...] | None]:
    """The trajectories of an Arrow table and their user ids, if it has any.

    Errors call the table ``name``.
    """
    if not table.num_rows:
        raise BadRows(
            f"{name} must have at least one row, but it has only a header", code="no_rows"
        )
    (batch,) = table.combine_chunks().to_batches()
    try:
        trajectories = trajectories_of(batch, locations, hours=hours)
        uids = texts("uid", batch["uid"]).to_pylist() if "uid" in batch.schema.names else None
    except NomadpError as error:
        refusal = type(error)(f"{name}: {error}", **vars(error))
    else:
        repeated = len(trajectories.tids) - len(set(trajectories.tids))
        if not repeated:
            return trajectories, None if uids is None else tuple(uids)
        refusal = SchemaError(
            f"{name}: tid must be unique, got {repeated} duplicates",
            code="tid_repeated",
            repeated=repeated,
        )
    raise refusal


def nest_file(source: AnyPath, target: AnyPath) -> int:
    """Write `tid,location_ids` from `tid,seq,location_id`. Returns the number of trajectories.

    Each row keeps the uid, and the datetime of the first point, if there are any.
    """
    points_file, nested_file = file_path(source), file_path(target)
    if not (is_parquet(points_file) and is_parquet(nested_file)):
        raise SchemaError(
            f"{points_file} and {nested_file} must both be Parquet files", code="not_parquet"
        )

    def write(part: Path) -> None:
        batches = _nested(points_file)
        first = next(batches)
        with pq.ParquetWriter(part, first.schema) as writer:
            for batch in chain([first], batches):
                writer.write_batch(batch)
        scattered = repeated_tids(NestedFile(part))
        if scattered:
            raise SchemaError(
                f"{points_file}: the rows of a tid must be consecutive and have one uid, got "
                f"{scattered} tids that occur again later; sort the file by tid and seq",
                code="tid_scattered",
                scattered=scattered,
            )

    write_atomically({nested_file: write}, private=[nested_file])
    return NestedFile(nested_file).rows


def _nested(path: Path) -> Iterator[pa.RecordBatch]:
    """Batches of complete trajectories. The last one of a piece waits for the next piece."""
    row, incomplete = 0, None
    for piece in _point_tables(path):
        points = piece if incomplete is None else pa.concat_tables([incomplete, piece])
        points = points.combine_chunks()
        starts = _trajectory_starts(path, points, row)
        if len(starts) > 1:
            yield _nested_batch(points, starts)
        incomplete = points.slice(starts[-1])
        row += int(starts[-1])
    if incomplete is None:
        raise BadRows(
            f"{path} must have at least one row, but it has only a header", code="no_rows"
        )
    yield _nested_batch(incomplete, np.array([0, incomplete.num_rows]))


def _point_tables(path: Path) -> Iterator[Any]:
    file = _open(path)
    names = file.schema_arrow.names
    columns = list(require_columns(path, names, BY_ID))
    columns += [name for name in ("uid", BEGIN) if name in names]
    for batch in file.iter_batches(POINTS_AT_A_TIME, columns=columns):
        table = pa.Table.from_batches([batch])
        # A datetime may be missing: it is checked when somebody needs it.
        missing = sum(table[name].null_count for name in columns if name != BEGIN)
        if missing:
            raise SchemaError(
                f"{path}: values must not be missing, got {missing} missing",
                code="value_missing",
                missing=missing,
            )
        if not pa.types.is_integer(table["seq"].type):
            raise SchemaError(
                f"{path}: seq must be whole numbers, got {table['seq'].type}",
                code="wrong_column_type",
                column="seq",
                expected="whole numbers",
            )
        yield table


def _trajectory_starts(path: Path, points: Any, first: int) -> Any:
    """The row at which each trajectory begins. Raises an error if seq does not increase."""
    changes = np.zeros(max(points.num_rows - 1, 0), dtype=bool)
    for name in {"tid", "uid"} & set(points.column_names):
        changes |= pc.not_equal(points[name][1:], points[name][:-1]).to_numpy()
    not_increasing = np.flatnonzero((np.diff(points["seq"].to_numpy()) <= 0) & ~changes)
    if len(not_increasing):
        row = first + int(not_increasing[0]) + 2
        raise SchemaError(
            f"{path}: row {row} must have a larger seq than the row before, which belongs to "
            "the same trajectory; sort the file by tid and seq",
            code="seq_not_increasing",
            row=row,
        )
    return np.concatenate([[0], np.flatnonzero(changes) + 1])


def _nested_batch(points: Any, starts: Any) -> pa.RecordBatch:
    """One list from each start to the next. Points after the last start are ignored."""
    owner_columns = [name for name in ("tid", "uid") if name in points.column_names]
    first = points.take(pa.array(starts[:-1])).combine_chunks()
    texts = [first[name].combine_chunks().cast(pa.string()) for name in owner_columns]
    ids = points["location_id"].slice(0, int(starts[-1])).combine_chunks()
    lists = pa.ListArray.from_arrays(pa.array(starts, pa.int32()), ids.cast(pa.string()))
    batch = pa.RecordBatch.from_arrays([*texts, lists], [*owner_columns, "location_ids"])
    if BEGIN not in first.column_names:
        return batch
    return batch.append_column(BEGIN, first[BEGIN].combine_chunks())
