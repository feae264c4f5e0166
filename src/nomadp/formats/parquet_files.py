"""Reading and writing Parquet, with points in well-known binary (WKB).

This module imports Arrow, which is slow and may not be installed: import it only where needed.
"""

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nomadp.errors import SchemaError
from nomadp.formats.bounded import is_bomb
from nomadp.formats.columns import (
    PUBLIC_CLOCK_US,
    UNREADABLE,
    BadValue,
    Choose,
    Kind,
    Moments,
    ReadOptions,
    Table,
    Text,
    Times,
    decimals,
    forward_filled,
    local_times,
    whole_numbers,
)
from nomadp.formats.unreadable import BadRows, Unreadable
from nomadp.geometry import Floats

__all__ = [
    "UTC_NAMES",
    "damaged",
    "from_wkb",
    "moments_of",
    "read_metadata",
    "read_parquet",
    "table_of",
    "to_wkb",
    "whole_table",
    "write_parquet",
]

METADATA_KEY = b"nomadp"
UTC_NAMES = ("UTC", "Z", "Etc/UTC")
"""Time zones of timestamps that give the moment but not the local time."""
VALUE_BYTES = 8
POINT = np.dtype([("order", "u1"), ("kind", "<u4"), ("lng", "<f8"), ("lat", "<f8")])
LITTLE_ENDIAN, POINT_KIND = 1, 1
POINT_KINDS = {1, 1001, 2001, 3001}
"""ISO type numbers of a point: plain, with height, with measure, with both."""
EWKB_Z, EWKB_M, EWKB_SRID = 0x80000000, 0x40000000, 0x20000000


def read_parquet(path: Path, choose: Choose, options: ReadOptions) -> Table:
    """Read the chosen columns of a Parquet file."""
    try:
        with pq.ParquetFile(path) as file:
            kinds = choose(file.schema_arrow.names)
            table = whole_table(path, file, list(kinds))
    except (pa.ArrowException, OSError):
        table = None
    # Raised outside the handler: the original error may quote the file.
    if table is None:
        raise damaged(path)
    return table_of(str(path), table, lambda header: kinds, options)


def whole_table(path: Path, file: pq.ParquetFile, columns: Sequence[str]) -> pa.Table:
    """All rows of these columns. Raises `Unreadable` if they would need far too much memory.

    Runs of equal values take almost no bytes in a file, but 8 bytes each in memory. So the
    check uses the number of values as well as the uncompressed size that the footer states.
    """
    footer, names, values, unpacked_bytes = file.metadata, set(columns), 0, 0
    for k in range(footer.num_row_groups):
        group = footer.row_group(k)
        for j in range(group.num_columns):
            column = group.column(j)
            if column.path_in_schema.split(".")[0] in names:
                values += column.num_values
                unpacked_bytes += column.total_uncompressed_size
    if is_bomb(max(unpacked_bytes, VALUE_BYTES * values), path.stat().st_size):
        raise Unreadable(path, code="bomb")
    return file.read(columns=list(columns))


def table_of(name: str, table: pa.Table, choose: Choose, options: ReadOptions) -> Table:
    """The chosen columns of an Arrow table, which errors call ``name``."""
    kinds = choose(table.column_names)
    column = {key: _column(name, table, key, kind, options) for key, kind in kinds.items()}
    return Table(name, table.num_rows, column, lambda row: f"row {row + 1}")


def damaged(path: Path) -> SchemaError:
    return SchemaError(
        f"{path} must be a Parquet file, but it is damaged or not one; write it again",
        code="not_parquet",
    )


def read_metadata(path: Path, key: bytes = METADATA_KEY) -> bytes | None:
    """The metadata of a file under a key, from `write_parquet` or from another program."""
    try:
        metadata: Mapping[bytes, bytes] = pq.read_schema(path).metadata or {}
        return metadata.get(key)
    except (pa.ArrowException, OSError):
        pass
    raise damaged(path)


def write_parquet(
    path: Path,
    column: Mapping[str, Any],
    metadata: bytes | None = None,
    key: bytes = METADATA_KEY,
) -> None:
    table = pa.table(dict(column))
    if metadata is not None:
        table = table.replace_schema_metadata({key: metadata})
    pq.write_table(table, path)


def _column(path: str, table: Any, name: str, kind: Kind, options: ReadOptions) -> Any:
    try:
        return _converted(table[name], kind, options)
    except BadValue as bad:
        row_label = "" if bad.row == WHOLE_COLUMN else f"row {bad.row + 1}: "
        error_type = SchemaError if bad.row == WHOLE_COLUMN else BadRows
        facts: Any = {**bad.facts, "column": name}
        if row_label:
            facts["row"] = bad.row + 1
        error = error_type(f"{path}: {row_label}{name} {bad.rule}", **facts)
    # Raised outside the handler: the original error may quote the file.
    raise error


def _converted(chunks: Any, kind: Kind, options: ReadOptions) -> Any:
    if options.lenient:
        return _lenient_column(chunks, kind, options)
    is_absent = kind is Kind.MAYBE_MOMENT and chunks.null_count == len(chunks)
    if chunks.null_count and not is_absent:
        first = int(np.flatnonzero(chunks.is_null().to_numpy())[0])
        raise BadValue(first, "must not be missing", code="value_missing")
    if kind is Kind.MOMENT:
        return moments_of(chunks, options)
    if kind is Kind.MAYBE_MOMENT:
        return _maybe_moments(chunks, options)
    convert: Any = {Kind.TEXT: _text, Kind.DECIMAL: _decimals, Kind.WHOLE: _wholes}
    return convert.get(kind, _points)(chunks)


def _lenient_column(chunks: Any, kind: Kind, options: ReadOptions) -> Any:
    """A column for a lenient reader, as `columns` has it: bad values are marked or filled."""
    chunks = _cast_to_kind(chunks, kind)
    if kind is Kind.DECIMAL:
        _check_type(chunks, _is_number, "numbers")
        return chunks.cast(pa.float64(), safe=False).to_numpy()
    if kind is Kind.WHOLE:
        _check_type(chunks, _is_whole, "whole numbers")
        return forward_filled(_filled(chunks.cast(pa.int64(), safe=False)))
    if kind is Kind.TEXT:
        return _text(chunks, lenient=True)
    if kind is Kind.POINT:
        return _points(chunks, lenient=True)
    if not pa.types.is_timestamp(chunks.type):
        return moments_of(chunks, options)
    times: Any = moments_of(chunks, replace(options, zone=options.zone or UTC, lenient=False))
    missing = chunks.is_null().to_numpy()
    moment_us = forward_filled(np.where(missing, UNREADABLE, times.values))
    local_us = times.local_us
    if local_us is not None:
        local_us = np.where(missing, PUBLIC_CLOCK_US, local_us)
    return replace(times, values=moment_us, local_us=local_us)


def _cast_to_kind(chunks: Any, kind: Kind) -> Any:
    """A column in the type of its kind: missing or odd values may have changed it.

    pandas, for example, writes whole numbers with a missing one as floats.
    """
    arrow_type = chunks.type
    if pa.types.is_null(arrow_type):
        empty = {Kind.DECIMAL: pa.float64(), Kind.WHOLE: pa.int64(), Kind.POINT: pa.binary()}
        return chunks.cast(empty.get(kind, pa.string()))
    if pa.types.is_floating(arrow_type) and kind not in (Kind.DECIMAL, Kind.POINT):
        values = chunks.to_numpy().astype(np.float64)
        # Up to 2**53, every whole number has a float of its own.
        is_whole = (np.abs(values) < 2**53) & (values == np.rint(values))
        whole = np.where(is_whole, values, 0).astype(np.int64)
        return pa.chunked_array([pa.array(whole, mask=~is_whole)])
    is_text = pa.types.is_string(arrow_type) or pa.types.is_large_string(arrow_type)
    if is_text and kind in (Kind.DECIMAL, Kind.WHOLE):
        texts = [value or "" for value in chunks.to_pylist()]
        parse: Any = decimals if kind is Kind.DECIMAL else whole_numbers
        return pa.chunked_array([pa.array(parse(texts, lenient=True))])
    return chunks


def _filled(chunks: Any) -> Any:
    return pc.fill_null(chunks, UNREADABLE).to_numpy()


WHOLE_COLUMN = -1
"""The row of a `BadValue` if the type of the whole column is wrong."""


def _text(chunks: Any, *, lenient: bool = False) -> Text:
    arrow_type = chunks.type
    if pa.types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    if not (
        pa.types.is_integer(arrow_type)
        or pa.types.is_string(arrow_type)
        or pa.types.is_large_string(arrow_type)
    ):
        raise BadValue(
            WHOLE_COLUMN,
            f"must be a column of text, got {arrow_type}",
            code="wrong_column_type",
            expected="text",
        )
    text_column = chunks.cast(arrow_type).cast(pa.large_string())
    if lenient:
        text_column = pc.fill_null(text_column, "")
    encoded = text_column.combine_chunks().dictionary_encode()
    values = tuple(encoded.dictionary.to_pylist())
    codes = encoded.indices.to_numpy().astype(np.int64)
    if "" in values and not lenient:
        first = np.flatnonzero(codes == values.index(""))[0]
        raise BadValue(int(first), "must not be empty", code="value_empty")
    return Text(codes, values)


def _decimals(chunks: Any) -> Any:
    _check_type(chunks, _is_number, "numbers")
    column = chunks.to_numpy().astype(np.float64)
    not_finite = np.flatnonzero(~np.isfinite(column))
    if len(not_finite):
        raise BadValue(int(not_finite[0]), "must be a finite number", code="not_finite")
    return column


def _is_number(arrow_type: Any) -> bool:
    return bool(pa.types.is_floating(arrow_type) or pa.types.is_integer(arrow_type))


def _is_whole(arrow_type: Any) -> bool:
    return bool(pa.types.is_integer(arrow_type) and arrow_type != pa.uint64())


def _check_type(chunks: Any, is_expected: Callable[[Any], bool], expected: str) -> None:
    if not is_expected(chunks.type):
        raise BadValue(
            WHOLE_COLUMN,
            f"must be a column of {expected}, got {chunks.type}",
            code="wrong_column_type",
            expected=expected,
        )


def _wholes(chunks: Any) -> Any:
    _check_type(chunks, _is_whole, "whole numbers")
    return chunks.to_numpy().astype(np.int64)


def moments_of(chunks: Any, options: ReadOptions) -> Times | None:
    """The times in a column of timestamps, text or whole numbers."""
    arrow_type = chunks.type
    if pa.types.is_timestamp(arrow_type):
        local_us = None
        if options.hours and arrow_type.tz in UTC_NAMES:
            utc = chunks.cast(pa.timestamp("us", "UTC"))
            local_us = local_times(_microseconds(utc), options)
        elif options.hours:
            local = chunks if arrow_type.tz is None else pc.local_timestamp(chunks)
            local_us = _microseconds(local.cast(pa.timestamp("us"), safe=False))
        if arrow_type.tz is None:
            chunks = _in_zone(chunks, options.zone)
        timestamps = chunks.cast(pa.timestamp("us", "UTC"), safe=False)
        return Times(_microseconds(timestamps), are_positions=False, local_us=local_us)
    if pa.types.is_integer(arrow_type):
        lenient = options.lenient
        positions = _lenient_column(chunks, Kind.WHOLE, options) if lenient else _wholes(chunks)
        return Times(positions, are_positions=True)
    parser, texts = Moments(options), _text(chunks, lenient=options.lenient)
    return parser.times(parser.add([texts.values[code] for code in texts.codes]))


def _microseconds(timestamps: Any) -> Any:
    return _filled(timestamps.cast(pa.int64()))


def _maybe_moments(chunks: Any, options: ReadOptions) -> Times | None:
    is_text = pa.types.is_string(chunks.type) or pa.types.is_large_string(chunks.type)
    is_empty = len(chunks) and is_text and pc.all(pc.equal(chunks, "")).as_py()
    if chunks.null_count or is_empty:
        return None
    return moments_of(chunks, options)


def _in_zone(chunks: Any, zone: tzinfo | None) -> Any:
    """Local timestamps, placed in a time zone."""
    if zone is None:
        raise BadValue(
            WHOLE_COLUMN,
            "must have a time zone; store UTC timestamps, or set the time zone with "
            "--time-zone",
            code="time_zone_missing",
        )
    # As in Python: the first of two equal hours when clocks go back.
    return pc.assume_timezone(chunks, str(zone), ambiguous="earliest", nonexistent="latest")


def _points(chunks: Any, *, lenient: bool = False) -> Any:
    arrow_type = chunks.type
    if not str(arrow_type).endswith("binary") and not pa.types.is_fixed_size_binary(arrow_type):
        raise BadValue(
            WHOLE_COLUMN,
            f"must be a column of points in WKB, got {arrow_type}",
            code="wrong_column_type",
            expected="points in WKB",
        )
    values = chunks.to_pylist()
    if lenient:
        return np.array([_point_or_none(value) for value in values]).reshape(-1, 2)
    return from_wkb(values)


def to_wkb(lat: Floats, lng: Floats) -> Any:
    """Points as an Arrow column of WKB, in which x is the longitude."""
    rows = np.empty(len(lat), dtype=POINT)
    rows["order"], rows["kind"] = LITTLE_ENDIAN, POINT_KIND
    rows["lng"], rows["lat"] = lng, lat
    kind, buffers = pa.binary(POINT.itemsize), [None, pa.py_buffer(rows.tobytes())]
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(rows), buffers).cast(pa.binary())


def from_wkb(values: Sequence[bytes]) -> Floats:
    """Longitudes and latitudes, shape (rows, 2)."""
    if set(map(len, values)) <= {POINT.itemsize}:
        rows = np.frombuffer(b"".join(values), dtype=POINT)
        if np.all((rows["order"] == LITTLE_ENDIAN) & (rows["kind"] == POINT_KIND)):
            return _checked_finite(np.stack([rows["lng"], rows["lat"]], axis=1))
    return _checked_finite(np.array([_point(k, value) for k, value in enumerate(values)]))


def _point(row: int, value: bytes) -> tuple[float, float]:
    """A point of any byte order and dialect, without its height and measure."""
    with suppress(KeyError, IndexError, struct.error):
        order = {0: ">", 1: "<"}[value[0]]
        (kind,) = struct.unpack_from(f"{order}I", value, 1)
        start = 9 if kind & EWKB_SRID else 5
        if kind & ~(EWKB_Z | EWKB_M | EWKB_SRID) in POINT_KINDS:
            lng, lat = struct.unpack_from(f"{order}dd", value, start)
            return lng, lat
    raise BadValue(row, "must be a point in WKB", code="not_a_point")


def _point_or_none(value: bytes | None) -> tuple[float, float]:
    try:
        return _point(0, value or b"")
    except BadValue:
        return math.nan, math.nan


def _checked_finite(points: Floats) -> Floats:
    not_finite = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(not_finite):
        raise BadValue(
            int(not_finite[0]), "must be a point with finite coordinates", code="not_finite"
        )
    return points
