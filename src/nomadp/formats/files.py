"""Reading and writing tables of any format. The suffix of the file selects the format."""

import csv
import gzip
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from nomadp.errors import SchemaError
from nomadp.extras import require
from nomadp.formats.arrow_objects import Frame, Source, as_frame, source_name
from nomadp.formats.atomic import Write, write_atomically
from nomadp.formats.columns import (
    BadValue,
    Choose,
    ColumnReader,
    Kind,
    ReadOptions,
    Table,
    row_attribute,
)
from nomadp.formats.measured_file import AnyPath, MeasuredFile
from nomadp.formats.unreadable import BadRows

__all__ = [
    "meta_path",
    "check_readable",
    "require_columns",
    "file_path",
    "is_parquet",
    "read_table",
    "write_with_metadata",
    "write_table",
]

SUFFIXES = (".csv", ".csv.gz", ".parquet")
READABLE = (*SUFFIXES, ".geoparquet")
PIECE_ROWS = 1 << 16


def file_path(path: AnyPath, suffixes: tuple[str, ...] = SUFFIXES) -> Path:
    """The path as a `Path`. Raises `SchemaError` if its suffix is none of ``suffixes``."""
    file = Path(path)
    if not file.name.endswith(suffixes):
        *others, last = suffixes
        known = f"{', '.join(others)} or {last}" if others else last
        raise SchemaError(
            f"{file} must end in {known}, which selects the format",
            code="unknown_suffix",
            suffixes=suffixes,
        )
    is_parquet(file)
    return file


def is_parquet(path: Path) -> bool:
    """Whether the suffix is one of Parquet. Raises an error if Arrow is not installed then."""
    if path.suffix not in (".parquet", ".geoparquet"):
        return False
    require("tables")
    return True


def check_readable(path: Path) -> None:
    try:
        path.open("rb").close()
    except OSError as error:
        raise SchemaError(
            f"{path} cannot be read: {error.strerror or error}",
            code="file_unreadable",
            errno=error.errno,
        ) from error


def read_table(
    source: Source | Frame, choose: Choose, options: ReadOptions | None = None
) -> Table:
    """Read the columns that `choose` selects. There must be at least one row."""
    frame = as_frame(source)
    if frame is not None:
        from nomadp.formats.parquet_files import table_of  # slow to import

        table = table_of(frame.name, frame.table, choose, options or ReadOptions())
    else:
        table = _read_file(file_path(source, READABLE), choose, options or ReadOptions())  # type: ignore[arg-type]  # a path
    if not table.rows:
        raise BadRows(
            f"{table.path} must have at least one row, but it has only a header",
            code="no_rows",
        )
    return table


def _read_file(path: Path, choose: Choose, options: ReadOptions) -> Table:
    check_readable(path)
    if path.stat().st_size == 0:
        raise SchemaError(f"{path} must not be empty, but it is", code="file_empty")
    read_format = _read_csv
    if is_parquet(path):
        from nomadp.formats.parquet_files import read_parquet as read_format  # slow to import
    return read_format(path, choose, options)


def require_columns(
    path: AnyPath | Frame, header: Sequence[str], kinds: Mapping[str, Kind]
) -> Mapping[str, Kind]:
    """Return ``kinds``. Raises `SchemaError` unless the header has each column exactly once.

    The error shows no other names of the header: if the file has none, they are private data.
    """
    missing = [name for name in kinds if name not in header]
    if missing:
        has_no_lines = isinstance(path, Frame) or is_parquet(Path(path))
        hint = "" if has_no_lines else ", separated by commas and with names in the first line"
        raise SchemaError(
            f"{source_name(path)} must have the columns {','.join(kinds)}{hint}; missing: "
            f"{', '.join(missing)}",
            code="columns_missing",
            missing=tuple(missing),
        )
    repeated = [name for name in kinds if header.count(name) > 1]
    if repeated:
        raise SchemaError(
            f"{source_name(path)} must have only one column {repeated[0]}, got several; rename "
            "them",
            code="column_repeated",
            column=repeated[0],
        )
    return kinds


def write_table(path: Path, column: Mapping[str, Any], metadata: bytes | None = None) -> None:
    """Write columns of equal length. CSV has no place for ``metadata``, so it is ignored."""
    if is_parquet(path):
        from nomadp.formats.parquet_files import write_parquet

        write_parquet(path, column, metadata)
        return
    with path.open("wb") as raw:
        if path.name.endswith(".gz"):
            # Without a name and a time, equal tables give equal bytes.
            with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
                _write_csv(packed, column)
        else:
            _write_csv(raw, column)


def write_with_metadata(path: Path, column: Mapping[str, Any], metadata: bytes) -> None:
    """Write a table with metadata: inside a Parquet file, or in a file next to a CSV file.

    Such tables have a row for each report, so only the file's owner may read them.
    """
    writes: dict[Path, Write] = {}
    if not is_parquet(path):
        # Written first, so that the table is never there without its metadata.
        writes[meta_path(path)] = lambda part: part.write_bytes(metadata + b"\n")
    writes[path] = lambda part: write_table(part, column, metadata)
    write_atomically(writes, private=[path])


def meta_path(path: Path) -> Path:
    """The path of the metadata of a CSV file."""
    return path.with_name(path.name + ".meta.json")


def _write_csv(stream: Any, column: Mapping[str, Any]) -> None:
    output = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    # As Python numbers, which are written with the digits that identify them exactly.
    lists = [
        values.tolist() if hasattr(values, "tolist") else values for values in column.values()
    ]
    # Python 3.11 leaves a carriage return unquoted, and a reader takes it for the end of a row.
    texts = (value for values in lists for value in values if type(value) is str)
    has_carriage_return = any("\r" in text for text in texts)
    writer = (
        csv.writer(output, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        if has_carriage_return
        else csv.writer(output, lineterminator="\n")
    )
    writer.writerow(column)
    writer.writerows(zip(*lists, strict=True))
    output.flush()
    output.detach()  # so that closing the wrapper does not close the stream


def _read_csv(path: Path, choose: Choose, options: ReadOptions) -> Table:
    """The chosen columns of a UTF-8 file with a header, with or without a byte order mark."""
    try:
        return _csv_table(path, choose, options)
    except UnicodeDecodeError:
        refusal = SchemaError(
            f"{path} must be encoded in UTF-8, but it is not; save it as UTF-8", code="not_utf8"
        )
    except csv.Error:
        refusal = SchemaError(
            f"{path} must be well-formed CSV, but it has an unmatched quote or a huge field; "
            "export it again",
            code="not_csv",
        )
    # Raised outside the handlers: the original error contains bytes of the file.
    raise refusal


@contextmanager
def _records(path: Path, options: ReadOptions | None = None) -> Iterator[Any]:
    """The records of a CSV file. A lenient reader accepts invalid UTF-8 and stray quotes."""
    settings = options or ReadOptions()  # the default is strict
    with MeasuredFile(path, settings.progress) as file:
        content = file.decoded(gzipped=path.suffix == ".gz")
        errors = "replace" if settings.lenient else "strict"
        text = io.TextIOWrapper(content, encoding="utf-8-sig", errors=errors, newline="")
        yield csv.reader(text, strict=not settings.lenient)


def _rows(records: Iterator[list[str]], options: ReadOptions) -> Iterator[list[str]]:
    """All records. A lenient reader stops at a field that never ends."""
    try:
        yield from records
    except csv.Error:
        if not options.lenient:
            raise


def _csv_table(path: Path, choose: Choose, options: ReadOptions) -> Table:
    rows_read = 0
    with _records(path, options) as records:
        header = [name.strip() for name in next(filter(None, records), [])]
        if not header:
            raise SchemaError(
                f"{path} must have a header in its first line, but it is empty",
                code="file_empty",
            )
        readers = {name: ColumnReader(kind, options) for name, kind in choose(header).items()}
        remaining = _rows(records, options)
        while piece := list(islice(remaining, PIECE_ROWS)):
            rows = [row for row in piece if row and _is_usable(row, len(header), options)]
            try:
                _add_rows(readers, header, rows)
            except BadValue as bad:
                label = _line_label(path, rows_read + bad.row)
                raise BadRows(
                    f"{path}: {label}: {bad.rule}", **row_attribute(label), **bad.facts
                ) from None
            rows_read += len(rows)
    column = {name: reader.column() for name, reader in readers.items()}
    return Table(str(path), rows_read, column, lambda row: _line_label(path, row))


def _is_usable(row: list[str], width: int, options: ReadOptions) -> bool:
    return len(row) == width or not options.lenient


def _add_rows(
    readers: Mapping[str, ColumnReader], header: Sequence[str], rows: Sequence[list[str]]
) -> None:
    width = len(header)
    for k, row in enumerate(rows):
        if len(row) != width:
            raise BadValue(
                k,
                f"must have {width} fields, as the header has, got {len(row)}",
                code="wrong_field_count",
                fields=len(row),
                expected=width,
            )
    fields = dict(zip(header, zip(*rows, strict=True), strict=False))  # no rows: no fields
    for name, reader in readers.items():
        try:
            reader.add(fields.get(name, ()))
        except BadValue as bad:
            facts: Any = {**bad.facts, "column": name}
            raise BadValue(bad.row, f"{name} {bad.rule}", **facts) from None


def _line_label(path: Path, row: int) -> str:
    """The line on which a row ends, such as ``line 7``.

    A quoted field may span lines, so the file is read again. Only errors need this.
    """
    with _records(path) as records:
        next(islice(filter(None, records), row + 1, None), None)
        return f"line {records.line_num}"
