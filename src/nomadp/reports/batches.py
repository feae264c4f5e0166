"""Reports as Arrow batches, one row to a report: `tid`, the list `location_ids`, and the rest.

A report that cannot be read is counted and left out: it came from anybody. This module imports
Arrow, which is slow, so only what needs it imports this module.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nomadp.errors import SchemaError
from nomadp.formats.trajectory_batches import TRAJECTORY_SCHEMA, as_text, id_column, list_parts
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.mechanisms import Mechanism
from nomadp.reports.rows import (
    NO_NUMBER,
    NOTHING,
    UNKNOWN_PLACE,
    VALUES,
    Public,
    Rows,
    nested_column,
    readable,
    transcript_of,
)
from nomadp.sequences import Sequences

__all__ = ["Columns", "batch_of", "columns_of", "is_numbered", "rows_of"]

VALUE_SCHEMA = pa.schema([("tid", pa.string()), (VALUES, pa.list_(pa.int64()))])
NUMBER = pa.field("number", pa.int64())
TEXT = pa.field("transcript", pa.string())


def is_numbered(mechanism: Mechanism) -> bool:
    """Whether each of its reports is one number, which then has a column."""
    law = mechanism.report_law(1)
    return law is not None and law.whole


def batch_of(
    rows: Sequences,
    locations: LocationSet | None,
    numbers: Ints | None = None,
    transcripts: Sequence[tuple[int, ...]] | None = None,
) -> pa.RecordBatch:
    """One row to a report, in their order; without locations they are numbers."""
    if locations is None:
        kind, values = VALUE_SCHEMA, pa.array(rows.locations, pa.int64())
    else:
        rows.check_size(len(locations))
        kind, values = TRAJECTORY_SCHEMA, id_column(locations).take(pa.array(rows.locations))
    offsets = pa.array(rows.offsets, pa.int32())  # more than 2^31 points are refused
    lists = pa.ListArray.from_arrays(offsets, values)
    columns = [pa.array(rows.names, pa.string()), lists]
    batch = pa.RecordBatch.from_arrays(columns, schema=kind)
    if numbers is not None:
        batch = batch.append_column(NUMBER, pa.array(numbers, pa.int64()))
    if transcripts is not None:
        said = [json.dumps(each) for each in transcripts]
        batch = batch.append_column(TEXT, pa.array(said, pa.string()))
    return batch


class Columns(NamedTuple):
    """Readable reports as bare columns: what counting looks at."""

    tid: Any
    offsets: Ints
    locations: Ints
    numbers: Ints | None
    refused: Mapping[str, int]

    @classmethod
    def of(cls, found: Rows) -> "Columns":
        """Of reports that were read, at a loss of what they said besides."""
        rows = found.rows
        tid = pa.array(rows.names, pa.string())
        return cls(tid, rows.offsets, rows.locations, found.numbers, found.refused)


def columns_of(batch: pa.RecordBatch, public: Public) -> Columns:
    """The reports of a batch that can be read, in its order; transcripts are passed over."""
    batch, empty = _there(batch, public)
    offsets, items = list_parts(batch[nested_column(public)])
    found = _found(items, public)
    numbers, wrong = _numbers(batch)
    tid, refused = as_text("tid", batch["tid"]), {NOTHING: empty} if empty else {}
    if len(tid):
        wrong[UNKNOWN_PLACE] = np.minimum.reduceat(found, offsets[:-1]) < 0
    bad = np.zeros(len(tid), dtype=bool)
    for reason, mask in wrong.items():
        if count := int(np.count_nonzero(mask & ~bad)):
            refused[reason] = count
        bad |= mask
    if bad.any():
        rows = readable(Sequences(offsets, found, ("",) * len(tid)), numbers, None, wrong)
        offsets, found, numbers = rows.rows.offsets, rows.rows.locations, rows.numbers
        tid = tid.filter(pa.array(~bad))
    return Columns(tid, offsets, found, numbers, refused)


def rows_of(batch: pa.RecordBatch, public: Public) -> Rows:
    """The reports of a batch that can be read, in its order."""
    batch, empty = _there(batch, public)
    offsets, items = list_parts(batch[nested_column(public)])
    found = _found(items, public)
    names = tuple(as_text("tid", batch["tid"]).to_pylist())
    numbers, bad = _numbers(batch)
    said = None
    if "transcript" in batch.schema.names:
        said = [transcript_of(text) for text in batch["transcript"].to_pylist()]
    rows = readable(Sequences(offsets, found, names), numbers, said, bad)
    refused = {**rows.refused, NOTHING: empty} if empty else rows.refused
    return rows._replace(refused=refused)


def _there(batch: pa.RecordBatch, public: Public) -> tuple[pa.RecordBatch, int]:
    """The rows that have an id and report something, and how many have not."""
    column = nested_column(public)
    for name in ("tid", column):
        if batch.schema.names.count(name) != 1:
            raise SchemaError(
                f"reports must have one column {name}", code="column_not_once", column=name
            )
    lists = batch[column]
    kinds = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    if not any(is_kind(lists.type) for is_kind in kinds):
        raise SchemaError(
            f"{column} must be a column of lists, got {lists.type}",
            code="wrong_column_type",
            column=column,
            expected="lists",
        )
    there = pc.and_(pc.is_valid(batch["tid"]), pc.greater(pc.list_value_length(lists), 0))
    there = pc.fill_null(there, fill_value=False)
    empty = batch.num_rows - int(pc.sum(there).as_py() or 0)
    return (batch.filter(there) if empty else batch), empty


def _found(items: Any, public: Public) -> Ints:
    """Each as an index or a value; -1 where it is none."""
    if isinstance(public, int):
        if not pa.types.is_integer(items.type):
            raise SchemaError(
                f"{VALUES} must be lists of whole numbers, got {items.type}",
                code="wrong_column_type",
                column=VALUES,
                expected="lists of whole numbers",
            )
        inside = pc.and_(pc.greater_equal(items, 0), pc.less(items, public))
        values = pc.fill_null(pc.if_else(inside, items, None).cast(pa.int64()), -1)
        return np.asarray(values.to_numpy(zero_copy_only=False))
    items = as_text("location_ids", items)
    known = id_column(public).cast(items.type)
    found = pc.index_in(items, value_set=known, skip_nulls=True)
    return np.asarray(pc.fill_null(found, -1).to_numpy(), dtype=np.int64)


def _numbers(batch: pa.RecordBatch) -> tuple[Ints | None, dict[str, Any]]:
    if "number" not in batch.schema.names:
        return None, {}
    column = batch["number"]
    if not pa.types.is_integer(column.type) or column.type == pa.uint64():
        raise SchemaError(
            f"number must be a column of whole numbers, got {column.type}",
            code="wrong_column_type",
            column="number",
            expected="whole numbers",
        )
    missing = pc.is_null(column).to_numpy(zero_copy_only=False)
    filled = pc.fill_null(column.cast(pa.int64()), -1)
    return filled.to_numpy(zero_copy_only=False), {NO_NUMBER: missing}
