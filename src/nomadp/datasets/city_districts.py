"""The public districts of a synthetic city, by name: areas that people can be asked about.

They cut the map up by what is nearest: a third of the centre, three quarters together, three
towns together, or a hub. So none holds most of the places, and each has a part that a flat map
expects it to have. The seed and the public places state all of it; no trip plays a part.
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
"""The map ends so far beyond the last place."""
DECIMALS = 6
"""Of degrees, as places have."""


def city_districts(locations: LocationSet, seed: int) -> Zones:
    """Of the places of `synthetic_city` with this seed: each is in one, and none is elsewhere.

    A district without a place is left out, which happens where places are few.
    """
    middle_km = _middles_km(districts_of(np.random.default_rng(seed)))
    box_km = _box_km(locations)
    cells = [_nearest(middle_km, k, box_km) for k in range(len(NAMES))]
    there = [k for k, cell in enumerate(cells) if len(cell) > 2]
    polygons = [[_degrees(cells[k])] for k in there]
    return polygon_zones(locations, polygons, [NAMES[k] for k in there])


def _middles_km(districts: Districts) -> Floats:
    """Of each district that has a name: of those laid out, as many together as share one."""
    middle_km = districts.middle_km[1:]
    quarters = middle_km[:QUARTERS].reshape(len(OF_QUARTERS), -1, 2)
    towns = middle_km[QUARTERS : QUARTERS + TOWNS].reshape(len(OF_TOWNS), -1, 2)
    # From the north, against the clock.
    angle = np.pi / 2 + 2 * np.pi * np.arange(len(OF_THE_CENTRE)) / len(OF_THE_CENTRE)
    centre = CENTRE_SPREAD_KM * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    joined = [quarters.mean(axis=1), towns.mean(axis=1)]
    return np.concatenate([centre, *joined, middle_km[-HUBS:]])


def _box_km(locations: LocationSet) -> Floats:
    """The corners of what is around all places, against the clock."""
    lat, lng = CENTRE
    north_km = (locations.lat - lat) * DEGREE_KM
    east_km = (locations.lng - lng) * DEGREE_KM * np.cos(np.radians(lat))
    west, east = east_km.min() - MARGIN_KM, east_km.max() + MARGIN_KM
    south, north = north_km.min() - MARGIN_KM, north_km.max() + MARGIN_KM
    return np.array([[west, south], [east, south], [east, north], [west, north]])


def _nearest(middle_km: Floats, k: int, box_km: Floats) -> Floats:
    """The part of the box that is nearer to one middle than to any other."""
    cell = box_km
    for other in np.delete(middle_km, k, axis=0):
        away = other - middle_km[k]
        cell = _cut(cell, away, float(away @ (other + middle_km[k])) / 2)
        if not len(cell):
            break
    return cell


def _cut(ring: Floats, away: Floats, limit: float) -> Floats:
    """The part of a convex ring that is at most so far along a direction."""
    beyond = ring @ away - limit
    found = []
    for k in range(len(ring)):
        here, there = beyond[k - 1], beyond[k]
        if (here > 0) != (there > 0):
            found.append(ring[k - 1] + (ring[k] - ring[k - 1]) * (here / (here - there)))
        if there <= 0:
            found.append(ring[k])
    return np.array(found).reshape(-1, 2)


def _degrees(ring_km: Floats) -> Floats:
    """Rounded, so that neighbours agree on the corners that they share."""
    lat, lng = degrees_of(CENTRE, *ring_km.T)
    return np.stack([lng, lat], axis=-1).round(DECIMALS)
