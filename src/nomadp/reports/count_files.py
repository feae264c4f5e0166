"""Files of counts, which merge: JSON, or Parquet with a row to each distinct report."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nomadp.errors import SchemaError
from nomadp.formats.atomic import written_whole
from nomadp.formats.files import file_path, is_parquet
from nomadp.formats.measured_file import AnyPath
from nomadp.reports.counts import COLUMNS, Cell, Counts

__all__ = ["read_counts", "write_counts"]

FORMAT = 1
SUFFIXES = (".json", ".parquet")
BYTES_MAX = 1 << 30


def write_counts(path: AnyPath, counts: Counts) -> None:
    """JSON or Parquet, as the end of ``path`` says; whole or not at all."""
    found = file_path(path, SUFFIXES)
    if is_parquet(found):
        written_whole({found: lambda part: _write_parquet(part, counts)})
        return
    laws = sorted({law for law, _, _ in counts.cells})
    place = {law: k for k, law in enumerate(laws)}
    rows = [[place[law], *cell, count] for (law, *cell), count in sorted(counts.cells.items())]
    text = json.dumps({"format": FORMAT, "laws": laws, "counts": rows})
    written_whole({found: lambda part: part.write_text(text + "\n", encoding="utf-8")})


def read_counts(paths: AnyPath | Sequence[AnyPath]) -> Counts:
    """What one file holds, or several together."""
    if isinstance(paths, list | tuple):
        return sum(map(read_counts, paths), Counts())
    found = file_path(paths, SUFFIXES)  # type: ignore[arg-type]  # a single one
    return _read_parquet(found) if is_parquet(found) else _read_json(found)


def _write_parquet(part: Path, counts: Counts) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_batches([counts.to_arrow()]), part)


def _read_parquet(path: Path) -> Counts:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
        kinds = [
            table.schema.field(name).type for name in COLUMNS[1:] if name in table.schema.names
        ]
    except (pa.ArrowException, OSError):
        raise _no_counts(path) from None
    if not all(map(pa.types.is_integer, kinds)) or any(
        column.null_count for column in table.columns
    ):
        raise _no_counts(path)
    return _checked(path, Counts.from_arrow(table))


def _read_json(path: Path) -> Counts:
    try:
        with path.open("rb") as file:
            content = file.read(BYTES_MAX + 1)
        said: Any = json.loads(content[: BYTES_MAX + 1])
        if said["format"] != FORMAT or set(said) != {"format", "laws", "counts"}:
            raise ValueError("of another format")
        cells: dict[Cell, int] = {}
        for law, *rest in said["counts"]:
            length, value, count = rest
            cell = said["laws"][law], length, value
            cells[cell] = cells.get(cell, 0) + count
    except OSError as error:
        raise SchemaError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        raise _no_counts(path) from None
    return _checked(path, Counts(cells))


def _checked(path: Path, counts: Counts) -> Counts:
    for (law, length, value), count in counts.cells.items():
        numbers = (length, value, count)
        if type(law) is not str or any(type(each) is not int or each < 0 for each in numbers):
            raise _no_counts(path)
    return counts


def _no_counts(path: Path) -> SchemaError:
    return SchemaError(
        f"{path} must hold counts of reports as nomadp writes them, and does not"
    )
