"""The geometry of the rows of an estimate: points, outlines of areas, lines of flows.

A row may have no geometry: a trip within one area has no line, and the part of a city outside
all areas has no outline. Positions have longitude first here, as in GeoJSON and WKB; columns
and places have latitude first.
"""

import struct
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nomadp.errors import SchemaError

if TYPE_CHECKING:
    from nomadp.answers.estimate import Estimate

__all__ = [
    "ALL_TIMES",
    "AREAS",
    "Geometry",
    "area_column",
    "bounding_box",
    "combined_rows",
    "from_wkb",
    "geometries",
    "to_wkb",
    "value_column",
]

AREAS = ("location_id", "zone", "area", "cell", "tile_id")
"""Possible names of the column of areas; the first one that a table has counts."""
ALL_TIMES = "any"
"""In the column ``when``: all times of day combined."""
WKB_KINDS = {"Point": 1, "LineString": 2, "Polygon": 3, "MultiPolygon": 6}


class Geometry(NamedTuple):
    """The type and the nested coordinates of a GeoJSON geometry."""

    kind: str
    coordinates: Any


def value_column(columns: Mapping[str, Any]) -> str:
    return "flow" if "flow" in columns else "share"


def area_column(columns: Mapping[str, Any]) -> str | None:
    return next((name for name in AREAS if name in columns), None)


def combined_rows(columns: Mapping[str, Any]) -> Any:
    """The rows of all times of day combined, without those of single times."""
    rows = np.arange(len(next(iter(columns.values()), ())))
    return rows[np.array(columns["when"]) == ALL_TIMES] if "when" in columns else rows


def geometries(table: "Estimate") -> list[Geometry | None]:
    """The geometry of each row: all lines, all areas or all points."""
    columns, shapes = table.columns, table.shapes
    area = area_column(columns)
    if shapes is not None and {"origin", "destination"} <= columns.keys():
        ends = zip(columns["origin"], columns["destination"], strict=True)
        return [_line(shapes.places, *pair) for pair in ends]
    if shapes is not None and shapes.outlines and area is not None:
        return [_area(shapes.outlines.get(str(name))) for name in columns[area]]
    if {"lat", "lng"} <= columns.keys():
        rows = zip(columns["lng"], columns["lat"], strict=True)
        return [_point(float(lng), float(lat)) for lng, lat in rows]
    raise SchemaError(
        f"{table.kind} have no geometry, because they have neither lat and lng nor shapes; "
        "write them as .csv or .parquet",
        code="no_geometry",
        answer=table.kind,
    )


def _point(lng: float, lat: float) -> Geometry | None:
    return Geometry("Point", [lng, lat]) if np.isfinite(lng + lat) else None


def _line(places: Mapping[str, Any], origin: str, destination: str) -> Geometry | None:
    if origin == destination or not {origin, destination} <= places.keys():
        return None
    (lat, lng), (to_lat, to_lng) = places[origin], places[destination]
    return Geometry("LineString", [[lng, lat], [to_lng, to_lat]])


def _area(outline: Any) -> Geometry | None:
    if not outline:
        return None
    polygons = [[ring.tolist() for ring in polygon] for polygon in outline]
    if len(polygons) == 1:
        return Geometry("Polygon", polygons[0])
    return Geometry("MultiPolygon", polygons)


def bounding_box(shapes: Sequence[Geometry | None]) -> list[float] | None:
    """West, south, east and north; None without any positions."""
    depth = {"Point": 0, "LineString": 1, "Polygon": 2, "MultiPolygon": 3}
    all_positions: list[Any] = []
    for shape in filter(None, shapes):
        positions = [shape.coordinates]
        for _ in range(depth[shape.kind]):
            positions = list(chain.from_iterable(positions))
        all_positions += positions
    if not all_positions:
        return None
    degrees = np.array(all_positions, dtype=np.float64)
    return [*degrees.min(axis=0).tolist(), *degrees.max(axis=0).tolist()]


def to_wkb(geometry: Geometry) -> bytes:
    """Little-endian well-known binary (ISO 13249-3)."""
    kind, coordinates = geometry
    head = struct.pack("<BI", 1, WKB_KINDS[kind])
    if kind == "Point":
        return head + struct.pack("<dd", *coordinates)
    if kind == "LineString":
        return head + _positions(coordinates)
    if kind == "Polygon":
        return (
            head + struct.pack("<I", len(coordinates)) + b"".join(map(_positions, coordinates))
        )
    parts = [to_wkb(Geometry("Polygon", polygon)) for polygon in coordinates]
    return head + struct.pack("<I", len(parts)) + b"".join(parts)


def _positions(line: Any) -> bytes:
    return struct.pack("<I", len(line)) + np.array(line, dtype="<f8").tobytes()


def from_wkb(value: bytes) -> Geometry | None:
    """The outline of an area; None for points and lines, which columns contain."""
    try:
        return _read_area(value, 0)[0]
    except (struct.error, ValueError, KeyError, IndexError):
        pass
    raise SchemaError(
        "a geometry must be well-known binary (WKB) without heights, but is not", code="not_wkb"
    )


def _read_area(value: bytes, start: int) -> tuple[Geometry | None, int]:
    """The geometry that starts at an offset, and the offset of its end."""
    order = {0: ">", 1: "<"}[value[start]]
    kind, count = struct.unpack_from(f"{order}II", value, start + 1)
    at, parts = start + 9, []
    if kind == WKB_KINDS["Polygon"]:
        for _ in range(count):
            (size,) = struct.unpack_from(f"{order}I", value, at)
            ring = np.frombuffer(value, f"{order}f8", 2 * size, at + 4).reshape(-1, 2)
            parts.append(ring.tolist())
            at += 4 + 16 * size
        return Geometry("Polygon", parts), at
    if kind == WKB_KINDS["MultiPolygon"]:
        for _ in range(count):
            polygon, at = _read_area(value, at)
            parts.append(polygon.coordinates if polygon else [])
        return Geometry("MultiPolygon", parts), at
    return None, at
