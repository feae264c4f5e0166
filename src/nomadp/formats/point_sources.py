"""Reading points of any format, which a preset, the content or the suffix identifies.

If several files use the same names, trajectories are numbered. Exports of a person's own
trajectories (`imports`) are identified by their content, also inside zip and gzip, and split at
gaps. Tables have no signature, so their suffix identifies them. Errors name rows by their line
and never quote the file.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from errno import ENOENT
from os import PathLike
from pathlib import Path
from typing import Any

from nomadp.errors import DomainError, SchemaError
from nomadp.formats.archives import ByteSource, file_source, is_zip, unpacked, zip_entries
from nomadp.formats.arrow_objects import ArrowObject, Frame, Source, as_frame
from nomadp.formats.checkin_files import LAYOUTS, read_checkins
from nomadp.formats.columns import Table, Text, Times, local_times
from nomadp.formats.detection import detect_kind
from nomadp.formats.files import READABLE as TABLES
from nomadp.formats.frame_points import read_frame_points, read_nested_points
from nomadp.formats.geojson_points import read_geojson_points
from nomadp.formats.imports import read_import
from nomadp.formats.location_files import read_locations
from nomadp.formats.points import Points
from nomadp.formats.presets import Reading
from nomadp.formats.table_points import points_of, read_table_points
from nomadp.formats.track_points import read_geolife_points, read_gpx_points, read_porto_points
from nomadp.formats.unreadable import BadRows, Unreadable
from nomadp.locations import LocationSet

__all__ = [
    "GEOJSON",
    "LOCATIONS",
    "OUTPUTS",
    "SPLIT_HOURS",
    "TRAJECTORIES",
    "Paths",
    "read_any_points",
    "read_points",
]

log = logging.getLogger(__name__)

GEOJSON = (".geojson", ".json")
LOCATIONS, TRAJECTORIES = "locations.csv", "trajectories.csv"  # of a folder that was built
OUTPUTS = (*TABLES, *GEOJSON)
READABLE = (*OUTPUTS, ".gpx")
PARQUET = (".parquet", ".geoparquet")
SPLIT_HOURS = 3.0
"""By default, longer gaps split an export, which may cover months."""
VALUE_CODES = ("no_places", "raw_only", "too_large")
"""Codes of errors that depend on the values in a file, not on its format."""
FATAL_CODES = ("bomb", "damaged_archive", "locked_archive")
"""If a file inside an archive has one of these errors, the whole archive is rejected."""

Paths = Source | Sequence[Source]
"""One file, folder or frame, or several that are read together."""


def read_points(
    paths: Paths, reading: Reading | None = None, locations: LocationSet | None = None
) -> Points:
    """Read points from files, folders of files, or folders made by `nomadp data build`.

    `locations` gives coordinates to rows that only have a location id.
    """
    points = _read_all(paths, reading or Reading(), locations)
    if points is None:
        raise DomainError(
            "at least one trajectory must have 2 stops, got none; use a larger radius or a "
            "shorter minimum time, or omit --stops",
            code="no_stops",
        )
    return points


def read_any_points(paths: Paths, reading: Reading) -> Points | None:
    """Read points on a person's device. None if no value is usable.

    Only the format can raise an error. Unusable values drop their point or its time
    (`ReadOptions.lenient`). A point may have only a location id: the task, which knows the
    coordinates, is not known yet.
    """
    options = replace(reading.options, lenient=True, hours=True)
    return _read_all(paths, replace(reading, options=options), None)


def _read_all(paths: Paths, reading: Reading, locations: LocationSet | None) -> Points | None:
    is_single = isinstance(paths, str | PathLike | ArrowObject)
    sources: Any = [paths] if is_single else paths
    files = [file for source in sources for file in _frame_or_files(source, reading)]
    if not files:
        raise SchemaError("at least one file must be given, got none", code="no_files")
    parts = [_read_leniently(reading, _read, file, reading, locations) for file in files]
    return _joined(parts, lenient=reading.options.lenient)


def _read_leniently(
    reading: Reading, read: Callable[..., Points | None], *arguments: Any
) -> Points | None:
    """Read points. A lenient reader gets None for a known format without usable values."""
    try:
        return read(*arguments)
    except (BadRows, Unreadable) as refusal:
        is_format_error = isinstance(refusal, Unreadable) and refusal.code not in VALUE_CODES
        if is_format_error or not reading.options.lenient:
            raise
    log.info(f"{arguments[0]}: no usable values")
    return None


def _joined(parts: Sequence[Points | None], *, lenient: bool) -> Points | None:
    present = [part for part in parts if part is not None]
    return Points.joined(_same_columns(present) if lenient else present) if present else None


def _same_columns(parts: Sequence[Points]) -> list[Points]:
    """The parts with equal columns, so that a device can join files of different kinds."""
    is_named = any(part.location_ids is not None for part in parts)
    return [
        replace(part, uids=None, location_ids=part.location_ids or ("",) * len(part))
        if is_named
        else replace(part, uids=None)
        for part in parts
    ]


def _frame_or_files(source: Source, reading: Reading) -> list[Any]:
    """A frame unchanged; for a path, the files at it."""
    frame = as_frame(source)
    return _files(Path(source), reading) if frame is None else [frame]  # type: ignore[arg-type]


def _files(path: Path, reading: Reading) -> list[Path]:
    """The files to read at a path: itself, or the files of a folder that we did not build."""
    if not path.exists():
        raise SchemaError(
            f"{path} cannot be read: No such file or directory",
            code="file_unreadable",
            errno=ENOENT,
        )
    if not path.is_dir() or reading.preset == "geolife" or (path / TRAJECTORIES).exists():
        return [path]
    files = [file for file in sorted(path.rglob("*")) if file.is_file()]
    visible = [file for file in files if file.name[0] not in "._"]
    readable = [file for file in visible if _is_readable(file)]
    if not readable:
        raise SchemaError(
            f"{path} must contain {TRAJECTORIES}, files that end in {', '.join(READABLE)}, or "
            "exports of trajectories, got none of these",
            code="no_readable_files",
        )
    if len(readable) < len(visible):
        log.info(f"{path}: ignored {len(visible) - len(readable)} of {len(visible)} files")
    return readable


def _is_readable(file: Path) -> bool:
    """Whether we can read a file, by its name or, for JSON and unknown names, its content."""
    if file.name.endswith((*TABLES, ".gpx")):
        return True
    source = file_source(file)
    if is_zip(source.head()):
        return True
    try:
        return detect_kind(unpacked(source)) is not None
    except Unreadable as refusal:
        # Damaged JSON raises an error later, when it is read. Other files are ignored.
        return file.name.endswith(GEOJSON) and refusal.code in ("not_json", "not_utf8")


def _read(file: Path | Frame, reading: Reading, locations: LocationSet | None) -> Points | None:
    if isinstance(file, Frame):
        return _thinned(read_frame_points(file, reading, locations), reading)
    if reading.preset in LAYOUTS:
        return _thinned(_read_checkin_points(file, reading), reading)
    if reading.preset == "porto":
        return _thinned(read_porto_points(file, reading.options), reading)
    if reading.preset == "geolife":
        return _thinned(read_geolife_points(file, reading.options), reading)
    if file.is_dir():
        places = read_locations(file / LOCATIONS)
        return _thinned(read_table_points(file / TRAJECTORIES, reading, places), reading)
    if not file.name.endswith(PARQUET):
        source = file_source(file, reading.options.progress)
        if is_zip(source.head()):
            return _read_archive(file, reading)
        if kind := _kind(file):
            return _read_kind(unpacked(source), kind, reading)
    return _thinned(_read_table(file, reading, locations), reading)


def _kind(path: Path) -> str | None:
    """The kind of a file by its content or, without a signature, by its suffix."""
    try:
        kind = detect_kind(unpacked(file_source(path)))
    except Unreadable:
        kind = None
        if not path.name.endswith((*TABLES, ".gpx")):
            raise
    if kind is None and path.suffix == ".gpx":
        return "gpx"
    return "geojson" if kind is None and path.name.endswith(GEOJSON) else kind


def _read_kind(source: ByteSource, kind: str, reading: Reading) -> Points | None:
    if kind == "geojson":
        return _thinned(read_geojson_points(source, reading), reading)
    if kind == "gpx":
        reading.check_columns(source.label, ())
        return _thinned(read_gpx_points(source, reading.options), reading)
    points = read_import(source, kind, reading)
    return _thinned(points, reading, None if points.moment_us is None else SPLIT_HOURS)


def _thinned(
    points: Points, reading: Reading, default_hours: float | None = None
) -> Points | None:
    """Split points at gaps and thin them, as the options say."""
    hours = default_hours if reading.split_hours is None else reading.split_hours
    if hours is not None and reading.split_hours is None:
        log.info(
            f"a new trajectory starts after a gap of more than {hours:g} h (--split-hours)"
        )
    always = reading.options.lenient
    if always:
        points = _usable(points, reading)
        hours = None if points.moment_us is None else hours
    if not reading.thinning:
        return points if hours is None else points.split(hours)
    thinned = reading.thinning.of(points, hours, always=always)
    left = "none" if thinned is None else f"{len(thinned)} in {len(thinned.tids)} trajectories"
    log.info(f"thinned {len(points)} points to {left} by the rule {reading.thinning}")
    return thinned


def _usable(points: Points, reading: Reading) -> Points:
    usable = points.usable(by_place=reading.thinning.by_place)
    if len(usable) < len(points):
        log.info(f"{len(points) - len(usable)} of {len(points)} points are unusable")
    return usable


def _read_archive(path: Path, reading: Reading) -> Points | None:
    """Read all supported files in a zip file. The log counts the others."""
    kinds: dict[ByteSource, str] = {}
    errors = []
    entries = zip_entries(path)
    for entry in entries:
        try:
            source = unpacked(entry)
            if kind := detect_kind(source):
                kinds[source] = kind
        except Unreadable as error:
            if error.code in FATAL_CODES:
                raise
            errors.append(error)
    if not kinds:
        raise (
            errors[0]
            if len(entries) == 1 and errors
            else Unreadable(path, code="empty_archive")
        )
    if "records" in kinds.values():
        # The months in an archive contain the same trajectories again.
        kinds = {source: kind for source, kind in kinds.items() if kind != "month"}
    log.info(f"{path}: read {len(kinds)} of {len(entries)} files")
    parts = [
        _read_leniently(reading, _read_kind, source, kind, reading)
        for source, kind in kinds.items()
    ]
    return _joined(parts, lenient=reading.options.lenient)


def _read_table(file: Path, reading: Reading, locations: LocationSet | None) -> Points:
    if not file.name.endswith(TABLES):
        raise SchemaError(
            f"{file} must be an export of trajectories or end in {', '.join(READABLE)}, but "
            "its format is unknown; select the preset of its program with --from",
            code="unknown_format",
        )
    if (points := read_nested_points(file, reading, locations)) is None:
        return read_table_points(file, reading, locations)
    reading.check_columns(file, ())
    return points


def _read_checkin_points(path: Path, reading: Reading) -> Points:
    options = reading.options
    checkins = read_checkins(path, reading.preset, progress=options.progress)
    moment_us = checkins.moment_us
    lines = ", ".join(map(str, checkins.malformed_lines))
    log.info(
        f"{path}: read the columns of {reading.preset}; each user has one trajectory; dropped "
        f"{checkins.malformed} of {checkins.rows} rows as malformed"
        + (f", the first in lines {lines}" if lines else "")
    )
    column = {
        "uid": Text(checkins.uid, checkins.user_ids),
        "datetime": Times(
            moment_us,
            are_positions=False,
            local_us=local_times(moment_us, options) if options.hours else None,
        ),
        "lat": checkins.lat,
        "lng": checkins.lng,
        "location_id": Text(checkins.place, checkins.place_ids),
    }
    return points_of(Table(str(path), len(checkins.uid), column, lambda row: f"row {row + 1}"))
