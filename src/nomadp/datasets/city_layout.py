"""The layout of a synthetic city: districts, streets, avenues and a river."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from nomadp.geometry import Floats
from nomadp.sequences import Indices

__all__ = [
    "BLOCK_KM",
    "CENTRE",
    "CENTRE_SPREAD_KM",
    "HUBS",
    "QUARTERS",
    "RIVER_WIDTH_KM",
    "TOWNS",
    "Districts",
    "Places",
    "Use",
    "districts_of",
    "lay_out",
    "river_km",
    "rotated",
]

CENTRE = 45.0, -35.0
QUARTERS, TOWNS, HUBS = 12, 9, 2
SHARE = {"centre": 0.34, "quarters": 0.43, "towns": 0.15, "hubs": 0.08}
CENTRE_SPREAD_KM = 0.75
BLOCK_KM = 0.15
RIVER_WIDTH_KM = 0.3
AVENUE_SHARE = 0.06  # of the places, taken from all districts alike
CLUSTERED_SHARE = 0.45  # of the places, those that are moved next to another
CLUSTER_SPREAD_KM = 0.05
FAME_EXPONENT = 0.8
FAME_SHIFT = 5.0  # ranks; the most famous places are about equally famous
HUB_FAME = 1.8


class Use(IntEnum):
    """The use of a place."""

    HOME = 0
    WORK = 1
    LEISURE = 2


USE_CENTRE = (0.10, 0.35, 0.55)
USE_OUTSIDE = (0.35, 0.20, 0.45)


@dataclass(frozen=True)
class Places:
    """One entry per place. `fame` is a place's relative popularity, up to a factor."""

    east_km: Floats
    north_km: Floats
    use: Indices
    fame: Floats


@dataclass(frozen=True)
class Districts:
    middle_km: Floats  # (n_districts, 2), the centre first and the hubs last
    spread_km: Floats
    share: Floats
    turn_rad: Floats


def lay_out(rng: np.random.Generator, places: int) -> Places:
    """Lay out places in a city with a dense centre, quarters, towns and two remote hubs.

    Quarters surround the centre, and towns lie farther out. The hubs are an airport and a
    fairground. Avenues connect the districts. Every use has a place if there are enough places.
    """
    districts = districts_of(rng)
    district = rng.choice(len(districts.share), size=places, p=districts.share)
    offset_km = rng.normal(0, 1, (places, 2)) * districts.spread_km[district, np.newaxis]
    point = rotated(_on_streets(rng, offset_km), districts.turn_rad[district])
    point += districts.middle_km[district]
    on_avenue = rng.random(places) < AVENUE_SHARE
    point[on_avenue] = _along_avenues(rng, districts.middle_km, int(on_avenue.sum()))
    _cluster(rng, point)
    east_km, north_km = _off_the_river(point)
    central = np.hypot(east_km, north_km) < 2 * CENTRE_SPREAD_KM
    probability = np.where(central[:, np.newaxis], USE_CENTRE, USE_OUTSIDE)
    use = (rng.random((places, 1)) > probability.cumsum(axis=1)[:, :-1]).sum(axis=1)
    use[: len(Use)] = np.arange(min(places, len(Use)))
    at_hub = (district >= len(districts.share) - HUBS) & ~on_avenue
    return Places(east_km, north_km, use, _fame(rng, at_hub))


def districts_of(rng: np.random.Generator) -> Districts:
    """The districts of a city. They are the first draws of its generator."""
    quarters = _ring(rng, QUARTERS) * rng.uniform(1.6, 6.5, (QUARTERS, 1))
    towns = _ring(rng, TOWNS) * rng.uniform(9.0, 19.0, (TOWNS, 1))
    hubs = _ring(rng, HUBS) * np.array([[21.0], [12.0]])
    spread_km = rng.uniform(0.35, 0.9, QUARTERS), rng.uniform(0.5, 1.6, TOWNS)
    share = (
        SHARE["quarters"] * rng.dirichlet(np.full(QUARTERS, 5.0)),
        SHARE["towns"] * rng.dirichlet(np.full(TOWNS, 3.0)),
    )
    return Districts(
        np.vstack([[[0.0, 0.0]], quarters, towns, hubs]),
        np.hstack([CENTRE_SPREAD_KM, *spread_km, np.full(HUBS, 0.3)]),
        np.hstack([SHARE["centre"], *share, 0.8 * SHARE["hubs"], 0.2 * SHARE["hubs"]]),
        rng.uniform(0, np.pi / 2, 1 + QUARTERS + TOWNS + HUBS),
    )


def _ring(rng: np.random.Generator, count: int) -> Floats:
    """Unit vectors in evenly spaced directions with some random jitter."""
    angle = 2 * np.pi * (np.arange(count) + rng.uniform(-0.35, 0.35, count)) / count
    angle += rng.uniform(0, 2 * np.pi)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _fame(rng: np.random.Generator, at_hub: NDArray[np.bool_]) -> Floats:
    """A shifted Zipf law (Zipf-Mandelbrot) over random ranks; hubs are more famous."""
    rank = rng.permutation(len(at_hub))
    fame = (FAME_SHIFT + rank) ** -FAME_EXPONENT
    return np.asarray(np.where(at_hub, HUB_FAME * fame, fame), dtype=np.float64)


def _cluster(rng: np.random.Generator, point: Floats) -> None:
    """Move some places next to others, as shops cluster and offices share a tower."""
    moved = np.flatnonzero(rng.random(len(point)) < CLUSTERED_SHARE)
    host = rng.integers(0, len(point), len(moved))
    point[moved] = point[host] + rng.normal(0, CLUSTER_SPREAD_KM, (len(moved), 2))


def _on_streets(rng: np.random.Generator, offset_km: Floats) -> Floats:
    """Move each place to the nearest street in one of the two directions."""
    street = BLOCK_KM * np.round(offset_km / BLOCK_KM)
    return np.where(rng.permuted([[True, False]] * len(offset_km), axis=1), street, offset_km)


def rotated(offset_km: Floats, angle_rad: Floats) -> Floats:
    """The offsets, each rotated counter-clockwise by its angle."""
    x, y = offset_km.T
    cos, sin = np.cos(angle_rad), np.sin(angle_rad)
    return np.stack([x * cos - y * sin, x * sin + y * cos], axis=1)


def _along_avenues(rng: np.random.Generator, middle_km: Floats, count: int) -> Floats:
    """Random points on the roads from the centre to a district, or between two districts."""
    end = rng.integers(1, len(middle_km), count)
    start = np.where(rng.random(count) < 0.7, 0, end % (len(middle_km) - 1) + 1)
    fraction = rng.random((count, 1))
    from_km, to_km = middle_km[start], middle_km[end]
    return np.asarray(from_km + fraction * (to_km - from_km) + rng.normal(0, 0.03, (count, 2)))


def _off_the_river(point: Floats) -> tuple[Floats, Floats]:
    """Move each place in the river to the nearer bank."""
    east_km, north_km = point.T
    north_of_river_km = north_km - river_km(east_km)
    bank_km = np.copysign(RIVER_WIDTH_KM / 2, north_of_river_km)
    in_river = np.abs(north_of_river_km) < RIVER_WIDTH_KM / 2
    return east_km, np.where(in_river, north_km - north_of_river_km + bank_km, north_km)


def river_km(east_km: Floats) -> Floats:
    """The position of the river's centre line in km to the north."""
    return np.asarray(1.4 * np.sin(east_km / 3.2) - 1.6)
