"""Files of reports: CSV, Parquet, or a folder of Parquet as a cluster writes it.

Parquet has one row to a report and its header inside; that of a CSV file, which has one row to
a point, stands beside it as `FILE.meta.json`, that of a folder in it as `_nomadp.json`.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nomadp.errors import DomainError, NomadpError, NotPrivateError, OutputError, SchemaError
from nomadp.formats.arrow_objects import Frame, Source, as_frame
from nomadp.formats.atomic import write_atomically
from nomadp.formats.files import (
    check_readable,
    file_path,
    is_parquet,
    meta_path,
    write_with_metadata,
)
from nomadp.formats.location_files import point_columns
from nomadp.formats.measured_file import AnyPath
from nomadp.locations import LocationSet
from nomadp.mechanisms import Mechanism, kind_of
from nomadp.reports.counts import possible
from nomadp.reports.header import BYTES_MAX, Header, check_locations, parsed
from nomadp.reports.point_rows import MORE, VALUE, rows_by_point
from nomadp.reports.rows import (
    VALUES,
    Public,
    Rows,
    concatenated,
    nested_column,
    unique,
)
from nomadp.reports.table import AnyReports, Reports, reports_as

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "ABOUT",
    "header_of",
    "is_read_whole",
    "parts_of",
    "read_reports",
    "read_rows",
    "write_reports",
    "write_simulated",
]

ABOUT = "_nomadp.json"
"""The header of a folder; readers of Parquet pass over names like this."""


def write_reports(path: AnyPath, reports: AnyReports, *, overwrite: bool = False) -> None:
    """Write `Reports` to CSV or Parquet, atomically; simulated reports are refused.

    The end of ``path`` says which; how ``reports`` were made is written with them. Raises
    `NotPrivateError` for `SimulatedReports`, and `OutputError` for a file that is there, unless
    it may be replaced (``overwrite``): drawing again what was in it costs epsilon again.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=10)
    >>> exp = nomadp.make_mechanism("exp", city.locations, epsilon=4)
    >>> nomadp.write_reports("reports.csv", nomadp.perturb_set(exp, city.trajectories))
    """
    if not isinstance(reports, Reports):
        raise NotPrivateError(
            "only Reports are written for people, drawn by a private mechanism with secret "
            f"words, got {type(reports).__name__}; write experiments with write_simulated",
            code="reports_not_private",
            type=type(reports).__name__,
        )
    _write(file_path(path), reports, overwrite=overwrite)


def write_simulated(path: AnyPath, reports: AnyReports, *, overwrite: bool = False) -> None:
    """Write any ``reports`` to ``path``, for experiments; the header says what they are.

    What is there may be somebody's reports, so it is replaced only on ``overwrite``, too.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=10)
    >>> exp = nomadp.make_mechanism("exp", city.locations, epsilon=4)
    >>> simulated = nomadp.perturb_set(exp, city.trajectories, nomadp.SeededRandom(1))
    >>> nomadp.write_simulated("simulated.csv", simulated)
    >>> nomadp.read_reports("simulated.csv", city.locations)
    SimulatedReports(10 of exp at epsilon 4)
    """
    _write(file_path(path), reports, overwrite=overwrite)


def read_reports(
    path: Source, locations: LocationSet, made_by: Mechanism | None = None
) -> AnyReports:
    """Read the reports of a file or folder; unreadable reports are left out and counted.

    They are `Reports` or `SimulatedReports`, as their header says. Where there is none, they
    are taken to be ``made_by`` a mechanism, and simulated. ``path`` is CSV, Parquet or a folder
    of Parquet, or a frame of pandas, polars, DuckDB or whatever streams to Arrow, ``locations``
    the set they were made with. Raises `SchemaError` for a file or a
    header of another shape, `DomainError` for another set.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=10)
    >>> exp = nomadp.make_mechanism("exp", city.locations, epsilon=4)
    >>> nomadp.write_reports("reports.csv", nomadp.perturb_set(exp, city.trajectories))
    >>> nomadp.read_reports("reports.csv", city.locations)
    Reports(10 of exp at epsilon 4)
    """
    found = _found(path)
    about = _header_bytes(found)
    if about is not None:
        with _named(found):
            header = Header.from_json(about)
            check_locations(header.location_set_sha256, locations)
    elif made_by is not None:
        header = Header.made_by(made_by)
    else:
        raise SchemaError(
            f"{found} must say how its reports were made, and does not; name their mechanism "
            "and epsilon",
            code="header_missing",
        )
    asked = _question(header, locations, made_by)
    if asked is None:
        return reports_as(header, locations, **_rows(found, locations)._asdict())
    size = asked.report_size
    read = _rows(found, size)._asdict()
    return possible(asked, reports_as(header, locations, **read, entry_size=size))


def _question(
    header: Header, locations: LocationSet, made_by: Mechanism | None
) -> Mechanism | None:
    """The frequency oracle that made the reports; None if they contain locations."""
    if made_by is not None:
        return made_by if made_by.is_oracle else None
    try:
        if not kind_of(header.mechanism).is_oracle:
            return None
    except DomainError:  # of a package that is not here: it has no questions
        return None
    return header.mechanism_for(locations)


def header_of(path: Source) -> Header | None:
    """The header of a file, folder or frame: how its reports were made."""
    found = _found(path)
    about = _header_bytes(found)
    with _named(found):
        return None if about is None else Header.from_json(about)


def is_read_whole(path: AnyPath) -> bool:
    """Whether a file is no Parquet, and so has no pieces to be read one at a time."""
    found = Path(path)
    return not found.is_dir() and not is_parquet(found)


def read_rows(path: AnyPath, locations: LocationSet) -> tuple[Rows, Mapping[str, Any]]:
    """Reported or estimated locations, and what their file says of them, if anything."""
    found = Path(path)
    about = _header_bytes(found)
    with _named(found):
        said = {} if about is None else parsed(about)
        if said:
            check_locations(said.get("location_set_sha256"), locations)
    return _rows(found, locations), said


@contextmanager
def _named(path: Path | Frame) -> Iterator[None]:
    """A refusal of a header says in which file."""
    try:
        yield
    except NomadpError as error:
        raise type(error)(f"{path}: {error}", **vars(error)) from None


def _write(found: Path, reports: AnyReports, *, overwrite: bool) -> None:
    if not overwrite and os.path.lexists(found):
        raise OutputError(
            f"{found} must be a new file, and is there; name another, or say overwrite=True "
            "to replace it",
            code="output_exists",
        )
    about = reports.header.to_json()
    if is_parquet(found):
        write_atomically({found: lambda part: _write_parquet(part, reports, about)}, [found])
        return
    write_with_metadata(found, _by_point(reports), about)


def _write_parquet(part: Path, reports: AnyReports, about: bytes) -> None:
    from nomadp.formats.parquet_files import write_parquet  # slow to import: Arrow
    from nomadp.reports.batches import batch_of

    world = reports.location_set if reports.entry_size is None else None
    batch = batch_of(reports, world, reports.numbers, reports.transcripts)
    write_parquet(part, {name: batch[name] for name in batch.schema.names}, about)


def _by_point(reports: AnyReports) -> dict[str, Any]:
    row = reports.owner
    if reports.entry_size is not None:
        names = [reports.names[k] for k in row]
        return {"tid": names, "seq": reports.seq, VALUE: reports.locations}
    column = point_columns(reports, reports.location_set)
    if reports.numbers is not None:
        column["number"] = reports.numbers[row]
    if reports.transcripts is not None:
        said = [json.dumps(each) for each in reports.transcripts]
        column["transcript"] = [said[k] for k in row]
    return column


def _found(source: Source) -> Path | Frame:
    frame = as_frame(source)
    return Path(source) if frame is None else frame  # type: ignore[arg-type]


def _rows(path: Path | Frame, public: Public) -> Rows:
    nested = nested_column(public)
    if isinstance(path, Frame) or path.is_dir() or is_parquet(path):
        tables = [_table(file) for file in parts_of(path)]
        if all(nested in table.schema.names for table in tables):
            from nomadp.reports.batches import rows_of

            batches = (each for t in tables for each in t.combine_chunks().to_batches())
            pieces = [rows_of(batch, public) for batch in batches]
        else:
            pieces = [rows_by_point(file, public) for file in parts_of(path)]
    else:
        pieces = [rows_by_point(path, public)]
    found = unique(concatenated(pieces))
    if not len(found.rows):
        over = f"{public} values" if isinstance(public, int) else len(public)
        left_out = sum(found.refused.values())
        what = (
            f"all {left_out} were left out; use the location file that belongs to them"
            if left_out
            else "holds none"
        )
        raise DomainError(
            f"{path} must hold reports over the location set of {over}, and {what}",
            code="no_reports",
            left_out=left_out,
        )
    return found


def parts_of(path: Path | Frame) -> list[Any]:
    """The files that a path stands for: itself, or those of a folder as a cluster writes it."""
    if isinstance(path, Frame) or not path.is_dir():
        return [path]
    parts = sorted(each for each in path.glob("*.parquet") if each.name[0] not in "._")
    if not parts:
        raise SchemaError(
            f"{path} must hold Parquet files of reports, and holds none",
            code="no_parquet_files",
        )
    return parts


def _table(path: Path | Frame) -> "pa.Table":
    if isinstance(path, Frame):
        return path.table
    import pyarrow as pa
    import pyarrow.parquet as pq

    from nomadp.formats.parquet_files import whole_table

    try:
        with pq.ParquetFile(path) as file:
            wanted = {"tid", "location_ids", VALUES, *MORE}
            names = [name for name in file.schema_arrow.names if name in wanted]
            return whole_table(path, file, names)
    except (pa.ArrowException, OSError) as error:
        reason = getattr(error, "strerror", None) or "is damaged or not one"
    raise SchemaError(f"{path} must be a Parquet file, and {reason}", code="not_parquet")


def _header_bytes(path: Path | Frame) -> bytes | None:
    """What a file or folder says about itself, as it stands there."""
    if isinstance(path, Frame):
        found: bytes | None = (path.table.schema.metadata or {}).get(b"nomadp")
        return found
    if not path.is_dir():
        check_readable(path)
        if is_parquet(path):
            from nomadp.formats.parquet_files import read_metadata

            return read_metadata(path)
    try:
        about = path / ABOUT if path.is_dir() else meta_path(path)
        if not about.exists():
            return None
        with about.open("rb") as file:
            return file.read(BYTES_MAX + 1)
    except (OSError, ValueError):
        pass
    raise SchemaError(
        f"the metadata of {path} must be readable, and is not", code="metadata_unreadable"
    )
