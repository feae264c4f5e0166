"""The named public districts of a synthetic city: areas for queries.

They are the Voronoi cells of: each third of the centre, groups of three quarters, groups of
three towns, and each hub. So no district contains most of the places, and each has a sizeable
baseline. They depend on the seed and the public places, and on no trajectory.
"""

import numpy as np

from nomadp.datasets.built import degrees_of
from nomadp.datasets.city_layout import (
    CENTRE,
    CENTRE_SPREAD_KM,
    HUBS,
    QUARTERS,
    TOWNS,
    Districts,
    districts_of,
)
from nomadp.geometry import DEGREE_KM, Floats
from nomadp.locations import LocationSet
from nomadp.zones import Zones, polygon_zones

__all__ = ["NAMES", "city_districts"]

OF_THE_CENTRE = ("Station", "Old Town", "Market")
OF_QUARTERS = ("Abbey", "Mills", "Castle", "Gardens")
OF_TOWNS = ("Woodside", "Hillside", "Lakeside")
OF_HUBS = ("Airport", "Fairground")
NAMES = (*OF_THE_CENTRE, *OF_QUARTERS, *OF_TOWNS, *OF_HUBS)
MARGIN_KM = 1.0
"""Margin of the map around the outermost places."""
DECIMALS = 6
"""Decimals of degrees, the same as of places."""


def city_districts(locations: LocationSet, seed: int) -> Zones:
    """The districts of `synthetic_city` with this seed. Every place is in one of them.

    Districts without a place are left out, which happens in small cities.
    """
    middle_km = _middles_km(districts_of(np.random.default_rng(seed)))
    box_km = _box_km(locations)
    cells = [_voronoi_cell(middle_km, k, box_km) for k in range(len(NAMES))]
    nonempty = [k for k, cell in enumerate(cells) if len(cell) > 2]
    polygons = [[_degrees(cells[k])] for k in nonempty]
    return polygon_zones(locations, polygons, [NAMES[k] for k in nonempty])


def _middles_km(districts: Districts) -> Floats:
    """The middle of each named district: the mean of the laid-out ones that share its name."""
    middle_km = districts.middle_km[1:]
    quarters = middle_km[:QUARTERS].reshape(len(OF_QUARTERS), -1, 2)
    towns = middle_km[QUARTERS : QUARTERS + TOWNS].reshape(len(OF_TOWNS), -1, 2)
    # From the north, counter-clockwise.
    angle = np.pi / 2 + 2 * np.pi * np.arange(len(OF_THE_CENTRE)) / len(OF_THE_CENTRE)
    centre = CENTRE_SPREAD_KM * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    joined = [quarters.mean(axis=1), towns.mean(axis=1)]
    return np.concatenate([centre, *joined, middle_km[-HUBS:]])


def _box_km(locations: LocationSet) -> Floats:
    """The corners of the bounding box of all places, counter-clockwise."""
    lat, lng = CENTRE
    north_km = (locations.lat - lat) * DEGREE_KM
    east_km = (locations.lng - lng) * DEGREE_KM * np.cos(np.radians(lat))
    west, east = east_km.min() - MARGIN_KM, east_km.max() + MARGIN_KM
    south, north = north_km.min() - MARGIN_KM, north_km.max() + MARGIN_KM
    return np.array([[west, south], [east, south], [east, north], [west, north]])


def _voronoi_cell(middle_km: Floats, k: int, box_km: Floats) -> Floats:
    """The Voronoi cell of one middle within the box, by clipping it at every bisector."""
    # Point x is nearer to a than to b if and only if (b - a) @ x <= (b - a) @ (a + b) / 2.
    cell = box_km
    for other in np.delete(middle_km, k, axis=0):
        normal = other - middle_km[k]
        cell = _clipped(cell, normal, float(normal @ (other + middle_km[k])) / 2)
        if not len(cell):
            break
    return cell


def _clipped(ring: Floats, normal: Floats, limit: float) -> Floats:
    """The part of a convex ring with ring @ away <= limit (Sutherland-Hodgman clipping)."""
    beyond = ring @ normal - limit
    corners = []
    for k in range(len(ring)):
        start, end = beyond[k - 1], beyond[k]
        if (start > 0) != (end > 0):
            corners.append(ring[k - 1] + (ring[k] - ring[k - 1]) * (start / (start - end)))
        if end <= 0:
            corners.append(ring[k])
    return np.array(corners).reshape(-1, 2)


def _degrees(ring_km: Floats) -> Floats:
    """Longitudes and latitudes, rounded so that neighbours share exact corners."""
    lat, lng = degrees_of(CENTRE, *ring_km.T)
    return np.stack([lng, lat], axis=-1).round(DECIMALS)
