"""Reports as Arrow batches with one row per report: `tid`, `location_ids` and optional columns.

Anybody may have sent a report, so unreadable ones are left out and counted. Importing Arrow is
slow; therefore other modules import this one inside functions.
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
from nomadp.reports.raw_reports import (
    NO_NUMBER,
    NOTHING,
    UNKNOWN_PLACE,
    VALUES,
    Domain,
    RawReports,
    drop_unreadable,
    nested_column,
    parse_transcript,
)
from nomadp.sequences import Sequences

__all__ = ["ReportColumns", "batch_of", "columns_of", "is_numbered", "raw_reports_of"]

VALUE_SCHEMA = pa.schema([("tid", pa.string()), (VALUES, pa.list_(pa.int64()))])
NUMBER = pa.field("number", pa.int64())
TRANSCRIPT = pa.field("transcript", pa.string())


def is_numbered(mechanism: Mechanism) -> bool:
    """Whether a report is a single number (ATLAS), which has a column of its own."""
    law = mechanism.report_law(1)
    return law is not None and law.whole


def batch_of(
    sequences: Sequences,
    locations: LocationSet | None,
    numbers: Ints | None = None,
    transcripts: Sequence[tuple[int, ...]] | None = None,
) -> pa.RecordBatch:
    """One row per report, in order. ``locations`` is None for the values of an oracle."""
    if locations is None:
        kind, values = VALUE_SCHEMA, pa.array(sequences.locations, pa.int64())
    else:
        sequences.check_size(len(locations))
        ids = id_column(locations)
        kind, values = TRAJECTORY_SCHEMA, ids.take(pa.array(sequences.locations))
    offsets = pa.array(sequences.offsets, pa.int32())  # more than 2^31 points are refused
    lists = pa.ListArray.from_arrays(offsets, values)
    columns = [pa.array(sequences.names, pa.string()), lists]
    batch = pa.RecordBatch.from_arrays(columns, schema=kind)
    if numbers is not None:
        batch = batch.append_column(NUMBER, pa.array(numbers, pa.int64()))
    if transcripts is not None:
        texts = [json.dumps(transcript) for transcript in transcripts]
        batch = batch.append_column(TRANSCRIPT, pa.array(texts, pa.string()))
    return batch


class ReportColumns(NamedTuple):
    """Readable reports as columns, without transcripts: all that counting needs."""

    tid: Any
    offsets: Ints
    locations: Ints
    numbers: Ints | None
    refused: Mapping[str, int]

    @classmethod
    def of(cls, raw: RawReports) -> "ReportColumns":
        rows = raw.sequences
        tid = pa.array(rows.names, pa.string())
        return cls(tid, rows.offsets, rows.locations, raw.numbers, raw.refused)


def columns_of(batch: pa.RecordBatch, domain: Domain) -> ReportColumns:
    """The readable reports of a batch in order, without their transcripts."""
    batch, empty = _nonempty_rows(batch, domain)
    offsets, items = list_parts(batch[nested_column(domain)])
    indices = _domain_indices(items, domain)
    numbers, unreadable = _number_column(batch)
    tid, refused = as_text("tid", batch["tid"]), {NOTHING: empty} if empty else {}
    if len(tid):
        unreadable[UNKNOWN_PLACE] = np.minimum.reduceat(indices, offsets[:-1]) < 0
    dropped = np.zeros(len(tid), dtype=bool)
    for reason, mask in unreadable.items():
        if count := int(np.count_nonzero(mask & ~dropped)):
            refused[reason] = count
        dropped |= mask
    if dropped.any():
        # The ids stay in Arrow, so that counting creates no Python string per report.
        sequences = Sequences(offsets, indices, ("",) * len(tid))
        raw = drop_unreadable(sequences, numbers, None, unreadable)
        offsets, indices = raw.sequences.offsets, raw.sequences.locations
        numbers, tid = raw.numbers, tid.filter(pa.array(~dropped))
    return ReportColumns(tid, offsets, indices, numbers, refused)


def raw_reports_of(batch: pa.RecordBatch, domain: Domain) -> RawReports:
    """The readable reports of a batch in order."""
    batch, empty = _nonempty_rows(batch, domain)
    offsets, items = list_parts(batch[nested_column(domain)])
    indices = _domain_indices(items, domain)
    names = tuple(as_text("tid", batch["tid"]).to_pylist())
    numbers, unreadable = _number_column(batch)
    transcripts = None
    if "transcript" in batch.schema.names:
        transcripts = [parse_transcript(text) for text in batch["transcript"].to_pylist()]
    sequences = Sequences(offsets, indices, names)
    raw = drop_unreadable(sequences, numbers, transcripts, unreadable)
    refused = {**raw.refused, NOTHING: empty} if empty else raw.refused
    return raw._replace(refused=refused)


def _nonempty_rows(batch: pa.RecordBatch, domain: Domain) -> tuple[pa.RecordBatch, int]:
    """The rows that have an id and at least one entry, and the number of the others."""
    column = nested_column(domain)
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
    nonempty = pc.and_(pc.is_valid(batch["tid"]), pc.greater(pc.list_value_length(lists), 0))
    nonempty = pc.fill_null(nonempty, fill_value=False)
    empty = batch.num_rows - int(pc.sum(nonempty).as_py() or 0)
    return (batch.filter(nonempty) if empty else batch), empty


def _domain_indices(items: Any, domain: Domain) -> Ints:
    """The location index or value of each entry; -1 if it is outside the domain."""
    if isinstance(domain, int):
        if not pa.types.is_integer(items.type):
            raise SchemaError(
                f"{VALUES} must be lists of whole numbers, got {items.type}",
                code="wrong_column_type",
                column=VALUES,
                expected="lists of whole numbers",
            )
        inside = pc.and_(pc.greater_equal(items, 0), pc.less(items, domain))
        values = pc.fill_null(pc.if_else(inside, items, None).cast(pa.int64()), -1)
        return np.asarray(values.to_numpy(zero_copy_only=False))
    items = as_text("location_ids", items)
    known = id_column(domain).cast(items.type)
    indices = pc.index_in(items, value_set=known, skip_nulls=True)
    return np.asarray(pc.fill_null(indices, -1).to_numpy(), dtype=np.int64)


def _number_column(batch: pa.RecordBatch) -> tuple[Ints | None, dict[str, Any]]:
    """The numbers, if there is a column of them, and the mask of missing ones."""
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
