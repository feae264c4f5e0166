"""CSV in: UTF-8 with or without a byte order mark, plain or gzipped, read in pieces."""

import csv
import gzip
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from nomadp.data.columns import (
    BadValue,
    Choose,
    Kind,
    Moments,
    Table,
    Text,
    TextCoder,
    decimals,
    wholes,
)
from nomadp.errors import SchemaError

__all__ = ["read_csv"]

PIECE_ROWS = 1 << 16


def read_csv(path: Path, choose: Choose) -> Table:
    """The chosen columns of a comma-separated file whose first line names them."""
    try:
        return _read(path, choose)
    except UnicodeDecodeError:
        reason = "must be encoded in UTF-8, and is not; save it as UTF-8"
    except (gzip.BadGzipFile, zlib.error, EOFError):
        reason = "must be a whole gzip file, and is damaged or not one"
    except csv.Error:
        reason = "must be well-formed CSV, and has a quote that does not match or a huge field"
    # Raised outside the handlers: the original carries bytes of the file.
    raise SchemaError(f"{path} {reason}")


@contextmanager
def _records(path: Path) -> Iterator[Any]:
    with _opened(path) as stream:
        yield csv.reader(stream, strict=True)


def _opened(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _read(path: Path, choose: Choose) -> Table:
    with _records(path) as records:
        header = [name.strip() for name in next(filter(None, records), [])]
        if not header:
            raise SchemaError(f"{path} is empty; its first line must name the columns")
        kinds = choose(header)
        reading = _Reading(path, {name: header.index(name) for name in kinds}, kinds)
        while rows := list(islice(records, PIECE_ROWS)):
            reading.add([row for row in rows if row], len(header))
    return reading.table()


class _Reading:
    """Columns that grow piece by piece, each of one kind."""

    def __init__(self, path: Path, position: dict[str, int], kinds: Any) -> None:
        self._path = path
        self._position = position
        self._coders = {name: TextCoder() for name in kinds if kinds[name] is Kind.TEXT}
        self._convert = {name: self._converter(name, kind) for name, kind in kinds.items()}
        self._pieces: dict[str, list[Any]] = {name: [] for name in kinds}
        self._rows = 0

    def _converter(self, name: str, kind: Kind) -> Any:
        if kind is Kind.TEXT:
            return self._coders[name].add
        return {Kind.DECIMAL: decimals, Kind.WHOLE: wholes}.get(kind) or Moments().add

    def add(self, rows: Sequence[list[str]], width: int) -> None:
        if not set(map(len, rows)) <= {width}:
            row = next(k for k, fields in enumerate(rows) if len(fields) != width)
            raise SchemaError(
                f"{self._path}: {self._where(row)}: must have {width} fields like the header, "
                f"got {len(rows[row])}"
            )
        fields = list(zip(*rows, strict=True)) or [()] * width
        for name, column in self._position.items():
            try:
                self._pieces[name].append(self._convert[name](fields[column]))
            except BadValue as bad:
                raise SchemaError(
                    f"{self._path}: {self._where(bad.row)}: {name} {bad.rule}"
                ) from None
        self._rows += len(rows)

    def _where(self, row_of_piece: int) -> str:
        return _line(self._path, self._rows + row_of_piece)

    def table(self) -> Table:
        path, empty = self._path, np.empty(0, dtype=np.int64)
        column: dict[str, Any] = {
            name: np.concatenate(pieces or [empty]) for name, pieces in self._pieces.items()
        }
        for name, coder in self._coders.items():
            column[name] = Text(column[name], coder.values)
        return Table(str(path), self._rows, column, lambda row: _line(path, row))


def _line(path: Path, row: int) -> str:
    """The line on which a row ends; found by reading again, since it is only for a refusal."""
    with _records(path) as records:
        next(islice(filter(None, records), row + 1, None), None)
        return f"line {records.line_num}"
