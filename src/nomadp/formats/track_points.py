"""Points of tracks in formats other than tables: GPX 1.0 and 1.1, Porto's taxis, and Geolife.

Every track segment of GPX is a trajectory; the file is read as a stream. Porto (ECML/PKDD 2015)
has one polyline per row with a point every 15 s. Geolife has a folder per user with a .plt file
per trajectory, and times in GMT. Names of trips and files contain times and taxis, so they are
not read: trajectories are numbered.
"""

import json
import logging
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import SchemaError
from nomadp.formats.archives import ByteSource
from nomadp.formats.columns import (
    BadValue,
    Kind,
    Moments,
    ReadOptions,
    Table,
    Text,
    degrees,
    local_times,
    row_attribute,
)
from nomadp.formats.files import read_table, require_columns
from nomadp.formats.points import Points, number_names
from nomadp.formats.unreadable import REASONS, BadContent, BadRows
from nomadp.formats.xml_stream import XmlStream
from nomadp.geometry import Floats

__all__ = ["read_geolife_points", "read_gpx_points", "read_porto_points"]

log = logging.getLogger(__name__)

PORTO = {"TAXI_ID": Kind.TEXT, "TIMESTAMP": Kind.WHOLE, "POLYLINE": Kind.TEXT}
PORTO_STEP_US = 15_000_000  # between two points of a polyline
PLT_HEADER_LINES = 6
PLT_FIELDS = 7
LAT, LNG, DATE, TIME = 0, 1, 5, 6


def read_gpx_points(source: ByteSource, options: ReadOptions) -> Points:
    """Read the tracks. Segments are numbered, because the names of tracks are private."""
    track = _Track(lenient=options.lenient)
    try:
        with source.open() as file:
            for _ in track.feed(file):
                pass
    except BadContent as bad:
        facts: Any = {"code": bad.code, "line": track.line}
        reason = f"line {track.line}: {REASONS[bad.code]}"
    except BadValue as bad:
        facts = {**bad.facts, "line": bad.row}
        reason = f"line {bad.row}: {bad.rule}"
    else:
        return _gpx_points(source, track, options)
    raise SchemaError(f"{source}: {reason}", **facts)


class _Track(XmlStream):
    """The track points read so far."""

    def __init__(self, *, lenient: bool) -> None:
        super().__init__()
        self._lenient = lenient
        self.lat: list[str] = []
        self.lng: list[str] = []
        self.times: list[str] = []
        self.lines: list[int] = []
        self.lengths: list[int] = []
        self.n_other_points = 0  # waypoints and points of routes

    def start(self, name: str, attributes: dict[str, str]) -> bool:
        if not self.open and name != "gpx":
            raise BadValue(self.line, "must be GPX, but it is other XML", code="not_gpx")
        if name == "trkseg":
            self.lengths.append(0)
        elif name == "trkpt":
            self._point(attributes)
        elif name in ("wpt", "rtept"):
            self.n_other_points += 1
        return name == "time" and self.open[-1] == "trkpt"

    def _point(self, attributes: dict[str, str]) -> None:
        is_complete = bool(self.lengths) and {"lat", "lon"} <= attributes.keys()
        if not (is_complete or self._lenient):
            raise BadValue(
                self.line,
                "a trkpt must be in a trkseg and have lat and lon, got one that is not",
                code="incomplete_track_point",
            )
        if not self.lengths:
            self.lengths.append(0)
        self.lengths[-1] += 1
        self.lat.append(attributes.get("lat", ""))
        self.lng.append(attributes.get("lon", ""))
        self.times.append("")
        self.lines.append(self.line)

    def end(self, name: str, text: str) -> None:
        if name == "time" and self.open[-1] == "trkpt":
            self.times[-1] = text.strip()


def _gpx_points(path: ByteSource, track: _Track, options: ReadOptions) -> Points:
    lengths = [length for length in track.lengths if length]
    if not lengths:
        raise BadRows(
            f"{path} must have at least one track point (trkpt), got none", code="no_points"
        )
    moments = Moments(options, optional=True)
    try:
        lat, lng = degrees(track.lat, track.lng, lenient=options.lenient)
        times = moments.times(moments.add(track.times))
    except BadValue as bad:
        row, rule, facts = bad.row, bad.rule, bad.facts
    else:
        n_empty = len(track.lengths) - len(lengths)
        # A folder may have hundreds of files, so only unusual ones are logged.
        if n_empty or track.n_other_points:
            log.info(
                f"{path}: {len(lengths)} track segments are trajectories; ignored {n_empty} "
                f"empty segments and {track.n_other_points} points of routes and waypoints"
            )
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        moment_us = None if times is None or times.are_positions else times.values
        points = Points(offsets, lat, lng, number_names(len(lengths)), moment_us=moment_us)
        return replace(points, local_us=None if times is None else times.local_us)
    line = track.lines[row]
    raise BadRows(f"{path}: line {line}: lat, lon or time {rule}", line=line, **facts)


def read_porto_points(path: Path, options: ReadOptions) -> Points:
    """Read Porto's trips, with TAXI_ID as uid. Trips without positions are dropped."""
    table = read_table(path, lambda header: require_columns(path, header, PORTO), options)
    lines = _polylines(table)
    lengths = np.array([len(line) for line in lines])
    rows = np.flatnonzero(lengths)
    log.info(
        f"{path}: read TAXI_ID as uid, TIMESTAMP plus 15 s per point as datetime, and POLYLINE "
        f"as lng and lat; trips are numbered; dropped {len(lines) - len(rows)} of {len(lines)} "
        "trips without a position"
    )
    if not len(rows):
        raise BadRows(
            f"{path} must have at least one trip with a position, got none",
            code="no_points",
        )
    lng, lat = np.array([position for line in lines for position in line], np.float64).T
    offsets = np.concatenate([[0], np.cumsum(lengths[rows])])
    seq = np.arange(len(lng)) - np.repeat(offsets[:-1], lengths[rows])
    start_us = np.repeat(table.column["TIMESTAMP"][rows] * 1_000_000, lengths[rows])
    uid = table.column["TAXI_ID"].at(rows)
    moment_us = start_us + seq * PORTO_STEP_US
    points = Points(offsets, lat, lng, number_names(len(rows)), uid, moment_us)
    return (
        replace(points, local_us=local_times(moment_us, options)) if options.hours else points
    )


def _polylines(table: Table) -> list[list[Any]]:
    text: Text = table.column["POLYLINE"]
    parsed = [_polyline(value) for value in text.values]
    if None in parsed:
        bad_code = parsed.index(None)
        row = int(np.flatnonzero(text.codes == bad_code)[0])
        row_label = table.row_label(row)
        raise BadRows(
            f"{table.path}: {row_label}: POLYLINE must be a list of [longitude, latitude], got "
            "another value",
            code="not_a_polyline",
            column="POLYLINE",
            **row_attribute(row_label),
        )
    return [parsed[code] or [] for code in text.codes]


def _polyline(value: str) -> list[Any] | None:
    try:
        line = json.loads(value)
    except (ValueError, RecursionError):
        return None
    is_valid = isinstance(line, list) and all(_is_position(position) for position in line)
    return line if is_valid else None


def _is_position(position: Any) -> bool:
    if not isinstance(position, list) or len(position) != 2:
        return False
    lng, lat = position
    is_numeric = all(isinstance(n, int | float) and not isinstance(n, bool) for n in position)
    return is_numeric and -180 <= lng <= 180 and -90 <= lat <= 90


def read_geolife_points(path: Path, options: ReadOptions) -> Points:
    """Read a .plt file, or a folder with USER/Trajectory/*.plt at any depth."""
    files = sorted(path.rglob("*.plt")) if path.is_dir() else [path]
    if not files:
        raise SchemaError(f"{path} must contain .plt files, got none", code="no_readable_files")
    log.info(
        f"{path}: read columns 1 and 2 as lat and lng, 6 and 7 as datetime in GMT, and the "
        f"folder above Trajectory as uid; trajectories are numbered; {len(files)} files"
    )
    pieces = []
    for k, file in enumerate(files):
        pieces.append(_read_plt(file))
        if options.progress is not None:
            options.progress(k + 1, len(files))
    lat, lng, moment_us = (np.concatenate(column) for column in zip(*pieces, strict=True))
    points = Points(
        np.concatenate([[0], np.cumsum([len(piece[0]) for piece in pieces])]),
        lat,
        lng,
        number_names(len(files)),
        tuple(_user(file) for file in files),
        moment_us,
    )
    return (
        replace(points, local_us=local_times(moment_us, options)) if options.hours else points
    )


def _user(file: Path) -> str:
    parent = file.resolve().parent
    return parent.parent.name if parent.name == "Trajectory" else parent.name


def _read_plt(file: Path) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """The latitudes, longitudes and moments of one file, in order of time."""
    try:
        lines = file.read_text(encoding="latin-1").splitlines()[PLT_HEADER_LINES:]
    except OSError as error:
        raise SchemaError(
            f"{file} cannot be read: {error.strerror or error}",
            code="file_unreadable",
            errno=error.errno,
        ) from error
    rows = [line.split(",") for line in lines if line.strip()]
    if not rows:
        raise BadRows(
            f"{file} must have points after its {PLT_HEADER_LINES} header lines, got none",
            code="no_points",
        )
    try:
        wrong_width = [k for k, row in enumerate(rows) if len(row) != PLT_FIELDS]
        if wrong_width:
            raise BadValue(
                wrong_width[0],
                f"must have {PLT_FIELDS} fields, got {len(rows[wrong_width[0]])}",
                code="wrong_field_count",
                fields=len(rows[wrong_width[0]]),
                expected=PLT_FIELDS,
            )
        lat, lng = degrees([row[LAT] for row in rows], [row[LNG] for row in rows])
        moment_us = Moments(ReadOptions(UTC)).add([f"{row[DATE]}T{row[TIME]}" for row in rows])
    except BadValue as bad:
        row, rule, facts = bad.row, bad.rule, bad.facts
    else:
        order = np.argsort(moment_us, kind="stable")
        return lat[order], lng[order], moment_us[order]
    line = PLT_HEADER_LINES + 1 + row
    raise BadRows(f"{file}: line {line}: {rule}", line=line, **facts)
