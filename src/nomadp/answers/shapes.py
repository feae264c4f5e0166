"""Where the rows of an answer are on a map, if they are more than points.

An area has an outline, so a row that names it is drawn as one; a flow goes from one place of
a small gazetteer to another. Both are public: they come from location sets and zones.
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
"""Polygons of rings of longitudes and latitudes, (n, 2) each: the border, then its holes."""

Place = tuple[float, float]
"""Latitude and longitude."""


@dataclass(frozen=True, eq=False)
class Shapes:
    """Outlines of areas and places of flows, both by name; a name may have neither."""

    outlines: Mapping[str, Outline] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)

    def __post_init__(self) -> None:
        outlines = {name: _outline(name, each) for name, each in self.outlines.items()}
        places = {name: _place(name, each) for name, each in self.places.items()}
        object.__setattr__(self, "outlines", MappingProxyType(outlines))
        object.__setattr__(self, "places", MappingProxyType(places))

    def __repr__(self) -> str:
        return f"Shapes({len(self.outlines)} outlines, {len(self.places)} places)"


def _outline(name: str, polygons: Any) -> Outline:
    return tuple(tuple(_ring(name, ring) for ring in polygon) for polygon in polygons)


def _ring(name: str, ring: Any) -> Floats:
    corner = np.array(ring, dtype=np.float64)
    if corner.ndim != 2 or corner.shape[1] != 2 or len(corner) < 3:
        raise SchemaError(
            f"the outline of {name} must have rings of 3 or more lng and lat",
            code="outline_ring_too_short",
            area=name,
        )
    if not (np.abs(corner) <= (180.0, 90.0)).all():
        raise SchemaError(
            f"the outline of {name} must be in degrees of longitude and latitude",
            code="outline_out_of_range",
            area=name,
        )
    if not np.array_equal(corner[0], corner[-1]):
        corner = np.concatenate([corner, corner[:1]])  # files want rings closed
    corner.flags.writeable = False
    return corner


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
    """The zones' outlines, and as places the middles of their locations."""
    middle = zip(*(column.tolist() for column in zones.centres()), strict=True)
    places = dict(zip(zones.names, middle, strict=True))
    return Shapes(outlines_of(zones), places)


def _unbroken(lng: Floats) -> Floats:
    """Beyond 180 where a set lies across the date line."""
    found: Floats = lng[0] + (lng - lng[0] + 180.0) % 360.0 - 180.0
    return found


def outlines_of(zones: Zones) -> dict[str, Outline]:
    """Of the cells of a grid or of H3, or the polygons that zones were made by, by name.

    The partition of a task is without its polygons, and what is elsewhere has none.
    """
    kind, _, number = zones.rule.partition(":")
    if kind == "grid":
        return _grid_outlines(zones, int(number))
    if kind == "h3":
        require("h3")
        boundary = import_module("h3").cell_to_boundary
        return {name: ((_eastward(boundary(name)),),) for name in zones.names}
    return {name: _outline(name, each) for name, each in zones.polygons.items()}


def _eastward(boundary: Any) -> Floats:
    """A ring of lng, lat; on one side of the date line, where maps of cities are not torn."""
    lat, lng = np.array(boundary, dtype=np.float64).T
    return np.stack([np.clip(_unbroken(lng), -180.0, 180.0), lat], axis=-1)


def _grid_outlines(zones: Zones, number: int) -> dict[str, Outline]:
    low, width = UnitSquare(zones.locations).box
    found: dict[str, Outline] = {}
    for name in zones.names:
        row, column = (int(part[1:]) for part in name.split("_"))
        west, south = low + width * np.array([column, row]) / number
        east, north = low + width * np.array([column + 1, row + 1]) / number
        corners = [[west, south], [east, south], [east, north], [west, north], [west, south]]
        found[name] = ((np.clip(np.array(corners), (-180.0, -90.0), (180.0, 90.0)),),)
    return found
