"""A synthetic city: public places and private trips, both from one seed.

It lies in mid-ocean and is nobody's: a centre, boroughs on a ring, avenues between them,
streets, and a river. People live in the boroughs, work mostly downtown and go out near
either; a few places draw most of them, and now and then a trip crosses the whole city.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from nomadp.geometry import EARTH_RADIUS_KM, Floats
from nomadp.locations import LocationSet
from nomadp.trajectory import TrajectorySet

__all__ = ["City", "synthetic_city"]

Indices = NDArray[np.int64]

CENTRE_LAT, CENTRE_LNG = 45.0, -35.0
BOROUGHS = 9
RING_KM = 6.5
BLOCK_KM = 0.6
RIVER_WIDTH_KM = 0.8
AVENUE_SHARE = 0.25  # of the places
DOWNTOWN_SHARE = 0.28
LENGTHS = np.arange(2, 9)
LENGTH_SHARE = np.array([0.30, 0.26, 0.18, 0.11, 0.07, 0.05, 0.03])
OPTIONS = 48
"""Destinations a person thinks of before choosing one; popular places come to mind first."""


class Use(IntEnum):
    """What a place is for."""

    HOME = 0
    WORK = 1
    LEISURE = 2


USE_DOWNTOWN = (0.20, 0.45, 0.35)
USE_BOROUGH = (0.60, 0.15, 0.25)
START = (0.75, 0.15, 0.10)
NEXT = np.array([[0.00, 0.55, 0.45], [0.35, 0.05, 0.60], [0.45, 0.15, 0.40]])


@dataclass(frozen=True)
class City:
    """Public locations and private trajectories over them."""

    locations: LocationSet
    trajectories: TrajectorySet


@dataclass(frozen=True)
class _Places:
    east_km: Floats
    north_km: Floats
    use: Indices
    popularity: Floats


def synthetic_city(seed: int = 1, *, places: int = 1000, trips: int = 2000) -> City:
    """The same seed gives the same city. For examples and experiments, not for privacy."""
    if places < 2 or trips < 1:
        raise ValueError(
            "a city must have at least 2 places and 1 trip, "
            f"got places={places} and trips={trips}"
        )
    rng = np.random.default_rng(seed)
    built = _build(rng, places)
    degree_km = np.radians(1.0) * EARTH_RADIUS_KM
    # Six decimals are 10 cm, and hide the last bits in which machines may differ.
    lat = np.round(CENTRE_LAT + built.north_km / degree_km, 6)
    lng = np.round(CENTRE_LNG + built.east_km / (degree_km * np.cos(np.radians(CENTRE_LAT))), 6)
    digits = max(4, len(str(places)))
    ids = [f"p{k:0{digits}d}" for k in range(1, places + 1)]
    lengths = rng.choice(LENGTHS, size=trips, p=LENGTH_SHARE)
    visited = _walk(rng, built, lengths)
    rows = [row[:length] for row, length in zip(visited, lengths, strict=True)]
    return City(
        LocationSet.from_columns(ids, lat, lng), TrajectorySet.from_lists(rows, size=places)
    )


def _build(rng: np.random.Generator, places: int) -> _Places:
    """Places of downtown, of the boroughs, and along the avenues that join them."""
    angle = 2 * np.pi * (np.arange(BOROUGHS) + rng.uniform(-0.25, 0.25, BOROUGHS)) / BOROUGHS
    middle = np.outer(RING_KM * rng.uniform(0.6, 1.4, BOROUGHS), [1, 1])
    middle = np.vstack([[0, 0], middle * np.stack([np.cos(angle), np.sin(angle)], axis=1)])
    spread_km = np.concatenate([[1.7], rng.uniform(0.8, 1.7, BOROUGHS)])
    share = np.concatenate([[DOWNTOWN_SHARE], rng.dirichlet(np.full(BOROUGHS, 6.0))])
    share[1:] *= 1 - DOWNTOWN_SHARE
    district = rng.choice(BOROUGHS + 1, size=places, p=share)
    point = _on_streets(rng, rng.normal(0, spread_km[district, np.newaxis], (places, 2)))
    point = _turned(point, rng.uniform(0, np.pi / 2, BOROUGHS + 1)[district]) + middle[district]
    on_avenue = rng.random(places) < AVENUE_SHARE
    point[on_avenue] = _along_avenues(rng, middle, int(on_avenue.sum()))
    downtown = np.hypot(*point.T) < 2 * spread_km[0]
    chance = np.where(downtown[:, np.newaxis], USE_DOWNTOWN, USE_BOROUGH)
    use = (rng.random((places, 1)) > chance.cumsum(axis=1)[:, :-1]).sum(axis=1)
    use[: len(Use)] = np.arange(min(places, len(Use)))
    east_km, north_km = _off_the_river(point)
    return _Places(east_km, north_km, use, _popularity(rng, np.hypot(east_km, north_km)))


def _popularity(rng: np.random.Generator, from_centre_km: Floats) -> Floats:
    """Zipf's law over ranks that favour the centre."""
    rank = np.argsort(np.argsort(rng.random(len(from_centre_km)) * (1 + from_centre_km)))
    return np.asarray((1.0 + rank) ** -0.8, dtype=np.float64)


def _on_streets(rng: np.random.Generator, offset_km: Floats) -> Floats:
    """Each place on the nearest street of one direction, anywhere along it."""
    street = BLOCK_KM * np.round(offset_km / BLOCK_KM)
    return np.where(rng.permuted([[True, False]] * len(offset_km), axis=1), street, offset_km)


def _turned(offset_km: Floats, angle: Floats) -> Floats:
    x, y = offset_km.T
    cos, sin = np.cos(angle), np.sin(angle)
    return np.stack([x * cos - y * sin, x * sin + y * cos], axis=1)


def _along_avenues(rng: np.random.Generator, middle: Floats, count: int) -> Floats:
    """Points on the roads from downtown to a borough, or from one borough to the next."""
    end = rng.integers(1, len(middle), count)
    start = np.where(rng.random(count) < 0.6, 0, end % (len(middle) - 1) + 1)
    along = rng.random((count, 1))
    return (
        middle[start] + along * (middle[end] - middle[start]) + rng.normal(0, 0.03, (count, 2))
    )


def _off_the_river(point: Floats) -> tuple[Floats, Floats]:
    """Nobody lives in the water: move each place to its own bank."""
    east_km, north_km = point.T
    above_km = north_km - (1.4 * np.sin(east_km / 3.2) - 1.6)
    bank_km = np.copysign(RIVER_WIDTH_KM / 2, above_km)
    drowned = np.abs(above_km) < RIVER_WIDTH_KM / 2
    return east_km, np.where(drowned, north_km - above_km + bank_km, north_km)


def _walk(rng: np.random.Generator, built: _Places, lengths: Indices) -> Indices:
    """Where every person goes, shape (trips, longest); they go home to their own home."""
    trips = len(lengths)
    use = rng.choice(len(Use), size=trips, p=START)
    home = _options(rng, built, np.full(trips, Use.HOME))[:, 0]
    here = np.where(use == Use.HOME, home, _options(rng, built, use)[:, 0])
    visited = [here]
    for _ in range(1, int(lengths.max())):
        use = (rng.random((trips, 1)) > NEXT.cumsum(axis=1)[use, :-1]).sum(axis=1)
        there = _nearby(rng, built, here, _options(rng, built, use))
        here = np.where((use == Use.HOME) & (home != here), home, there)
        visited.append(here)
    return np.stack(visited, axis=1)


def _options(rng: np.random.Generator, built: _Places, use: Indices) -> Indices:
    """Places of the wanted use, popular ones more often, shape (trips, OPTIONS)."""
    option = np.empty((len(use), OPTIONS), dtype=np.int64)
    for wanted in Use:
        rows = use == wanted
        fits = np.where(built.use == wanted, built.popularity, 0.0)
        # Homes are all alike; and where no place has this use, any will do.
        weight = fits > 0 if wanted is Use.HOME and fits.any() else fits
        weight = weight if weight.any() else np.ones(len(fits))
        size = (int(rows.sum()), OPTIONS)
        option[rows] = rng.choice(len(fits), size=size, p=weight / weight.sum())
    return option


def _nearby(
    rng: np.random.Generator, built: _Places, here: Indices, option: Indices
) -> Indices:
    """One of the options: near ones are likelier, but only by a power of the distance."""
    from_here = here[:, np.newaxis]
    distance_km = np.hypot(
        built.east_km[option] - built.east_km[from_here],
        built.north_km[option] - built.north_km[from_here],
    )
    weight = np.where(option == from_here, 1e-9, (0.5 + distance_km) ** -2)
    reached = rng.random((len(here), 1)) * weight.sum(axis=1, keepdims=True)
    chosen = (reached > weight.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return np.take_along_axis(option, chosen[:, np.newaxis], axis=1)[:, 0]
