"""CSV in: UTF-8 with or without a byte order mark, plain or gzipped, read in pieces."""

import csv
import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any

from nomadp.errors import SchemaError
from nomadp.formats.columns import BadValue, Choose, Growing, Kind, Table, Wishes
from nomadp.formats.measured_file import MeasuredFile, Progress

__all__ = ["read_csv"]

PIECE_ROWS = 1 << 16


def read_csv(path: Path, choose: Choose, wishes: Wishes | None = None) -> Table:
    """The chosen columns of a comma-separated file whose first line names them."""
    try:
        return _read(path, choose, wishes or Wishes())
    except UnicodeDecodeError:
        reason = "must be encoded in UTF-8, and is not; save it as UTF-8"
    except (gzip.BadGzipFile, zlib.error, EOFError):
        reason = "must be a whole gzip file, and is damaged or not one"
    except csv.Error:
        reason = "must be well-formed CSV, and has a quote that does not match or a huge field"
    # Raised outside the handlers: the original carries bytes of the file.
    raise SchemaError(f"{path} {reason}")


@contextmanager
def _records(path: Path, progress: Progress | None = None) -> Iterator[Any]:
    with MeasuredFile(path, progress) as file:
        content = file.decoded(gzipped=path.suffix == ".gz")
        text = TextIOWrapper(content, encoding="utf-8-sig", newline="")
        yield csv.reader(text, strict=True)


def _read(path: Path, choose: Choose, wishes: Wishes) -> Table:
    with _records(path, wishes.progress) as records:
        header = [name.strip() for name in next(filter(None, records), [])]
        if not header:
            raise SchemaError(f"{path} is empty; its first line must name the columns")
        kinds = choose(header)
        reading = _Reading(path, header, kinds, wishes)
        while rows := list(islice(records, PIECE_ROWS)):
            reading.add([row for row in rows if row], len(header))
    return reading.table()


class _Reading:
    """Columns that grow piece by piece, each of one kind."""

    def __init__(
        self, path: Path, header: Sequence[str], kinds: Mapping[str, Kind], wishes: Wishes
    ) -> None:
        self._path = path
        self._position = {name: header.index(name) for name in kinds}
        self._columns = {name: Growing(kind, wishes.zone) for name, kind in kinds.items()}
        self._rows = 0

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
                self._columns[name].add(fields[column])
            except BadValue as bad:
                raise SchemaError(
                    f"{self._path}: {self._where(bad.row)}: {name} {bad.rule}"
                ) from None
        self._rows += len(rows)

    def _where(self, row_of_piece: int) -> str:
        return _line(self._path, self._rows + row_of_piece)

    def table(self) -> Table:
        path = self._path
        column = {name: growing.column() for name, growing in self._columns.items()}
        return Table(str(path), self._rows, column, lambda row: _line(path, row))


def _line(path: Path, row: int) -> str:
    """The line on which a row ends; found by reading again, since it is only for a refusal."""
    with _records(path) as records:
        next(islice(filter(None, records), row + 1, None), None)
        return f"line {records.line_num}"
