"""Points from and to tables: CSV, Parquet and GeoParquet 1.1."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nomadp.errors import SchemaError
from nomadp.formats.columns import Kind, Table, Times, check
from nomadp.formats.files import is_parquet, read_table, write_table
from nomadp.formats.moments import moment_texts
from nomadp.formats.parquet_files import read_metadata, write_parquet
from nomadp.formats.points import Points, Rows
from nomadp.formats.presets import COORDINATES, KINDS, PRESETS, Reading
from nomadp.formats.trajectory_files import known_locations
from nomadp.formats.wkb import write_points
from nomadp.geometry import Floats
from nomadp.locations import LocationSet

__all__ = ["read_table_points", "rows", "write_table_points"]

GEO_KEY = b"geo"
WGS84 = {("OGC", "CRS84"), ("EPSG", "4326")}


def read_table_points(
    path: Path, reading: Reading, locations: LocationSet | None = None
) -> Points:
    """Points of a table; `locations` gives coordinates to rows that only name a place."""
    primary = _geometry_column(path)
    if primary not in (None, *reading.columns) and "geometry" not in reading.columns.values():
        columns = {**reading.columns, str(primary): "geometry"}
        reading = Reading(reading.preset, columns, reading.wishes)
    where = [*COORDINATES, *([{"location_id"}] if locations is not None else [])]
    used: dict[str, str] = {}

    def choose(header: Sequence[str]) -> Mapping[str, Kind]:
        found = reading.mapping(path, header, where)
        used.update(found)
        return {theirs: _kind(ours, found) for ours, theirs in found.items()}

    table = read_table(path, choose, reading.wishes)
    column = {ours: table.column[theirs] for ours, theirs in used.items()}
    renamed = Table(table.path, table.rows, column, table.where)
    return rows(renamed, locations).points()


def _kind(ours: str, found: Mapping[str, str]) -> Kind:
    # Where a seq says the order, an empty clock does no harm.
    if ours == "datetime" and "seq" in found:
        return Kind.MAYBE_MOMENT
    return KINDS[ours]


def rows(table: Table, locations: LocationSet | None = None) -> Rows:
    """The points of a table whose columns have our names."""
    column = table.column
    times: Times | None = column.get("datetime")
    order = column.get("seq", None if times is None else times.values)
    if order is None:
        raise SchemaError(f"{table.path} must say when: its datetime is empty")
    lat, lng = _where(table, locations)
    check(table, np.abs(lat) > 90, "lat must be in [-90, 90] degrees")
    check(table, np.abs(lng) > 180, "lng must be in [-180, 180] degrees")
    return Rows(
        lat,
        lng,
        order,
        column.get("tid"),
        column.get("uid"),
        None if times is None or times.are_positions else times.values,
        column.get("location_id"),
    )


def _where(table: Table, locations: LocationSet | None) -> tuple[Floats, Floats]:
    column = table.column
    if "lat" in column and "lng" in column:
        return column["lat"], column["lng"]
    if "geometry" in column:
        lng, lat = column["geometry"].T
        return lat, lng
    if locations is None:
        raise SchemaError(f"{table.path} names places, so their locations are needed")
    index = known_locations(table, locations)
    return locations.lat[index], locations.lng[index]


def write_table_points(path: Path, points: Points, preset: str = "nomadp") -> None:
    """CSV, Parquet, or GeoParquet if the name ends in .geoparquet."""
    column = _named_as(path, _columns(points, text=not is_parquet(path)), preset)
    if path.suffix != ".geoparquet":
        write_table(path, column)
        return
    column["geometry"] = write_points(points.lat, points.lng)
    write_parquet(path, column, json.dumps(_geo(points)).encode(), GEO_KEY)


def _columns(points: Points, *, text: bool) -> dict[str, Any]:
    """By our names; moments as text, or as timestamps in UTC."""
    owner = points.owner
    column: dict[str, Any] = {}
    if points.uids is not None:
        column["uid"] = [points.uids[k] for k in owner]
    column["tid"] = [points.tids[k] for k in owner]
    column["seq"] = points.seq
    if points.moment_us is not None:
        column["datetime"] = moment_texts(points.moment_us) if text else _stamps(points)
    column |= {"lat": points.lat, "lng": points.lng}
    if points.location_ids is not None:
        column["location_id"] = list(points.location_ids)
    return column


def _stamps(points: Points) -> Any:
    import pyarrow as pa

    return pa.array(points.moment_us, pa.int64()).cast(pa.timestamp("us", "UTC"))


def _named_as(path: Path, column: dict[str, Any], preset: str) -> dict[str, Any]:
    names = PRESETS[preset]
    lacking = [
        ours
        for ours in names
        if ours not in column and ours not in ("geometry", "location_id", "seq")
    ]
    if preset != "nomadp" and lacking:
        raise SchemaError(
            f"{path}: the columns of {preset} need {' and '.join(lacking)}, which the points "
            "do not have; write them without a preset"
        )
    return {names[ours]: values for ours, values in column.items() if ours in names}


def _geo(points: Points) -> dict[str, Any]:
    """GeoParquet 1.1 metadata; without a crs, coordinates are longitude and latitude."""
    box = [points.lng.min(), points.lat.min(), points.lng.max(), points.lat.max()]
    geometry = {
        "encoding": "WKB",
        "geometry_types": ["Point"],
        "bbox": [float(side) for side in box],
    }
    return {
        "version": "1.1.0",
        "primary_column": "geometry",
        "columns": {"geometry": geometry},
    }


def _geometry_column(path: Path) -> str | None:
    """What a GeoParquet file says its geometry is; other files have none."""
    content = _geo_metadata(path)
    if content is None:
        return None
    try:
        said = json.loads(content)
        primary = str(said["primary_column"])
        column = said["columns"][primary]
        encoding, crs = column["encoding"], column.get("crs", "absent")
    except (ValueError, KeyError, TypeError, AttributeError):
        encoding = None
    if encoding is None:
        raise SchemaError(f"{path} has geo metadata that GeoParquet does not allow")
    if encoding != "WKB":
        raise SchemaError(f"{path}: geometry must be encoded as WKB, got {encoding}")
    if crs != "absent" and _authority(crs) not in WGS84:
        raise SchemaError(
            f"{path} must be in longitude and latitude (OGC:CRS84); transform it first, for "
            "example with GeoPandas: frame.to_crs(4326)"
        )
    return primary


def _authority(crs: Any) -> tuple[str, str]:
    name = crs.get("id", {}) if isinstance(crs, dict) else {}
    return str(name.get("authority")), str(name.get("code"))


def _geo_metadata(path: Path) -> bytes | None:
    """The geo metadata, if the file is Parquet at all; its reader says what else is wrong."""
    if path.suffix not in (".parquet", ".geoparquet"):
        return None
    import pyarrow as pa

    try:
        return read_metadata(path, GEO_KEY)
    except (pa.ArrowException, OSError):
        return None
