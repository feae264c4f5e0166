"""Trajectories as Arrow batches, one row per trajectory: `tid` and the list `location_ids`.

Errors count bad values and never quote them. This module imports Arrow, which is slow: import
it only where needed.
"""

from datetime import UTC
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nomadp.errors import DomainError, SchemaError
from nomadp.formats.columns import BadValue, ReadOptions
from nomadp.formats.parquet_files import UTC_NAMES, moments_of
from nomadp.formats.points import hours_of
from nomadp.locations import LocationSet
from nomadp.sequences import Indices
from nomadp.trajectory import TrajectorySet

__all__ = [
    "TRAJECTORY_SCHEMA",
    "BEGIN",
    "as_text",
    "list_parts",
    "id_column",
    "texts",
    "trajectories_of",
]

TRAJECTORY_SCHEMA = pa.schema([("tid", pa.string()), ("location_ids", pa.list_(pa.string()))])
"""The input schema. Whole numbers and other string and list types are also accepted."""
BEGIN = "datetime"
"""An optional column: when a trajectory begins."""


def trajectories_of(
    batch: pa.RecordBatch, locations: LocationSet, *, hours: bool = False
) -> TrajectorySet:
    """The trajectories of a batch, in its order.

    With ``hours``, the column `datetime` gives the local time at which each begins.
    """
    tids = texts("tid", _column(batch, "tid"))
    n_empty = pc.sum(pc.equal(pc.binary_length(tids), 0)).as_py()
    if n_empty:
        raise SchemaError(
            f"tid must not be empty, got {n_empty} empty of {len(tids)}",
            code="value_empty",
            column="tid",
            empty=n_empty,
        )
    offsets, items = list_parts(_column(batch, "location_ids"))
    ids = texts("location_ids", items)
    index = pc.index_in(ids, value_set=id_column(locations).cast(ids.type))
    if index.null_count:
        raise DomainError(
            f"every location id must be in the location set of {len(locations)}, got "
            f"{index.null_count} unknown of {len(index)}, which are private and not shown; use "
            "the location file that belongs to them",
            code="unknown_locations",
            unknown=index.null_count,
            points=len(index),
            size=len(locations),
        )
    hours_of_week = _hours(batch) if hours else None
    return TrajectorySet(offsets, index.to_numpy(), tuple(tids.to_pylist()), hours_of_week)


def _hours(batch: pa.RecordBatch) -> Indices | None:
    """The hour of the week in which each trajectory begins; None without local times."""
    if BEGIN not in batch.schema.names or batch.column(BEGIN).null_count == batch.num_rows:
        return None
    if _is_in_utc(batch.column(BEGIN)):
        raise SchemaError(
            f"{BEGIN} must be the local time at which a trajectory begins, with or without an "
            "offset or time zone, but it is in UTC (Z); write +00:00 if the local time is UTC",
            code="times_in_utc",
        )
    try:
        # Times without a zone are local times, so any zone will do.
        times = moments_of(
            pa.chunked_array([_column(batch, BEGIN)]), ReadOptions(UTC, hours=True)
        )
    except BadValue as bad:
        rule, facts = bad.rule, bad.facts
    else:
        return hours_of(times.local_us) if times and times.local_us is not None else None
    # Raised outside the handler: the original error may quote the batch.
    raise SchemaError(f"{BEGIN} {rule}", column=BEGIN, **facts)


def _is_in_utc(column: Any) -> bool:
    """Whether the times are in UTC, so that local times are unknown."""
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return bool(pc.any(pc.match_substring_regex(column, r"[Zz]\s*$")).as_py())
    return bool(pa.types.is_timestamp(kind) and kind.tz in UTC_NAMES)


def _column(batch: pa.RecordBatch, name: str) -> Any:
    count = batch.schema.names.count(name)
    if count != 1:
        code = "column_repeated" if count else "columns_missing"
        raise SchemaError(
            f"trajectories must have one column {name}, got {count}", code=code, column=name
        )
    column = batch.column(name)
    if column.null_count:
        raise SchemaError(
            f"{name} must not be missing, got {column.null_count} of {len(column)} missing",
            code="value_missing",
            column=name,
            missing=column.null_count,
        )
    return column


def list_parts(lists: Any) -> tuple[Any, Any]:
    """The offsets of the lists, and the items of all lists."""
    kind = lists.type
    if pa.types.is_fixed_size_list(kind):
        lists = lists.cast(pa.large_list(kind.value_type))
    elif not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        raise SchemaError(
            f"location_ids must be a column of lists of ids, got {kind}",
            code="wrong_column_type",
            column="location_ids",
            expected="lists of ids",
        )
    # A slice keeps the offsets of the whole array, which may start above zero; `flatten` does
    # not include the items before.
    offsets = lists.offsets.to_numpy().astype(np.int64)
    return offsets - offsets[0], lists.flatten()


def texts(name: str, column: Any) -> Any:
    """A column of text or whole numbers, as text. Raises `SchemaError` for missing values."""
    text = as_text(name, column)
    if text.null_count:
        raise SchemaError(
            f"{name} must not contain missing values, got {text.null_count} of {len(text)}",
            code="value_missing",
            column=name,
            missing=text.null_count,
        )
    return text


def as_text(name: str, column: Any) -> Any:
    """A column of text or whole numbers, as text, with missing values."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column
    if not pa.types.is_integer(kind):
        raise SchemaError(
            f"{name} must be a column of text, got {kind}",
            code="wrong_column_type",
            column=name,
            expected="text",
        )
    return column.cast(pa.string())


@lru_cache(maxsize=4)
def id_column(locations: LocationSet) -> Any:
    """The ids as an Arrow column, cached so that it is not built for every batch."""
    return pa.array(locations.ids, pa.string())
