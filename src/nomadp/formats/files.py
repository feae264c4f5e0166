"""One way to read or write a table, whatever the file's format; its suffix says which."""

import csv
import gzip
import io
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from nomadp.errors import SchemaError
from nomadp.extras import require
from nomadp.formats.atomic import Write, written_whole
from nomadp.formats.columns import Choose, Kind, Table, Wishes
from nomadp.formats.csv_files import read_csv
from nomadp.formats.parquet_files import read_parquet, write_parquet

__all__ = [
    "beside",
    "columns_or_refusal",
    "file_path",
    "is_parquet",
    "read_table",
    "write_described",
    "write_table",
]

SUFFIXES = (".csv", ".csv.gz", ".parquet")
READABLE = (*SUFFIXES, ".geoparquet")


def file_path(path: str | PathLike[str], suffixes: tuple[str, ...] = SUFFIXES) -> Path:
    """The path, if its suffix names a format we know."""
    found = Path(fspath(path))
    if not found.name.endswith(suffixes):
        *others, last = suffixes
        known = f"{', '.join(others)} or {last}" if others else last
        raise SchemaError(f"{found} must end in {known} to say what it is")
    is_parquet(found)
    return found


def is_parquet(path: Path) -> bool:
    """Whether its name says Parquet; refused then if nothing here can read that."""
    if path.suffix not in (".parquet", ".geoparquet"):
        return False
    require("tables")
    return True


def read_table(
    path: str | PathLike[str], choose: Choose, wishes: Wishes | None = None
) -> Table:
    """The columns that `choose` picks from the header; at least one row."""
    found = file_path(path, READABLE)
    try:
        found.open("rb").close()
    except OSError as error:
        raise SchemaError(f"{found} cannot be read: {error.strerror or error}") from error
    if found.stat().st_size == 0:
        raise SchemaError(f"{found} is empty")
    table = (read_parquet if is_parquet(found) else read_csv)(found, choose, wishes)
    if not table.rows:
        raise SchemaError(f"{found} must have at least one row, and only names its columns")
    return table


def columns_or_refusal(
    path: str | PathLike[str], header: Sequence[str], kinds: Mapping[str, Kind]
) -> Mapping[str, Kind]:
    """The kinds, if the header has each column once. Its other names may be private data."""
    missing = [name for name in kinds if name not in header]
    if missing:
        raise SchemaError(
            f"{fspath(path)} must have the columns {','.join(kinds)}, separated by commas and "
            f"named in its first line; missing: {', '.join(missing)}"
        )
    repeated = [name for name in kinds if header.count(name) > 1]
    if repeated:
        raise SchemaError(f"{fspath(path)} must name the column {repeated[0]} only once")
    return kinds


def write_table(path: Path, column: Mapping[str, Any], metadata: bytes | None = None) -> None:
    """Columns of equal length. CSV has no place for metadata: it goes beside."""
    if is_parquet(path):
        write_parquet(path, column, metadata)
        return
    with path.open("wb") as raw:
        if path.name.endswith(".gz"):
            with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
                _write_csv(packed, column)
        else:
            _write_csv(raw, column)


def write_described(path: Path, column: Mapping[str, Any], metadata: bytes) -> None:
    """A table that says how it was made: inside Parquet, beside CSV."""
    writes: dict[Path, Write] = {}
    if not is_parquet(path):
        # First: a table never stands without saying how it was made.
        writes[beside(path)] = lambda part: _create(part, metadata + b"\n")
    writes[path] = lambda part: write_table(part, column, metadata)
    written_whole(writes)


def beside(path: Path) -> Path:
    """Where a CSV file's description stands."""
    return path.with_name(path.name + ".meta.json")


def _create(part: Path, content: bytes) -> None:
    with part.open("xb") as file:
        file.write(content)


def _write_csv(stream: Any, column: Mapping[str, Any]) -> None:
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(column)
    rows: Iterable[Any] = zip(*(_plain(values) for values in column.values()), strict=True)
    writer.writerows(rows)
    text.flush()
    text.detach()


def _plain(values: Any) -> Any:
    """Python numbers, which CSV writes with every digit that matters."""
    return values.tolist() if hasattr(values, "tolist") else values
