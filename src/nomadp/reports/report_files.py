"""Files of reports: CSV, Parquet, or a folder of Parquet files as a cluster writes it.

Parquet has one row per report, and the header in its metadata. CSV has one row per point, and
the header in a second file, `FILE.meta.json`. In a folder the header is `_nomadp.json`.
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
from nomadp.reports.counts import drop_impossible
from nomadp.reports.header import BYTES_MAX, Header, check_locations, parse_metadata
from nomadp.reports.point_rows import OPTIONAL, VALUE, reports_by_point
from nomadp.reports.raw_reports import (
    VALUES,
    Domain,
    RawReports,
    concatenate,
    drop_repeated_ids,
    nested_column,
)
from nomadp.reports.table import AnyReports, Reports, reports_as

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "HEADER_NAME",
    "header_of",
    "is_read_whole",
    "parts_of",
    "read_reports",
    "read_raw_reports",
    "write_reports",
    "write_simulated",
]

HEADER_NAME = "_nomadp.json"
"""The header of a folder. Readers of Parquet ignore names that begin with an underscore."""


def write_reports(path: AnyPath, reports: AnyReports, *, overwrite: bool = False) -> None:
    """Write private reports to CSV or Parquet, completely or not at all.

    The file also records how the reports were made.

    Args:
        path: The file; its suffix selects the format.
        reports: The `Reports`.
        overwrite: Replace an existing file. To draw its reports again would use epsilon again.

    Raises:
        NotPrivateError: The reports are `SimulatedReports`.
        OutputError: The file exists.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=10)
    >>> exp = nomadp.make_mechanism("exp", city.locations, epsilon=4)
    >>> nomadp.write_reports("reports.csv", nomadp.perturb_set(exp, city.trajectories))
    """
    if not isinstance(reports, Reports):
        raise NotPrivateError(
            "reports of people must be Reports, drawn by a private mechanism with secret "
            f"randomness, got {type(reports).__name__}; use write_simulated for experiments",
            code="reports_not_private",
            type=type(reports).__name__,
        )
    _write(file_path(path), reports, overwrite=overwrite)


def write_simulated(path: AnyPath, reports: AnyReports, *, overwrite: bool = False) -> None:
    """Write private or simulated reports, for experiments; the header says which they are.

    Args:
        path: The file; its suffix selects the format.
        reports: The `Reports` or `SimulatedReports`.
        overwrite: Replace an existing file, which might contain somebody's reports.

    Raises:
        OutputError: The file exists.

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
    """Read reports from a file or a folder. Unreadable reports are left out and counted.

    Args:
        path: CSV, Parquet or a folder of Parquet files, or a frame of pandas, polars or DuckDB,
            or another object that streams to Arrow.
        locations: The location set that the reports were made with.
        made_by: The mechanism of a file without a header; its reports count as simulated.

    Returns:
        The `Reports` or `SimulatedReports`, as the header says.

    Raises:
        SchemaError: The file or its header has another format.
        DomainError: The reports were made with another location set.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=10)
    >>> exp = nomadp.make_mechanism("exp", city.locations, epsilon=4)
    >>> nomadp.write_reports("reports.csv", nomadp.perturb_set(exp, city.trajectories))
    >>> nomadp.read_reports("reports.csv", city.locations)
    Reports(10 of exp at epsilon 4)
    """
    source = _frame_or_path(path)
    content = _header_bytes(source)
    if content is not None:
        with _naming_file(source):
            header = Header.from_json(content)
            check_locations(header.location_set_sha256, locations)
    elif made_by is not None:
        header = Header.made_by(made_by)
    else:
        raise SchemaError(
            f"{source} must have a header that says how its reports were made, got none; name "
            "their mechanism and epsilon",
            code="header_missing",
        )
    oracle = _oracle_for(header, locations, made_by)
    size = None if oracle is None else oracle.report_size
    raw = _read_raw(source, locations if size is None else size)
    reports = reports_as(header, locations, **raw._asdict(), entry_size=size)
    return reports if oracle is None else drop_impossible(oracle, reports)


def _oracle_for(
    header: Header, locations: LocationSet, made_by: Mechanism | None
) -> Mechanism | None:
    """The frequency oracle that made the reports; None if they contain locations."""
    if made_by is not None:
        return made_by if made_by.is_oracle else None
    try:
        if not kind_of(header.mechanism).is_oracle:
            return None
    except DomainError:  # a mechanism of a package that is not installed: no oracle of ours
        return None
    return header.mechanism_for(locations)


def header_of(path: Source) -> Header | None:
    """The header of a file, folder or frame, if it has one."""
    source = _frame_or_path(path)
    content = _header_bytes(source)
    with _naming_file(source):
        return None if content is None else Header.from_json(content)


def is_read_whole(path: AnyPath) -> bool:
    """Whether a file cannot be read in batches: it is neither Parquet nor a folder of it."""
    path = Path(path)
    return not path.is_dir() and not is_parquet(path)


def read_raw_reports(
    path: AnyPath, locations: LocationSet
) -> tuple[RawReports, Mapping[str, Any]]:
    """Reported or estimated locations, and the metadata of their file (empty if none)."""
    path = Path(path)
    content = _header_bytes(path)
    with _naming_file(path):
        metadata = {} if content is None else parse_metadata(content)
        if metadata:
            check_locations(metadata.get("location_set_sha256"), locations)
    return _read_raw(path, locations), metadata


@contextmanager
def _naming_file(path: Path | Frame) -> Iterator[None]:
    """Put the name of the file in front of an error about its header."""
    try:
        yield
    except NomadpError as error:
        raise type(error)(f"{path}: {error}", **vars(error)) from None


def _write(path: Path, reports: AnyReports, *, overwrite: bool) -> None:
    if not overwrite and os.path.lexists(path):
        raise OutputError(
            f"{path} must be a new file, but exists; name another, or set overwrite=True to "
            "replace it",
            code="output_exists",
        )
    header = reports.header.to_json()
    if is_parquet(path):
        write_atomically({path: lambda part: _write_parquet(part, reports, header)}, [path])
        return
    write_with_metadata(path, _point_columns(reports), header)


def _write_parquet(part: Path, reports: AnyReports, header: bytes) -> None:
    from nomadp.formats.parquet_files import write_parquet  # slow to import: Arrow
    from nomadp.reports.batches import batch_of

    locations = reports.location_set if reports.entry_size is None else None
    batch = batch_of(reports, locations, reports.numbers, reports.transcripts)
    write_parquet(part, {name: batch[name] for name in batch.schema.names}, header)


def _point_columns(reports: AnyReports) -> dict[str, Any]:
    row = reports.owner
    if reports.entry_size is not None:
        names = [reports.names[k] for k in row]
        return {"tid": names, "seq": reports.seq, VALUE: reports.locations}
    column = point_columns(reports, reports.location_set)
    if reports.numbers is not None:
        column["number"] = reports.numbers[row]
    if reports.transcripts is not None:
        texts = [json.dumps(transcript) for transcript in reports.transcripts]
        column["transcript"] = [texts[k] for k in row]
    return column


def _frame_or_path(source: Source) -> Path | Frame:
    frame = as_frame(source)
    return Path(source) if frame is None else frame  # type: ignore[arg-type]


def _read_raw(path: Path | Frame, domain: Domain) -> RawReports:
    nested = nested_column(domain)
    if isinstance(path, Frame) or path.is_dir() or is_parquet(path):
        tables = [_table(file) for file in parts_of(path)]
        if all(nested in table.schema.names for table in tables):
            from nomadp.reports.batches import raw_reports_of

            batches = (one for t in tables for one in t.combine_chunks().to_batches())
            pieces = [raw_reports_of(batch, domain) for batch in batches]
        else:
            pieces = [reports_by_point(file, domain) for file in parts_of(path)]
    else:
        pieces = [reports_by_point(path, domain)]
    raw = drop_repeated_ids(concatenate(pieces))
    if not len(raw.sequences):
        size = f"{domain} values" if isinstance(domain, int) else len(domain)
        left_out = sum(raw.refused.values())
        problem = (
            f"all {left_out} were left out; use the location file that belongs to them"
            if left_out
            else "holds none"
        )
        raise DomainError(
            f"{path} must hold reports over the location set of {size}, and {problem}",
            code="no_reports",
            left_out=left_out,
        )
    return raw


def parts_of(path: Path | Frame) -> list[Any]:
    """The path itself, or the Parquet files of a folder that a cluster wrote."""
    if isinstance(path, Frame) or not path.is_dir():
        return [path]
    parts = sorted(file for file in path.glob("*.parquet") if file.name[0] not in "._")
    if not parts:
        raise SchemaError(
            f"{path} must hold Parquet files of reports, but holds none",
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
            columns = {"tid", "location_ids", VALUES, *OPTIONAL}
            names = [name for name in file.schema_arrow.names if name in columns]
            return whole_table(path, file, names)
    except (pa.ArrowException, OSError) as error:
        reason = getattr(error, "strerror", None) or "is damaged or not one"
    # Raised outside the handler: Arrow's error may quote the file.
    raise SchemaError(f"{path} must be a Parquet file, and {reason}", code="not_parquet")


def _header_bytes(path: Path | Frame) -> bytes | None:
    """The unparsed header of a file, folder or frame; at most one byte more than allowed."""
    if isinstance(path, Frame):
        content: bytes | None = (path.table.schema.metadata or {}).get(b"nomadp")
        return content
    if not path.is_dir():
        check_readable(path)
        if is_parquet(path):
            from nomadp.formats.parquet_files import read_metadata

            return read_metadata(path)
    try:
        header = path / HEADER_NAME if path.is_dir() else meta_path(path)
        if not header.exists():
            return None
        with header.open("rb") as file:
            return file.read(BYTES_MAX + 1)
    except (OSError, ValueError):
        pass
    raise SchemaError(
        f"the metadata of {path} must be readable, but is not", code="metadata_unreadable"
    )
