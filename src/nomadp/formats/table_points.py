"""Reading and writing points in tables: CSV, Parquet and GeoParquet 1.1."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nomadp.errors import SchemaError
from nomadp.formats.arrow_objects import Frame, is_wgs84
from nomadp.formats.columns import UNKNOWN_CLOCK, Kind, Table, Times, check, offset_texts
from nomadp.formats.files import is_parquet, read_table, write_table
from nomadp.formats.location_files import coordinates, usable_coordinates
from nomadp.formats.points import Points, group_rows, number_names
from nomadp.formats.presets import COORDINATES, KINDS, PRESETS, Reading
from nomadp.formats.unreadable import BadRows
from nomadp.locations import LocationSet

__all__ = ["points_of", "read_table_points", "write_table_points"]

GEO_KEY = b"geo"


def read_table_points(
    path: Path | Frame, reading: Reading, locations: LocationSet | None = None
) -> Points:
    """Read points from a table. `locations` gives coordinates to rows with location ids."""
    primary = path.geometry if isinstance(path, Frame) else _geometry_column(path)
    if primary not in (None, *reading.columns) and "geometry" not in reading.columns.values():
        reading = replace(reading, columns={**reading.columns, str(primary): "geometry"})
    lenient = reading.options.lenient
    is_named = locations is not None or (lenient and not reading.thinning.by_place)
    place_columns = [*COORDINATES, *([{"location_id"}] if is_named else [])]
    column_names: dict[str, str] = {}

    def choose(header: Sequence[str]) -> Mapping[str, Kind]:
        columns = reading.mapping(path, header, place_columns)
        column_names.update(columns)
        # If a seq gives the order, the datetime may be empty.
        clock = {"datetime": Kind.MAYBE_MOMENT} if "seq" in columns else {}
        return {theirs: (KINDS | clock)[ours] for ours, theirs in columns.items()}

    table = read_table(path, choose, reading.options)
    column = {ours: table.column[theirs] for ours, theirs in column_names.items()}
    return points_of(replace(table, column=column), locations, lenient=lenient)


def points_of(
    table: Table, locations: LocationSet | None = None, *, lenient: bool = False
) -> Points:
    """The points of a table with our column names. Trajectories are in order of appearance.

    Without a tid, each user has one numbered trajectory. Equal moments keep the file's order.
    """
    column = table.column
    times: Times | None = column.get("datetime")
    position = column.get("seq", None if times is None else times.values)
    if position is None:
        raise SchemaError(
            f"{table.path} must have times or a seq, but its datetime is empty",
            code="order_unknown",
        )
    lat, lng = (usable_coordinates if lenient else coordinates)(table, locations)
    tid, uid, location_id = (column.get(name) for name in ("tid", "uid", "location_id"))
    owner, first = group_rows([text.codes for text in (uid, tid) if text is not None])
    order = np.lexsort((position, owner))
    if "seq" in column and not lenient:
        is_repeat = (np.diff(owner[order]) == 0) & (np.diff(position[order]) == 0)
        repeated = np.zeros(table.rows, dtype=bool)
        repeated[order[1:][is_repeat]] = True
        check(
            table,
            repeated,
            "seq must be unique in each trajectory, got a repeated one",
            code="seq_repeated",
            column="seq",
        )
    points = Points(
        np.concatenate([[0], np.cumsum(np.bincount(owner))]),
        lat[order],
        lng[order],
        number_names(len(first)) if tid is None else tid.at(first),
        None if uid is None else uid.at(first),
        None if times is None or times.are_positions else times.values[order],
        None if location_id is None else location_id.at(order),
        None if times is None or times.local_us is None else times.local_us[order],
    )
    return _with_owner(points, table.path) if lenient else points


def _with_owner(points: Points, path: str) -> Points:
    """Points without the rows that have an empty tid or uid."""
    names = (points.tids, points.uids or points.tids)
    is_owned = np.array([bool(tid and uid) for tid, uid in zip(*names, strict=True)])
    if not is_owned.any():
        raise BadRows(
            f"{path} must have at least one row with a tid or uid, got none",
            code="owner_missing",
        )
    return points.select(is_owned[points.owner])


def write_table_points(path: Path, points: Points, preset: str = "nomadp") -> None:
    """Write CSV, Parquet, or GeoParquet if the name ends in .geoparquet."""
    column = _renamed(path, _columns(points, text=not is_parquet(path)), preset)
    if path.suffix != ".geoparquet":
        write_table(path, column)
        return
    from nomadp.formats.parquet_files import to_wkb, write_parquet  # slow to import

    column["geometry"] = to_wkb(points.lat, points.lng)
    write_parquet(path, column, json.dumps(_geo(points)).encode(), GEO_KEY)


def _columns(points: Points, *, text: bool) -> dict[str, Any]:
    """The columns by our names, with moments as text or as timestamps."""
    owner = points.owner
    column: dict[str, Any] = {}
    if points.uids is not None:
        column["uid"] = [points.uids[k] for k in owner]
    column["tid"] = [points.tids[k] for k in owner]
    column["seq"] = points.seq
    if points.moment_us is not None:
        column["datetime"] = _texts(points) if text else _timestamps(points)
    column |= {"lat": points.lat, "lng": points.lng}
    if points.location_ids is not None:
        column["location_id"] = list(points.location_ids)
    return column


def _texts(points: Points) -> list[str]:
    moment_us: Any = points.moment_us
    return offset_texts(moment_us, points.local_us)


def _timestamps(points: Points) -> Any:
    """Timestamps with a time zone if all local times have one offset; otherwise text."""
    import pyarrow as pa

    timestamps = pa.array(points.moment_us, pa.int64())
    offsets_us = np.zeros(0, dtype=np.int64)
    if points.local_us is not None and points.moment_us is not None:
        known = points.local_us != UNKNOWN_CLOCK
        offsets_us = np.unique((points.local_us - points.moment_us)[known])
        if len(offsets_us) > 1 or not (known.all() or not known.any()):
            return pa.array(_texts(points))
    zone = "UTC" if not len(offsets_us) else _texts(points)[0][-6:]
    return timestamps.cast(pa.timestamp("us", zone))


def _renamed(path: Path, column: dict[str, Any], preset: str) -> dict[str, Any]:
    names = PRESETS[preset]
    missing = [name for name in names if name not in (*column, "geometry")]
    if preset != "nomadp" and missing:
        raise SchemaError(
            f"{path}: points must have {' and '.join(missing)} for the preset {preset}, but "
            "they do not; write them without a preset",
            code="columns_missing",
            missing=tuple(missing),
        )
    return {names[ours]: values for ours, values in column.items() if ours in names}


def _geo(points: Points) -> dict[str, Any]:
    """GeoParquet 1.1 metadata. Without a crs, coordinates are longitude and latitude."""
    box = [points.lng.min(), points.lat.min(), points.lng.max(), points.lat.max()]
    bbox = [float(side) for side in box]
    geometry = {"encoding": "WKB", "geometry_types": ["Point"], "bbox": bbox}
    return {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": geometry}}


def _geometry_column(path: Path) -> str | None:
    """The geometry column of a GeoParquet file; None for other files."""
    if path.suffix not in (".parquet", ".geoparquet"):
        return None
    from nomadp.formats.parquet_files import read_metadata

    try:
        content = read_metadata(path, GEO_KEY)
    except SchemaError:
        content = None  # not Parquet: its reader will raise the error
    if content is None:
        return None
    try:
        metadata = json.loads(content)
        primary = str(metadata["primary_column"])
        column = metadata["columns"][primary]
        encoding, crs = column["encoding"], column.get("crs", "absent")
    except (ValueError, KeyError, TypeError, AttributeError):
        encoding = None
    if encoding is None:
        raise SchemaError(
            f"{path} must have valid GeoParquet metadata, but it does not; write it again",
            code="invalid_geo_metadata",
        )
    if encoding != "WKB":
        raise SchemaError(
            f"{path}: geometry must be encoded as WKB, got {encoding}",
            code="unsupported_encoding",
            encoding=encoding,
        )
    if crs != "absent" and not is_wgs84(crs):
        raise SchemaError(
            f"{path} must be in longitude and latitude (OGC:CRS84), but it is not; transform "
            "it first, for example with GeoPandas: frame.to_crs(4326)",
            code="not_wgs84",
        )
    return primary
