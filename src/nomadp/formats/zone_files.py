"""Zones of a GeoJSON file (RFC 7946): polygons with a name each. Such a file is public."""

import logging
from collections.abc import Mapping
from os import fspath
from pathlib import Path
from typing import Any

import numpy as np

from nomadp.errors import SchemaError
from nomadp.formats.columns import BadValue
from nomadp.formats.files import check_readable, file_path
from nomadp.formats.json_files import features
from nomadp.formats.measured_file import AnyPath
from nomadp.geometry import Floats
from nomadp.locations import LocationSet
from nomadp.zones import Polygon, Zones, polygon_zones, zones_of

__all__ = ["GEOJSON", "read_zones", "zones_by"]

log = logging.getLogger(__name__)

GEOJSON = (".geojson", ".json")
BYTES_MAX = 200_000_000
CORNERS_MAX = 1_000_000
NAMES = ("name", "id")


def read_zones(path: AnyPath, locations: LocationSet, name: str | None = None) -> Zones:
    """The polygons of a file as zones, called by the property ``name``: name or id by default.

    Features of one name are one zone, those that are no polygons are left out.
    """
    found = file_path(path, GEOJSON)
    check_readable(found)
    if found.stat().st_size > BYTES_MAX:
        raise SchemaError(
            f"{found} must have at most {BYTES_MAX // 10**6} MB, got "
            f"{found.stat().st_size // 10**6}; simplify its polygons"
        )
    polygons: list[Polygon] = []
    names: list[str] = []
    listed = features(found)
    left_out = 0
    try:
        for row, each in enumerate(listed):
            parts = _polygons(row, each["geometry"])
            polygons += parts
            names += [_name(row, each, name)] * len(parts) if parts else []
            left_out += not parts
    except BadValue as bad:
        raise SchemaError(f"{found}: feature {bad.row + 1} {bad.rule}") from None
    if not polygons:
        raise SchemaError(
            f"{found} must have a Polygon or MultiPolygon, and none of its {len(listed)} "
            "features is one"
        )
    corners = sum(len(np.asarray(ring)) for polygon in polygons for ring in polygon)
    if corners > CORNERS_MAX:
        raise SchemaError(
            f"{found} must have at most {CORNERS_MAX} corners, got {corners}; simplify its "
            "polygons"
        )
    zones = polygon_zones(locations, polygons, names)
    log.info(
        f"{fspath(found)}: {len(set(names))} zones by {name or ' or '.join(NAMES)}, of which "
        f"{len(zones)} hold a location; {left_out} features are no polygons and left out"
    )
    return zones


def zones_by(asked: str | Path, locations: LocationSet) -> Zones:
    """As somebody asks for them on a command line: a rule, or a file of polygons."""
    return (
        zones_of(locations, asked) if isinstance(asked, str) else read_zones(asked, locations)
    )


def _name(row: int, feature: Mapping[str, Any], name: str | None) -> str:
    """A property of a feature, or its own id, as text."""
    known = {"id": feature.get("id")} | feature["properties"]
    wanted = NAMES if name is None else (name,)
    found = next((known[key] for key in wanted if known.get(key) is not None), None)
    if isinstance(found, bool) or not isinstance(found, str | int) or found == "":
        raise BadValue(
            row, f"must have a text or a whole number as {' or '.join(wanted)}, to be called by"
        )
    return str(found)


def _polygons(row: int, geometry: Mapping[str, Any]) -> list[Polygon]:
    """None for a geometry of another kind."""
    kind = geometry.get("type")
    place: Any = geometry.get("coordinates")
    if kind not in ("Polygon", "MultiPolygon"):
        return []
    parts = [place] if kind == "Polygon" else place
    if not _filled(parts) or not all(_filled(rings) for rings in parts):
        raise BadValue(row, "must have coordinates")
    return [[_ring(row, ring) for ring in rings] for rings in parts]


def _filled(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def _ring(row: int, ring: Any) -> Floats:
    try:
        corner = np.array([position[:2] for position in ring])
    except (TypeError, ValueError, KeyError, OverflowError):
        corner = np.empty(0)
    if corner.dtype.kind not in "if" or corner.ndim != 2 or corner.shape[1] != 2:
        raise BadValue(row, "must have rings of positions, each of two or more numbers")
    if len(corner) < 4:
        raise BadValue(row, f"must have rings of 4 positions or more, got {len(corner)}")
    if not (np.abs(corner) <= (180, 90)).all():
        raise BadValue(
            row,
            "must be in degrees of longitude and latitude (WGS84), and is not; transform it "
            "to EPSG:4326 first",
        )
    return corner.astype(np.float64)
