"""Parquet in and out. Only the chosen columns are read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nomadp.data.columns import BadValue, Choose, Kind, Moments, Table, Text
from nomadp.errors import SchemaError

__all__ = ["read_metadata", "read_parquet", "write_parquet"]

METADATA_KEY = b"nomadp"


def read_parquet(path: Path, choose: Choose) -> Table:
    """The chosen columns of a Parquet file."""
    import pyarrow as pa  # slow to import, and only Parquet needs it
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            kinds = choose(file.schema_arrow.names)
            table = file.read(columns=list(kinds))
    except (pa.ArrowException, OSError):
        table = None
    # Raised outside the handler: the original may quote the file.
    if table is None:
        raise SchemaError(f"{path} must be a Parquet file, and is damaged or not one")
    column = {name: _column(path, name, table[name], kind) for name, kind in kinds.items()}
    return Table(str(path), table.num_rows, column, _where)


def read_metadata(path: Path) -> bytes | None:
    """What `write_parquet` was given as metadata."""
    import pyarrow.parquet as pq

    metadata: Mapping[bytes, bytes] = pq.read_schema(path).metadata or {}
    return metadata.get(METADATA_KEY)


def write_parquet(path: Path, column: Mapping[str, Any], metadata: bytes | None = None) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(dict(column))
    if metadata is not None:
        table = table.replace_schema_metadata({METADATA_KEY: metadata})
    pq.write_table(table, path)


def _where(row: int) -> str:
    return f"row {row + 1}"


def _column(path: Path, name: str, chunks: Any, kind: Kind) -> Any:
    if chunks.null_count:
        first = int(np.flatnonzero(chunks.is_null().to_numpy())[0])
        raise SchemaError(f"{path}: {_where(first)}: {name} must not be missing")
    convert = {
        Kind.TEXT: _text,
        Kind.DECIMAL: _decimals,
        Kind.WHOLE: _wholes,
        Kind.MOMENT: _moments,
    }[kind]
    try:
        return convert(chunks)
    except BadValue as bad:
        row, rule = bad.row, bad.rule
    place = f"{_where(row)}: " if row >= 0 else ""
    raise SchemaError(f"{path}: {place}{name} {rule}")


WHOLE_COLUMN = -1
"""As the row of a BadValue: the column's type is wrong, not one of its values."""


def _text(chunks: Any) -> Text:
    import pyarrow as pa

    kind = chunks.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if not (
        pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)
    ):
        raise BadValue(WHOLE_COLUMN, f"must be a column of text, got {kind}")
    coded = chunks.cast(kind).cast(pa.large_string()).combine_chunks().dictionary_encode()
    values = tuple(coded.dictionary.to_pylist())
    codes = coded.indices.to_numpy().astype(np.int64)
    if "" in values:
        first = np.flatnonzero(codes == values.index(""))[0]
        raise BadValue(int(first), "must not be empty")
    return Text(codes, values)


def _decimals(chunks: Any) -> Any:
    import pyarrow as pa

    if not (pa.types.is_floating(chunks.type) or pa.types.is_integer(chunks.type)):
        raise BadValue(WHOLE_COLUMN, f"must be a column of numbers, got {chunks.type}")
    column = chunks.to_numpy().astype(np.float64)
    unbounded = np.flatnonzero(~np.isfinite(column))
    if len(unbounded):
        raise BadValue(int(unbounded[0]), "must be a finite number")
    return column


def _wholes(chunks: Any) -> Any:
    import pyarrow as pa

    if not pa.types.is_integer(chunks.type) or chunks.type == pa.uint64():
        raise BadValue(WHOLE_COLUMN, f"must be a column of whole numbers, got {chunks.type}")
    return chunks.to_numpy().astype(np.int64)


def _moments(chunks: Any) -> Any:
    import pyarrow as pa

    kind = chunks.type
    if pa.types.is_timestamp(kind):
        if kind.tz is None:
            raise BadValue(WHOLE_COLUMN, "must have a time zone; store it as UTC timestamps")
        return chunks.cast(pa.int64()).to_numpy()
    if pa.types.is_integer(kind):
        return _wholes(chunks)
    text = _text(chunks)
    return Moments().add([text.values[code] for code in text.codes])
