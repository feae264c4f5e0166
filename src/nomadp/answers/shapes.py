"""Outlines of areas, and the places between which flows are drawn.

Rows refer to both by name. Both are public, because they come from location sets and zones.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np

from nomadp.errors import SchemaError
from nomadp.extras import require
from nomadp.geometry import Floats
from nomadp.unit_square import UnitSquare
from nomadp.zones import Zones

__all__ = ["Outline", "Shapes", "outlines_of", "shapes_of"]

Outline = tuple[tuple[Floats, ...], ...]
"""Polygons, each a border and its holes: rings (n, 2) of longitudes and latitudes."""

Place = tuple[float, float]
"""Latitude and longitude."""


@dataclass(frozen=True, eq=False)
class Shapes:
    """Outlines of areas and places of flows, both by name; a name may have neither."""

    outlines: Mapping[str, Outline] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)

    def __post_init__(self) -> None:
        outlines = {name: _outline(name, rings) for name, rings in self.outlines.items()}
        places = {name: _place(name, place) for name, place in self.places.items()}
        object.__setattr__(self, "outlines", MappingProxyType(outlines))
        object.__setattr__(self, "places", MappingProxyType(places))

    def __repr__(self) -> str:
        return f"Shapes({len(self.outlines)} outlines, {len(self.places)} places)"


def _outline(name: str, polygons: Any) -> Outline:
    return tuple(tuple(_ring(name, ring) for ring in polygon) for polygon in polygons)


def _ring(name: str, ring: Any) -> Floats:
    corners = np.array(ring, dtype=np.float64)
    if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 3:
        raise SchemaError(
            f"the outline of {name} must have rings of at least 3 positions (lng, lat)",
            code="outline_ring_too_short",
            area=name,
        )
    if not (np.abs(corners) <= (180.0, 90.0)).all():
        raise SchemaError(
            f"the outline of {name} must be in degrees of longitude and latitude",
            code="outline_out_of_range",
            area=name,
        )
    if not np.array_equal(corners[0], corners[-1]):
        corners = np.concatenate([corners, corners[:1]])  # GeoJSON and WKB require closed rings
    corners.flags.writeable = False
    return corners


def _place(name: str, place: Any) -> Place:
    lat, lng = map(float, place)
    if not (abs(lat) <= 90 and abs(lng) <= 180):
        raise SchemaError(
            f"the place of {name} must be a latitude and a longitude in degrees",
            code="place_out_of_range",
            area=name,
        )
    return lat, lng


def shapes_of(zones: Zones) -> Shapes:
    """The outlines of zones, and as places the means of their locations."""
    centres = zip(*(column.tolist() for column in zones.centres()), strict=True)
    places = dict(zip(zones.names, centres, strict=True))
    return Shapes(outlines_of(zones), places)


def _unwrapped(lng: Floats) -> Floats:
    """Longitudes near the first one, beyond 180 across the date line."""
    near: Floats = lng[0] + (lng - lng[0] + 180.0) % 360.0 - 180.0
    return near


def outlines_of(zones: Zones) -> dict[str, Outline]:
    """The outlines of grid cells, of H3 cells, or of the polygons of the zones, by name.

    The zones of a task have no polygons, and the zone outside all polygons has no outline.
    """
    kind, _, number = zones.rule.partition(":")
    if kind == "grid":
        return _grid_outlines(zones, int(number))
    if kind == "h3":
        require("h3")
        boundary = import_module("h3").cell_to_boundary
        return {name: ((_h3_ring(boundary(name)),),) for name in zones.names}
    return {name: _outline(name, rings) for name, rings in zones.polygons.items()}


def _h3_ring(boundary: Any) -> Floats:
    """A ring of lng, lat, clipped at the date line so that it does not cross the whole map."""
    lat, lng = np.array(boundary, dtype=np.float64).T
    return np.stack([np.clip(_unwrapped(lng), -180.0, 180.0), lat], axis=-1)


def _grid_outlines(zones: Zones, number: int) -> dict[str, Outline]:
    low, width = UnitSquare(zones.locations).box
    outlines: dict[str, Outline] = {}
    for name in zones.names:
        row, column = (int(part[1:]) for part in name.split("_"))
        west, south = low + width * np.array([column, row]) / number
        east, north = low + width * np.array([column + 1, row + 1]) / number
        corners = [[west, south], [east, south], [east, north], [west, north], [west, south]]
        outlines[name] = ((np.clip(np.array(corners), (-180.0, -90.0), (180.0, 90.0)),),)
    return outlines
