"""The base map of a synthetic city: streets, avenues and a river.

All of it is public and determined by the seed: these are the lines of the generator.
"""

from dataclasses import dataclass

import numpy as np

from nomadp.datasets.built import degrees_of
from nomadp.datasets.city_layout import (
    BLOCK_KM,
    CENTRE,
    RIVER_WIDTH_KM,
    Districts,
    districts_of,
    river_km,
    rotated,
)
from nomadp.geometry import Floats

__all__ = ["Ground", "city_ground"]

REACH_KM = 26.0
"""The river is drawn this far from the centre to either side."""
STREETS_SPREAD = 2.2
"""Streets end this many spreads from the middle of a district, where places are rare."""


@dataclass(frozen=True, eq=False)
class Ground:
    """Lines of (longitude, latitude), shape (n, 2) each. The river is a closed line."""

    streets: tuple[Floats, ...]
    avenues: tuple[Floats, ...]
    river: Floats


def city_ground(seed: int) -> Ground:
    """The base map of `synthetic_city` with this seed and any number of places."""
    districts = districts_of(np.random.default_rng(seed))
    return Ground(
        tuple(_degrees(line) for line in _streets(districts)),
        tuple(_degrees(line) for line in _avenues(districts.middle_km)),
        _degrees(_river()),
    )


def _degrees(point_km: Floats) -> Floats:
    lat, lng = degrees_of(CENTRE, *point_km.T)
    return np.stack([lng, lat], axis=-1)


def _streets(districts: Districts) -> list[Floats]:
    """The street grid of each district, rotated like its places and cut to a circle."""
    streets = []
    columns = zip(districts.middle_km, districts.spread_km, districts.turn_rad, strict=True)
    for middle_km, spread_km, turn_rad in columns:
        reach_km = STREETS_SPREAD * spread_km
        count = int(reach_km / BLOCK_KM)
        for k in range(-count, count + 1):
            offset_km = k * BLOCK_KM
            half_km = float(np.sqrt(reach_km**2 - offset_km**2))
            across = np.array([[offset_km, -half_km], [offset_km, half_km]])
            angle = np.full(2, turn_rad)
            streets += [rotated(line, angle) + middle_km for line in (across, across[:, ::-1])]
    return streets


def _avenues(middle_km: Floats) -> list[Floats]:
    """The avenues from the centre to every district, and from each district to the next."""
    count = len(middle_km)
    radial = [middle_km[[0, end]] for end in range(1, count)]
    between = [middle_km[[end % (count - 1) + 1, end]] for end in range(1, count)]
    return radial + between


def _river() -> Floats:
    east_km = np.arange(-REACH_KM, REACH_KM + 0.1, 0.25)
    middle_km = river_km(east_km)
    south = np.stack([east_km, middle_km - RIVER_WIDTH_KM / 2], axis=-1)
    north = np.stack([east_km, middle_km + RIVER_WIDTH_KM / 2], axis=-1)
    return np.concatenate([south, north[::-1]])
