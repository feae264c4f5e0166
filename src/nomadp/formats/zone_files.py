"""Zones from a public GeoJSON file (RFC 7946): polygons, each with a name."""

import inspect
import io
import json
import logging
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, TypeGuard

import numpy as np

from nomadp.errors import SchemaError
from nomadp.formats.archives import ByteSource, file_source
from nomadp.formats.columns import BadValue
from nomadp.formats.files import check_readable, file_path
from nomadp.formats.json_files import feature, feature_text, features
from nomadp.formats.measured_file import AnyPath
from nomadp.geometry import Floats
from nomadp.locations import LocationSet
from nomadp.zones import Polygon, Zones, polygon_zones, zones_of

__all__ = [
    "GEOJSON",
    "GeoObject",
    "is_geo",
    "polygons_bytes",
    "polygons_of",
    "read_polygons",
    "read_zones",
    "write_polygons",
    "zones_from",
]

log = logging.getLogger(__name__)


class GeoObject(Protocol):
    """An object of GeoPandas and others that describes itself as GeoJSON."""

    @property
    def __geo_interface__(self) -> Mapping[str, Any]: ...


def is_geo(value: object) -> TypeGuard[GeoObject]:
    """Whether an object has the property `__geo_interface__`.

    The property is not evaluated, because that may be slow or fail.
    """
    return inspect.getattr_static(value, "__geo_interface__", None) is not None


GEOJSON = (".geojson", ".json")
MEGABYTES_MAX = 200
CORNERS_MAX = 1_000_000
NAMES = ("name", "id")


def read_zones(
    path: AnyPath | GeoObject, locations: LocationSet, name: str | None = None
) -> Zones:
    """Read the polygons of a GeoJSON file as zones.

    Each zone is named by the property ``name``, by default `name` or `id`. Features of the same
    name are one zone. Features that are not polygons are ignored. Instead of a path you can
    pass a frame of GeoPandas.
    """
    polygons, names = read_polygons(path, name)
    zones = polygon_zones(locations, polygons, names)
    log.info(f"{len(set(names))} areas give {len(zones)} zones that contain a location")
    return zones


def read_polygons(
    path: AnyPath | GeoObject, name: str | None = None
) -> tuple[list[list[Floats]], list[str]]:
    """The polygons of a file (a border and its holes each), and the name of each."""
    if not isinstance(path, str | PathLike):
        return polygons_of(_geojson_source(path), name)
    file = file_path(path, GEOJSON)
    check_readable(file)
    return polygons_of(file_source(file), name)


def _geojson_source(areas: Any) -> ByteSource:
    label = f"the given {type(areas).__name__}"
    try:
        if getattr(areas, "crs", None) is not None:
            areas = areas.to_crs(4326)
        content = json.dumps(areas.__geo_interface__, default=str).encode()
    except Exception as error:  # whatever GeoPandas, its projections or others raise
        cause = " ".join(f"{type(error).__name__}: {error}".split())[:150]
        raise SchemaError(
            f"{label} must have polygons that can be converted to longitude and latitude, got "
            f"{cause}; set its geometry and its crs",
            code="geometry_unreadable",
            cause=type(error).__name__,
        ) from error
    return ByteSource(label, lambda: io.BytesIO(content), len(content))


def polygons_of(
    source: ByteSource, name: str | None = None
) -> tuple[list[list[Floats]], list[str]]:
    """Like `read_polygons`, from a source of bytes."""
    _check_at_most(source, source.size / 1e6, MEGABYTES_MAX, "MB")
    all_features = features(source)
    try:
        parts = [_polygons(row, item["geometry"]) for row, item in enumerate(all_features)]
        names = [
            _name(row, item, name)
            for row, item in enumerate(all_features)
            for _ in parts[row]  # one name for each of its polygons
        ]
    except BadValue as bad:
        raise SchemaError(
            f"{source}: feature {bad.row + 1} {bad.rule}", feature=bad.row + 1, **bad.facts
        ) from None
    polygons = [polygon for part in parts for polygon in part]
    if not polygons:
        raise SchemaError(
            f"{source} must have at least one Polygon or MultiPolygon, got none in "
            f"{len(all_features)} features",
            code="no_polygons",
            features=len(all_features),
        )
    corners = sum(len(ring) for polygon in polygons for ring in polygon)
    _check_at_most(source, corners, CORNERS_MAX, "corners")
    log.info(
        f"{source}: {len(set(names))} areas by {name or ' or '.join(NAMES)}; ignored "
        f"{parts.count([])} features that are not polygons"
    )
    return polygons, names


def write_polygons(path: Path, polygons: Mapping[str, Sequence[Polygon]]) -> None:
    """Write a file for `read_polygons`: one line per polygon, with its property ``name``."""
    path.write_bytes(polygons_bytes(polygons))


def polygons_bytes(polygons: Mapping[str, Sequence[Polygon]]) -> bytes:
    """The contents of a file for `read_polygons`."""
    all_features = (
        feature("Polygon", [*map(_closed, polygon)], name=name)
        for name, name_polygons in polygons.items()
        for polygon in name_polygons
    )
    return "".join(feature_text(all_features)).encode()


def _closed(ring: Any) -> list[list[float]]:
    """The ring with its first position repeated at the end, as GeoJSON requires."""
    corner: list[list[float]] = np.asarray(ring, dtype=np.float64).tolist()
    return corner if corner[0] == corner[-1] else [*corner, corner[0]]


def _check_at_most(path: ByteSource, count: float, most: int, unit: str) -> None:
    if count > most:
        raise SchemaError(
            f"{path} must have at most {most} {unit}, got {count:.0f}; simplify its polygons",
            code="polygons_too_large",
            unit=unit,
            most=most,
        )


def zones_from(rule: str | Path, locations: LocationSet) -> Zones:
    """Zones as given on a command line: by a rule, or by a file of polygons."""
    return zones_of(locations, rule) if isinstance(rule, str) else read_zones(rule, locations)


def _name(row: int, feature: Mapping[str, Any], name: str | None) -> str:
    """The name of a feature as text: one of its properties, or its id."""
    properties = {"id": feature.get("id")} | feature["properties"]
    keys = NAMES if name is None else (name,)
    value = next((properties[key] for key in keys if properties.get(key) is not None), None)
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise BadValue(
            row,
            f"must have text or a whole number as {' or '.join(keys)}, which names its zone",
            code="name_missing",
        )
    return str(value)


def _polygons(row: int, geometry: Mapping[str, Any]) -> list[list[Floats]]:
    """The polygons of a geometry; none for geometries of another type."""
    kind = geometry.get("type")
    coordinates: Any = geometry.get("coordinates")
    if kind not in ("Polygon", "MultiPolygon"):
        return []
    parts = [coordinates] if kind == "Polygon" else coordinates
    if not _is_nonempty_list(parts) or not all(_is_nonempty_list(rings) for rings in parts):
        raise BadValue(row, "must have coordinates", code="coordinates_missing")
    return [[_ring(row, ring) for ring in rings] for rings in parts]


def _is_nonempty_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def _ring(row: int, ring: Any) -> Floats:
    try:
        corner = np.array([position[:2] for position in ring])
    except (TypeError, ValueError, KeyError, OverflowError):
        corner = np.empty(0)
    if corner.dtype.kind not in "if" or corner.ndim != 2 or corner.shape[1] != 2:
        raise BadValue(
            row,
            "must have rings of positions, each with at least two numbers",
            code="not_a_ring",
        )
    if len(corner) < 4:
        raise BadValue(
            row,
            f"must have rings of at least 4 positions, got {len(corner)}",
            code="ring_too_short",
            positions=len(corner),
        )
    if not (np.abs(corner) <= (180, 90)).all():
        raise BadValue(
            row,
            "must be in degrees of longitude and latitude (WGS84), but it is not; transform it "
            "to EPSG:4326 first",
            code="not_degrees",
        )
    return corner.astype(np.float64)
