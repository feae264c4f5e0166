"""Files of public locations: `location_id,lat,lng`, or the same as points in GeoJSON.

Files of decoded points also have the columns of reports, so that every reader of reports can
read them. Each decoded point has a credible radius.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import DomainError, SchemaError
from nomadp.formats.arrow_objects import Source, as_frame
from nomadp.formats.atomic import write_atomically
from nomadp.formats.columns import Kind, Table, Text, check, row_attribute
from nomadp.formats.files import (
    READABLE,
    SUFFIXES,
    file_path,
    read_table,
    require_columns,
    write_table,
    write_with_metadata,
)
from nomadp.formats.json_files import feature, features, first_vertex, write_features
from nomadp.formats.measured_file import AnyPath
from nomadp.geometry import Floats, usable_degrees
from nomadp.locations import LocationSet
from nomadp.sequences import Sequences

__all__ = [
    "coordinates",
    "known_locations",
    "location_columns",
    "point_columns",
    "read_locations",
    "usable_coordinates",
    "write_estimates",
    "write_locations",
]

GEOJSON = ".geojson"
KINDS = {"location_id": Kind.TEXT, "lat": Kind.DECIMAL, "lng": Kind.DECIMAL}


def read_locations(path: Source) -> LocationSet:
    r"""Read a location set from a CSV, Parquet or GeoJSON file, in the order of the file.

    Args:
        path: A file with the columns ``location_id``, ``lat`` and ``lng``, in degrees (WGS84);
            other columns are ignored. Instead of a path, you can pass a frame of pandas,
            polars, DuckDB or GeoPandas, or any other object that streams to Arrow.

    Returns:
        The location set.

    Raises:
        SchemaError: A column is missing or a value is invalid; the error names the row.

    >>> import nomadp, pathlib
    >>> lines = "location_id,lat,lng", "a,52.5,13.4", "b,52.6,13.4"
    >>> _ = pathlib.Path("places.csv").write_text("\n".join(lines))
    >>> nomadp.read_locations("places.csv").ids
    ('a', 'b')
    """
    frame = as_frame(path)
    source: Any = frame or file_path(path, (*READABLE, GEOJSON))  # type: ignore[arg-type]
    if frame is None and source.name.endswith(GEOJSON):
        return _read_geojson(source)
    geometry = None if frame is None else frame.geometry
    geometry_column = {} if geometry is None else {geometry: Kind.POINT}

    def choose(header: Sequence[str]) -> Mapping[str, Kind]:
        by_point = geometry_column and not {"lat", "lng"} <= set(header)
        kinds = {"location_id": Kind.TEXT, **geometry_column} if by_point else KINDS
        return require_columns(source, header, kinds)

    table = read_table(source, choose)
    if not {"lat", "lng"} <= table.column.keys():
        (points,) = (table.column[name] for name in geometry_column)
        table = replace(table, column={**table.column, "geometry": points})
    ids: Text = table.column["location_id"]
    first = np.zeros(table.rows, dtype=bool)
    first[np.unique(ids.codes, return_index=True)[1]] = True
    check(
        table,
        ~first,
        "location_id must be unique, got one that an earlier row has; remove the row",
        code="location_ids_repeated",
        column="location_id",
    )
    return LocationSet.from_columns(ids.values, *coordinates(table))


def write_locations(path: AnyPath, locations: LocationSet) -> None:
    """Write a location set to a CSV, Parquet or GeoJSON file, completely or not at all.

    Args:
        path: The file; its suffix selects the format.
        locations: The location set. Reading the file gives an equal one.

    Raises:
        SchemaError: The suffix is none of these formats.

    >>> import nomadp
    >>> places = nomadp.synthetic_city(places=50, trips=1).locations
    >>> nomadp.write_locations("places.geojson", places)
    >>> nomadp.read_locations("places.geojson") == places
    True
    """
    file = file_path(path, (*SUFFIXES, GEOJSON))
    if file.name.endswith(GEOJSON):
        rows = zip(*(column.tolist() for column in (locations.lng, locations.lat)), strict=True)
        ids_and_places = zip(locations.ids, rows, strict=True)
        items = (feature("Point", place, location_id=name) for name, place in ids_and_places)
        write_atomically({file: lambda part: write_features(part, items)})
        return
    write_atomically({file: lambda part: write_table(part, location_columns(locations))})


def location_columns(locations: LocationSet) -> dict[str, Any]:
    return {"location_id": locations.ids, "lat": locations.lat, "lng": locations.lng}


def point_columns(rows: Sequences, locations: LocationSet) -> dict[str, Any]:
    """One row per point: `tid,seq,location_id`."""
    names = [rows.names[k] for k in rows.owner]
    location_ids = [locations.ids[k] for k in rows.locations]
    return {"tid": names, "seq": rows.seq, "location_id": location_ids}


def write_estimates(
    path: AnyPath,
    locations: LocationSet,
    estimated: Sequences,
    radius_km: Any,
    metadata: dict[str, Any],
) -> None:
    """Write decoded points to CSV or Parquet: `tid,seq,location_id,lat,lng,radius_km`.

    The file is written completely or not at all.
    """
    index = estimated.locations
    column = point_columns(estimated, locations) | {
        "lat": locations.lat[index],
        "lng": locations.lng[index],
        "radius_km": np.asarray(radius_km, dtype=np.float64),
    }
    write_with_metadata(
        file_path(path), column, json.dumps(metadata, indent=2, sort_keys=True).encode()
    )


def _read_geojson(path: Path) -> LocationSet:
    ids, positions = [], []
    for k, geojson_feature in enumerate(features(path)):
        name = geojson_feature["properties"].get("location_id", geojson_feature.get("id"))
        position = first_vertex(geojson_feature, {"Point": 0})
        if not isinstance(name, str | int) or position is None:
            raise SchemaError(
                f"{path}: feature {k + 1} must be a Point with the property location_id, "
                "got another feature",
                code="location_id_missing",
                feature=k + 1,
            )
        ids.append(str(name))
        positions.append(position)
    lng, lat = zip(*positions, strict=True)
    return LocationSet.from_columns(ids, lat, lng)


def known_locations(table: Table, locations: LocationSet) -> NDArray[np.int64]:
    """The column location_id as indices. An error counts unknown ids and never quotes them."""
    text: Text = table.column["location_id"]
    index, known = locations.find_known(text.values)
    unknown = np.flatnonzero(~known[text.codes])
    if len(unknown):
        row_label = table.row_label(int(unknown[0]))
        raise DomainError(
            f"{table.path}: every location_id must be in the location set of {len(locations)}, "
            f"got {len(unknown)} of {table.rows} rows with an unknown one, the first at "
            f"{row_label}; use the location file that belongs to this file",
            code="unknown_locations",
            unknown=len(unknown),
            size=len(locations),
            **row_attribute(row_label),
        )
    return index[text.codes]


def usable_coordinates(table: Table, locations: LocationSet | None) -> tuple[Floats, Floats]:
    """Coordinates for a person's device: NaN where they are missing or unusable.

    Named locations may still be unknown, because a device reads files before it has a task.
    """
    column = table.column
    if "lat" in column and "lng" in column:
        return usable_degrees(column["lat"], column["lng"])
    if "geometry" in column:
        lng, lat = column["geometry"].T
        return usable_degrees(lat, lng)
    lat, lng = np.full((2, table.rows), np.nan)
    if locations is not None:
        text: Text = column["location_id"]
        index, is_known = locations.find_known(text.values)
        rows = np.flatnonzero(is_known[text.codes])
        location = index[text.codes[rows]]
        lat[rows], lng[rows] = locations.lat[location], locations.lng[location]
    return lat, lng


def coordinates(table: Table, locations: LocationSet | None = None) -> tuple[Floats, Floats]:
    """Checked coordinates: from lat and lng, from geometry, or of the named locations."""
    column = table.column
    if "lat" in column and "lng" in column:
        lat, lng = column["lat"], column["lng"]
    elif "geometry" in column:
        lng, lat = column["geometry"].T
    elif locations is not None:
        index = known_locations(table, locations)
        return locations.lat[index], locations.lng[index]
    else:
        raise SchemaError(
            f"{table.path} has location ids only, so a location set is required; give the "
            "location file",
            code="locations_required",
        )
    for name, degrees, limit in (("lat", lat, 90), ("lng", lng, 180)):
        rule = f"{name} must be in [-{limit}, {limit}] degrees"
        check(table, np.abs(degrees) > limit, rule, code="not_degrees", column=name)
    return lat, lng
