"""One way to read points, whatever the format: by a preset, by content, or by suffix.

Trajectories of several files are told apart by number. What a person exported (`imports`) is
known by its content, also inside zip and gzip, and is split at gaps; tables have no signature,
so their suffix says what they are. No refusal quotes a file: rows are named by line.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from errno import ENOENT
from os import PathLike
from pathlib import Path
from typing import Any

from nomadp.errors import DomainError, SchemaError
from nomadp.formats.archives import ByteSource, file_source, inside, is_zip, unpacked
from nomadp.formats.arrow_objects import ArrowObject, Frame, Source, framed
from nomadp.formats.checkin_files import LAYOUTS, read_checkins
from nomadp.formats.columns import Table, Text, Times, clocks
from nomadp.formats.detection import detected
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
"""A history of months is no journey: gaps longer than this split it, by default."""
VALUES = ("no_places", "raw_only", "too_large")
"""Of a file of a known form, what only its values decide: what they are, or how many."""
FATAL = ("bomb", "damaged_archive", "locked_archive")
"""Of a file inside an archive, what is not passed over."""

Paths = Source | Sequence[Source]
"""Of one file, folder or frame, or of several that are read together."""


def read_points(
    paths: Paths, reading: Reading | None = None, locations: LocationSet | None = None
) -> Points:
    """Points of files, of folders of files, and of folders that `nomadp data build` made.

    `locations` gives coordinates to rows that only name a place.
    """
    points = _read_all(paths, reading or Reading(), locations)
    if points is None:
        raise DomainError(
            "at least one journey must have 2 stops, and none has; allow a larger radius or a "
            "shorter stay, or leave --stops out",
            code="no_stops",
        )
    return points


def read_any_points(paths: Paths, reading: Reading) -> Points | None:
    """What a person's device reads: refused by its form alone, None if nothing is of use.

    Values that cannot be used leave out their point or its time (`Wishes.lenient`). A place
    may be known by a name only, for the task, which has its coordinates, is not known yet.
    """
    wishes = replace(reading.wishes, lenient=True, hours=True)
    return _read_all(paths, replace(reading, wishes=wishes), None)


def _read_all(paths: Paths, how: Reading, locations: LocationSet | None) -> Points | None:
    one = isinstance(paths, str | PathLike | ArrowObject)
    listed: Any = [paths] if one else paths
    files = [file for source in listed for file in _framed_or_files(source, how)]
    if not files:
        raise SchemaError(
            "at least one file must be named to be read, got none", code="no_files"
        )
    parts = [_lenient(how, _read, file, how, locations) for file in files]
    return _joined(parts, lenient=how.wishes.lenient)


def _lenient(how: Reading, read: Callable[..., Points | None], *given: Any) -> Points | None:
    """What is read; None where a lenient reader is given a known form without usable values."""
    try:
        return read(*given)
    except (BadRows, Unreadable) as refusal:
        is_form = isinstance(refusal, Unreadable) and refusal.code not in VALUES
        if is_form or not how.wishes.lenient:
            raise
    log.info(f"nothing in {given[0]} can be used")
    return None


def _joined(parts: Sequence[Points | None], *, lenient: bool) -> Points | None:
    found = [part for part in parts if part is not None]
    return Points.joined(_alike(found) if lenient else found) if found else None


def _alike(parts: Sequence[Points]) -> list[Points]:
    """A device reads files together whichever of them has columns that others have not."""
    is_named = any(part.location_ids is not None for part in parts)
    return [
        replace(part, uids=None, location_ids=part.location_ids or ("",) * len(part))
        if is_named
        else replace(part, uids=None)
        for part in parts
    ]


def _framed_or_files(source: Source, how: Reading) -> list[Any]:
    """A frame as it is; of a path, the files that are there."""
    frame = framed(source)
    return _files(Path(source), how) if frame is None else [frame]  # type: ignore[arg-type]


def _files(path: Path, how: Reading) -> list[Path]:
    """What is to be read at a path: itself, or the files of a folder that is none of ours."""
    if not path.exists():
        raise SchemaError(
            f"{path} cannot be read: No such file or directory",
            code="file_unreadable",
            errno=ENOENT,
        )
    if not path.is_dir() or how.preset == "geolife" or (path / TRAJECTORIES).exists():
        return [path]
    inside = [file for file in sorted(path.rglob("*")) if file.is_file()]
    visible = [file for file in inside if file.name[0] not in "._"]
    found = [file for file in visible if _is_readable(file)]
    if not found:
        raise SchemaError(
            f"{path} must hold {TRAJECTORIES} or files that end in {', '.join(READABLE)} or "
            "are exports of journeys, and holds none",
            code="no_readable_files",
        )
    if len(found) < len(visible):
        log.info(f"{path}: {len(visible) - len(found)} of {len(visible)} files are not read")
    return found


def _is_readable(file: Path) -> bool:
    """By its name; of other files and of JSON, by its content."""
    if file.name.endswith((*TABLES, ".gpx")):
        return True
    source = file_source(file)
    if is_zip(source.head()):
        return True
    try:
        return detected(unpacked(source)) is not None
    except Unreadable as refusal:
        # What is damaged is refused when it is read; what is something else is passed over.
        return file.name.endswith(GEOJSON) and refusal.code in ("not_json", "not_utf8")


def _read(found: Path | Frame, how: Reading, locations: LocationSet | None) -> Points | None:
    if isinstance(found, Frame):
        return _shaped(read_frame_points(found, how, locations), how)
    if how.preset in LAYOUTS:
        return _shaped(_checkins(found, how), how)
    if how.preset == "porto":
        return _shaped(read_porto_points(found, how.wishes), how)
    if how.preset == "geolife":
        return _shaped(read_geolife_points(found, how.wishes), how)
    if found.is_dir():
        world = read_locations(found / LOCATIONS)
        return _shaped(read_table_points(found / TRAJECTORIES, how, world), how)
    if not found.name.endswith(PARQUET):
        source = file_source(found, how.wishes.progress)
        if is_zip(source.head()):
            return _archived(found, how)
        if kind := _kind(found):
            return _known(unpacked(source), kind, how)
    return _shaped(_table(found, how, locations), how)


def _kind(path: Path) -> str | None:
    """By content; where that has no signature or is damaged, a suffix may say more."""
    try:
        kind = detected(unpacked(file_source(path)))
    except Unreadable:
        kind = None
        if not path.name.endswith((*TABLES, ".gpx")):
            raise
    if kind is None and path.suffix == ".gpx":
        return "gpx"
    return "geojson" if kind is None and path.name.endswith(GEOJSON) else kind


def _known(source: ByteSource, kind: str, how: Reading) -> Points | None:
    if kind == "geojson":
        return _shaped(read_geojson_points(source, how), how)
    if kind == "gpx":
        how.check_columns(source.label, ())
        return _shaped(read_gpx_points(source, how.wishes), how)
    points = read_import(source, kind, how)
    return _shaped(points, how, None if points.moment_us is None else SPLIT_HOURS)


def _shaped(points: Points, how: Reading, usual_hours: float | None = None) -> Points | None:
    """Split at gaps and thinned, as was asked for."""
    hours = usual_hours if how.split_hours is None else how.split_hours
    if hours is not None and how.split_hours is None:
        log.info(f"a new journey begins after a gap of more than {hours:g} h (--split-hours)")
    always = how.wishes.lenient
    if always:
        points = _usable(points, how)
        hours = None if points.moment_us is None else hours
    if not how.thinning:
        return points if hours is None else points.split(hours)
    found = how.thinning.of(points, hours, always=always)
    left = "nothing" if found is None else f"{len(found)} in {len(found.tids)} journeys"
    log.info(f"{len(points)} points are thinned to {left} by the rule {how.thinning}")
    return found


def _usable(points: Points, how: Reading) -> Points:
    found = points.usable(by_place=how.thinning.by_place)
    if len(found) < len(points):
        log.info(f"{len(points) - len(found)} of {len(points)} points cannot be used")
    return found


def _archived(path: Path, how: Reading) -> Points | None:
    """The files of a zip file that are read here; others are counted."""
    kinds: dict[ByteSource, str] = {}
    refusals = []
    listed = inside(path)
    for packed in listed:
        try:
            source = unpacked(packed)
            if kind := detected(source):
                kinds[source] = kind
        except Unreadable as refusal:
            if refusal.code in FATAL:
                raise
            refusals.append(refusal)
    if not kinds:
        raise (
            refusals[0]
            if len(listed) == 1 and refusals
            else Unreadable(path, code="empty_archive")
        )
    if "records" in kinds.values():
        # The months of an archive tell the same journeys once more.
        kinds = {source: kind for source, kind in kinds.items() if kind != "month"}
    log.info(f"{path}: {len(kinds)} of {len(listed)} files inside are read")
    parts = [_lenient(how, _known, *each, how) for each in kinds.items()]
    return _joined(parts, lenient=how.wishes.lenient)


def _table(found: Path, how: Reading, locations: LocationSet | None) -> Points:
    if not found.name.endswith(TABLES):
        raise SchemaError(
            f"{found} must be an export of journeys or end in {', '.join(READABLE)}, and its "
            "format is not recognised; name the preset of its program with --from",
            code="unknown_format",
        )
    if (whole := read_nested_points(found, how, locations)) is None:
        return read_table_points(found, how, locations)
    how.check_columns(found, ())
    return whole


def _checkins(path: Path, reading: Reading) -> Points:
    read = read_checkins(path, reading.preset, progress=reading.wishes.progress)
    lines = ", ".join(map(str, read.malformed_lines))
    log.info(
        f"{path}: its columns are those of {reading.preset}; each user has one trajectory; "
        f"{read.malformed} of {read.rows} rows are malformed and left out"
        + (f", the first on lines {lines}" if lines else "")
    )
    column = {
        "uid": Text(read.uid, read.user_ids),
        "datetime": Times(
            read.moment_us,
            are_positions=False,
            local_us=clocks(read.moment_us, reading.wishes) if reading.wishes.hours else None,
        ),
        "lat": read.lat,
        "lng": read.lng,
        "location_id": Text(read.place, read.place_ids),
    }
    return points_of(Table(str(path), len(read.uid), column, lambda row: f"row {row + 1}"))
