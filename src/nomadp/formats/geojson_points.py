"""Points in GeoJSON (RFC 7946): one LineString per trajectory, or one Point per point.

The property `times` has one time per position. `coordTimes` and a fourth coordinate (seconds
since 1970, as in the trip files of deck.gl) are also supported. A Point with neither datetime
nor seq is a trajectory of one point.
"""

import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nomadp.formats.archives import ByteSource
from nomadp.formats.columns import (
    BadValue,
    ColumnReader,
    Moments,
    Table,
    Times,
    local_times,
    offset_texts,
)
from nomadp.formats.json_files import feature, features, write_features
from nomadp.formats.points import Points, concatenated, number_names
from nomadp.formats.presets import KINDS, Reading
from nomadp.formats.table_points import points_of
from nomadp.formats.unreadable import BadRows

__all__ = ["read_geojson_points", "write_geojson_points"]

log = logging.getLogger(__name__)

Feature = Mapping[str, Any]

TIMES = ("times", "coordTimes")
FINITE = 1e308  # just below the largest float
LATEST_S = 2.5e11
"""In the year 9892, below the last year that a datetime can have."""


def read_geojson_points(path: ByteSource, reading: Reading) -> Points:
    """Read points from GeoJSON. The preset and column map apply to the features' properties."""
    collection = features(path)
    try:
        if _is_point_by_point(collection, reading):
            return _by_point(path, collection, reading)
        return _by_trajectory(path, collection, reading)
    except BadValue as bad:
        row, rule, facts = bad.row, bad.rule, bad.facts
    raise BadRows(f"{path}: feature {row + 1}: {rule}", feature=row + 1, **facts)


def _is_point_by_point(collection: Sequence[Feature], reading: Reading) -> bool:
    file_names = reading.theirs()
    time_columns = {file_names[name] for name in ("datetime", "seq") if name in file_names}
    has_time = [bool(time_columns & feature["properties"].keys()) for feature in collection]
    is_line = [feature["geometry"].get("type") != "Point" for feature in collection]
    if any(has_time) and any(is_line):
        raise BadValue(
            is_line.index(True),
            "must be a Point like the features with a time; do not mix Points and LineStrings",
            code="mixed_features",
        )
    return any(has_time)


def _by_point(path: ByteSource, collection: Sequence[Feature], reading: Reading) -> Points:
    header = _header(collection, reading)
    columns = reading.mapping(path.label, header, where=[set()])
    for ours in ("lat", "lng", "geometry"):
        columns.pop(ours, None)
    column: dict[str, Any] = {}
    for ours, theirs in columns.items():
        reader = ColumnReader(KINDS[ours], reading.options)
        reader.add(_texts(collection, theirs, reading))
        column[ours] = reader.column()
    lenient = reading.options.lenient
    shapes = [_positions(k, f, lenient=lenient) for k, f in enumerate(collection)]
    lng_lat = np.array([shape[0][:2] for shape in shapes], dtype=np.float64)
    column["lng"], column["lat"] = lng_lat.T
    table = Table(str(path), len(collection), column, lambda row: f"feature {row + 1}")
    return points_of(table, lenient=lenient)


def _by_trajectory(path: ByteSource, collection: Sequence[Feature], reading: Reading) -> Points:
    names = reading.theirs()
    header = _header(collection, reading)
    reading.check_columns(path.label, header)
    lenient = reading.options.lenient
    shapes = [_positions(k, f, lenient=lenient) for k, f in enumerate(collection)]
    tid, uid = (
        _texts(collection, names[name], reading) if names.get(name) in header else None
        for name in ("tid", "uid")
    )
    name_source = "its number" if tid is None else f"its {names['tid']}"
    user_source = "no user ids" if uid is None else f"user ids from {names['uid']}"
    log.info(f"{path}: each feature is a trajectory, named by {name_source}; {user_source}")
    pairs = [position[:2] for shape in shapes for position in shape]
    lng_lat = np.array(pairs, dtype=np.float64)
    lengths = [len(shape) for shape in shapes]
    out_of_range = (np.abs(lng_lat) > (180, 90)).any(axis=1)
    if out_of_range.any() and not lenient:
        owner = np.repeat(np.arange(len(lengths)), lengths)
        raise BadValue(
            int(owner[out_of_range.argmax()]),
            "must be in degrees of longitude and latitude, but it is not",
            code="not_degrees",
        )
    times = _joined(collection, lambda k, f: _times(k, f, shapes[k], reading), _joined_times)
    return Points(
        np.concatenate([[0], np.cumsum(lengths)]),
        lng_lat[:, 1],
        lng_lat[:, 0],
        tid or number_names(len(collection)),
        uid,
        times and times.values,
        _joined(collection, lambda k, f: _location_ids(k, f, len(shapes[k])), concatenated),
        times and times.local_us,
    )


def _header(collection: Sequence[Feature], reading: Reading) -> list[str]:
    """The property names of the first feature or, for a lenient reader, of all features."""
    sources = collection if reading.options.lenient else collection[:1]
    return list(dict.fromkeys(name for feature in sources for name in feature["properties"]))


def _texts(collection: Sequence[Feature], name: str, reading: Reading) -> tuple[str, ...]:
    """One property of all features, as text."""
    if reading.options.lenient:
        values = [feature["properties"].get(name) for feature in collection]
        return tuple(str(value) if _is_text(value) else "" for value in values)
    return tuple(_text(k, f["properties"].get(name), name) for k, f in enumerate(collection))


def _text(row: int, value: Any, name: str) -> str:
    if not _is_text(value):
        raise BadValue(
            row, f"{name} must be text or a whole number", code="not_text", column=name
        )
    return str(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def _positions(row: int, feature: Feature, *, lenient: bool) -> list[list[float]]:
    """The positions of a Point or a LineString."""
    kind, coordinates = feature["geometry"].get("type"), feature["geometry"].get("coordinates")
    if kind not in ("Point", "LineString"):
        raise BadValue(
            row,
            "must be a Point or a LineString, got another geometry; split it first",
            code="wrong_geometry",
        )
    positions = [coordinates] if kind == "Point" else coordinates
    if not isinstance(positions, list) or not positions:
        raise BadValue(row, "must have coordinates, got none", code="coordinates_missing")
    if lenient:
        return [p if _is_position(p) else [math.nan, math.nan] for p in positions]
    if not all(map(_is_position, positions)):
        raise BadValue(
            row,
            "must have positions of at least two finite numbers, got others",
            code="not_a_position",
        )
    return positions


def _is_position(value: Any) -> bool:
    return isinstance(value, list) and len(value) >= 2 and all(map(_is_finite, value))


def _is_finite(number: Any) -> bool:
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    return is_number and -FINITE < number < FINITE  # also of whole numbers beyond any float


def _times(
    row: int, feature: Feature, positions: list[list[float]], reading: Reading
) -> Times | None:
    """The times of a feature's positions; None if it has no times."""
    name = next((name for name in TIMES if name in feature["properties"]), None)
    if name is None:
        if any(len(position) < 4 for position in positions):
            return None
        seconds = np.array([position[3] for position in positions], dtype=np.float64)
        if np.abs(seconds).max() > LATEST_S:
            raise BadValue(
                row,
                "the fourth coordinate must be seconds since 1970, got a number out of range",
                code="not_a_moment",
            )
        moment_us = np.round(seconds * 1e6).astype(np.int64)
        local_us = local_times(moment_us, reading.options) if reading.options.hours else None
        return Times(moment_us, are_positions=False, local_us=local_us)
    values = feature["properties"][name]
    values = values if isinstance(values, list) else [values]
    if len(values) != len(positions):
        raise BadValue(
            row,
            f"{name} must have one entry per position, got {len(values)} for {len(positions)}",
            code="entry_count_differs",
            column=name,
        )
    moments = Moments(reading.options)
    try:
        times = moments.times(moments.add([_text(row, t, name) for t in values]))
    except BadValue as bad:
        facts: Any = {**bad.facts, "column": name}
        raise BadValue(row, f"{name} {bad.rule}", **facts) from None
    return None if times is None or times.are_positions else times


def _joined_times(parts: Sequence[Times]) -> Times:
    local_us = [times.local_us for times in parts if times.local_us is not None]
    return Times(
        np.concatenate([times.values for times in parts]),
        are_positions=False,
        local_us=np.concatenate(local_us) if len(local_us) == len(parts) else None,
    )


def _location_ids(row: int, feature: Feature, count: int) -> Any:
    ids = feature["properties"].get("location_ids")
    if ids is None:
        return None
    if not isinstance(ids, list) or len(ids) != count:
        raise BadValue(
            row,
            f"location_ids must have one entry per position ({count}), but it does not",
            code="entry_count_differs",
            column="location_ids",
        )
    return [_text(row, name, "location_ids") for name in ids]


def _joined(
    collection: Sequence[Feature],
    read: Callable[[int, Feature], Any],
    join: Callable[[Any], Any],
) -> Any:
    """The joined values of all features; None if no feature has any."""
    pieces = [read(k, feature) for k, feature in enumerate(collection)]
    present = [piece is not None for piece in pieces]
    if any(present) and not all(present):
        raise BadValue(
            present.index(False),
            "must have times or location ids like other features, but it has none",
            code="partly_given",
        )
    return join(pieces) if any(present) else None


def write_geojson_points(path: Path, points: Points, shape: str = "lines") -> None:
    """Write lines (one feature per trajectory) or points (one feature per point)."""
    write_features(path, (_lines if shape == "lines" else _single_points)(points))


def _lines(points: Points) -> Iterator[Feature]:
    time_texts = (
        None if points.moment_us is None else offset_texts(points.moment_us, points.local_us)
    )
    lng_lat = np.stack([points.lng, points.lat], axis=1).tolist()
    for k in range(len(points.tids)):
        start, end = int(points.offsets[k]), int(points.offsets[k + 1])
        # A LineString must have at least two positions (RFC 7946).
        single = end - start == 1
        yield feature(
            "Point" if single else "LineString",
            lng_lat[start] if single else lng_lat[start:end],
            tid=points.tids[k],
            uid=points.uids and points.uids[k],
            times=time_texts and time_texts[start:end],
            location_ids=points.location_ids and list(points.location_ids[start:end]),
        )


def _single_points(points: Points) -> Iterator[Feature]:
    time_texts = (
        None if points.moment_us is None else offset_texts(points.moment_us, points.local_us)
    )
    lat, lng, seq = points.lat.tolist(), points.lng.tolist(), points.seq.tolist()
    for k, owner in enumerate(points.owner.tolist()):
        yield feature(
            "Point",
            [lng[k], lat[k]],
            tid=points.tids[owner],
            seq=seq[k],
            uid=points.uids and points.uids[owner],
            datetime=time_texts and time_texts[k],
            location_id=points.location_ids and points.location_ids[k],
        )
