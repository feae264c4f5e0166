"""The geometry of an answer's rows: points, outlines of areas, lines of flows.

A row may have none: a trip that stays within its area has no line, and the rest of a city that
lies outside all areas no outline. Longitude stands before latitude here, and only here.
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
    "AREAS",
    "Geometry",
    "area_column",
    "bounds",
    "from_wkb",
    "geometries",
    "to_wkb",
    "value_column",
]

AREAS = ("location_id", "zone", "area", "cell", "tile_id")
"""Columns that name where a row is, the first that a table has."""
WKB_KINDS = {"Point": 1, "LineString": 2, "Polygon": 3, "MultiPolygon": 6}


class Geometry(NamedTuple):
    """As in GeoJSON: the kind, and positions nested as that kind wants."""

    kind: str
    coordinates: Any


def value_column(columns: Mapping[str, Any]) -> str:
    return "flow" if "flow" in columns else "share"


def area_column(columns: Mapping[str, Any]) -> str | None:
    return next((name for name in AREAS if name in columns), None)


def geometries(table: "Estimate") -> list[Geometry | None]:
    """One for each row, all lines, all areas or all points; refused if nothing says where."""
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
        f"{table.kind} must say where they are to have a geometry, by lat and lng or by "
        "shapes, and do not; write them as .csv or .parquet",
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


def bounds(found: Sequence[Geometry | None]) -> list[float] | None:
    """West, south, east, north; None if there is nothing."""
    depth = {"Point": 0, "LineString": 1, "Polygon": 2, "MultiPolygon": 3}
    places: list[Any] = []
    for each in filter(None, found):
        positions = [each.coordinates]
        for _ in range(depth[each.kind]):
            positions = list(chain.from_iterable(positions))
        places += positions
    if not places:
        return None
    corner = np.array(places, dtype=np.float64)
    return [*corner.min(axis=0).tolist(), *corner.max(axis=0).tolist()]


def to_wkb(geometry: Geometry) -> bytes:
    """Little-endian, as ISO 13249 has it."""
    kind, place = geometry
    head = struct.pack("<BI", 1, WKB_KINDS[kind])
    if kind == "Point":
        return head + struct.pack("<dd", *place)
    if kind == "LineString":
        return head + _positions(place)
    if kind == "Polygon":
        return head + struct.pack("<I", len(place)) + b"".join(map(_positions, place))
    parts = [to_wkb(Geometry("Polygon", polygon)) for polygon in place]
    return head + struct.pack("<I", len(parts)) + b"".join(parts)


def _positions(place: Any) -> bytes:
    return struct.pack("<I", len(place)) + np.array(place, dtype="<f8").tobytes()


def from_wkb(value: bytes) -> Geometry | None:
    """Outlines of any byte order; other kinds are None, since columns say the same."""
    try:
        return _read_area(value, 0)[0]
    except (struct.error, ValueError, KeyError, IndexError):
        pass
    raise SchemaError(
        "a geometry must be well-known binary (WKB) without heights, and is not", code="not_wkb"
    )


def _read_area(value: bytes, start: int) -> tuple[Geometry | None, int]:
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
