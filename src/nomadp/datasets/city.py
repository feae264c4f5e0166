"""A synthetic city: public places and private trips, both from one seed.

Its step lengths, its few places that draw most visits, and the lengths of its trips are like
those of check-in data (`nomadp data describe CITY --compare DATA` shows how like). It is
nobody's: no row of it was derived from anybody's data, and it lies in mid-ocean.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from nomadp.datasets.built import BuiltData, alike, made, on_the_map, walked
from nomadp.formats.measured_file import Progress
from nomadp.geometry import Floats
from nomadp.locations import LocationSet
from nomadp.sequences import Indices
from nomadp.trajectory import TrajectorySet

__all__ = ["City", "build_city", "synthetic_city"]


VERSION = 1
LENGTHS = np.arange(2, 9)
LENGTH_SHARE = np.array([0.75, 0.155, 0.05, 0.021, 0.011, 0.007, 0.006])
START = (0.12, 0.28, 0.60)
NEXT = np.array([[0.05, 0.35, 0.60], [0.10, 0.25, 0.65], [0.12, 0.18, 0.70]])
STEP_EXPONENT = 1.6
"""Places at a distance d come to mind in proportion to (STEP_SHIFT_KM + d) ** -this."""
STEP_SHIFT_KM = 0.06
REACH_KM = 7.0
"""Nobody crosses the whole city twice a day: beyond this, places are soon forgotten."""
HOME_FAME_EXPONENT = 0.4
"""Homes differ less in fame than other places: it is raised to this power."""
AT_ONCE = 20_000
"""People who take a step before progress is told."""
STAY = 0.012
"""How often somebody turns up again where they are."""
CENTRE = 45.0, -35.0
QUARTERS, TOWNS, HUBS = 12, 9, 2
SHARE = {"centre": 0.34, "quarters": 0.43, "towns": 0.15, "hubs": 0.08}
CENTRE_SPREAD_KM = 0.75
BLOCK_KM = 0.15
RIVER_WIDTH_KM = 0.3
AVENUE_SHARE = 0.06  # of the places, taken from all districts alike
TOGETHER_SHARE = 0.45  # of the places, those that stand beside another
TOGETHER_KM = 0.05
FAME_EXPONENT = 0.8
FAME_SHIFT = 5.0  # ranks; the first few places are about equally known
HUB_FAME = 1.8


class Use(IntEnum):
    """What a place is for."""

    HOME = 0
    WORK = 1
    LEISURE = 2


USE_CENTRE = (0.10, 0.35, 0.55)
USE_OUTSIDE = (0.35, 0.20, 0.45)


@dataclass(frozen=True)
class _Places:
    """One entry per place; `fame` is how readily a place comes to mind, on no scale."""

    east_km: Floats
    north_km: Floats
    use: Indices
    fame: Floats


@dataclass(frozen=True)
class _Districts:
    middle_km: Floats  # (n_districts, 2), the centre first and the hubs last
    spread_km: Floats
    share: Floats
    turn_rad: Floats


@dataclass(frozen=True)
class City:
    """Public ``locations`` and private ``trajectories`` over them."""

    locations: LocationSet
    trajectories: TrajectorySet


def synthetic_city(seed: int = 1, *, places: int = 1000, trips: int = 2000) -> City:
    """A `City` of nobody's: so many public places, and so many private trips between them.

    The same seed gives the same city: for examples and experiments. Raises `ValueError` for
    fewer than 2 places or no trip.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=10)
    >>> len(city.locations), len(city.trajectories)
    (50, 10)
    """
    built = build_city(seed, places=places, trips=trips)
    return City(built.locations, built.trajectories)


def build_city(
    seed: int = 1, *, places: int = 1000, trips: int = 2000, progress: Progress | None = None
) -> BuiltData:
    """The same city as a data set that can be written to a folder."""
    if places < 2 or trips < 1:
        raise ValueError(
            "a city must have at least 2 places and 1 trip, "
            f"got places={places} and trips={trips}"
        )
    rng = np.random.default_rng(seed)
    built = _lay_out(rng, places)
    digits = max(4, len(str(places)))
    ids = [f"p{k:0{digits}d}" for k in range(1, places + 1)]
    locations = on_the_map(ids, CENTRE, built.east_km, built.north_km)
    lengths = rng.choice(LENGTHS, size=trips, p=LENGTH_SHARE)
    taken = _Trips(rng, built, progress or (lambda done, total: None)).taken(lengths)
    parameters = {"seed": seed, "places": places, "trips": trips}
    counts = {"places": places, "trajectories": trips, "points": len(taken.locations)}
    recipe = made("synthetic-city", VERSION, parameters, counts)
    return BuiltData(locations, taken, recipe)


class _Trips:
    """People who go from place to place, each step to somewhere known and not too far."""

    def __init__(self, rng: np.random.Generator, built: _Places, progress: Progress) -> None:
        self._rng = rng
        self._built = built
        self._progress = progress
        self._appeal = [self._appeal_for(use) for use in Use]

    def taken(self, lengths: Indices) -> TrajectorySet:
        """One trip of each length."""
        trips, longest = len(lengths), int(lengths.max())
        visited = np.empty((trips, longest), dtype=np.int64)
        use = self._rng.choice(len(Use), size=trips, p=START)
        here = visited[:, 0] = self._anywhere(use)
        steps = int((lengths - 1).sum())
        done = 0
        for k in range(1, longest):
            going = np.flatnonzero(lengths > k)
            chance = NEXT.cumsum(axis=1)[use[going], :-1]
            use[going] = (self._rng.random((len(going), 1)) > chance).sum(axis=1)
            for part in np.array_split(going, 1 + len(going) // AT_ONCE):
                here[part] = self._step(here[part], use[part])
                done += len(part)
                self._progress(done, steps)
            visited[:, k] = here
        return walked(visited, lengths)

    def _appeal_for(self, use: Use) -> Floats:
        """How much each place is wanted for a use; where no place has it, any will do."""
        fame = self._built.fame
        fits = np.where(self._built.use == use, fame, 0.0)
        if use is Use.HOME:
            fits = np.where(fits > 0, fits, 0.0) ** HOME_FAME_EXPONENT
        wanted = fits if fits.any() else fame
        return np.asarray(wanted / wanted.sum())

    def _anywhere(self, use: Indices) -> Indices:
        place = np.empty(len(use), dtype=np.int64)
        for wanted in Use:
            rows = np.flatnonzero(use == wanted)
            place[rows] = self._drawn(self._appeal[wanted], len(rows))
        return place

    def _step(self, here: Indices, use: Indices) -> Indices:
        """Where each person goes next; all who are at one place for one use go at once."""
        there = np.empty(len(here), dtype=np.int64)
        for rows in alike(here * len(Use) + use):
            place = int(here[rows[0]])
            weight = self._appeal[use[rows[0]]] * self._pull(place)
            # Where nothing else serves the purpose, people stay.
            weight[place] = STAY * weight.sum() or 1.0
            there[rows] = self._drawn(weight, len(rows))
        return there

    def _pull(self, place: int) -> Floats:
        """Near places pull more, but only by a power of the distance."""
        east_km, north_km = self._built.east_km, self._built.north_km
        distance_km = np.hypot(east_km - east_km[place], north_km - north_km[place])
        pull = (STEP_SHIFT_KM + distance_km) ** -STEP_EXPONENT * np.exp(-distance_km / REACH_KM)
        pull[place] = 0.0
        return np.asarray(pull)

    def _drawn(self, weight: Floats, count: int) -> Indices:
        cumulative = weight.cumsum()
        found = cumulative.searchsorted(self._rng.random(count) * cumulative[-1], side="right")
        return np.asarray(np.minimum(found, len(weight) - 1))


def _lay_out(rng: np.random.Generator, places: int) -> _Places:
    """A dense centre, quarters around it, towns farther out, two hubs far from everything (an
    airport, a fairground), avenues between them, streets, and a river.

    Every use has a place, if there are enough places.
    """
    districts = _districts(rng)
    district = rng.choice(len(districts.share), size=places, p=districts.share)
    offset_km = rng.normal(0, 1, (places, 2)) * districts.spread_km[district, np.newaxis]
    point = _turned(_on_streets(rng, offset_km), districts.turn_rad[district])
    point += districts.middle_km[district]
    on_avenue = rng.random(places) < AVENUE_SHARE
    point[on_avenue] = _along_avenues(rng, districts.middle_km, int(on_avenue.sum()))
    _gather(rng, point)
    east_km, north_km = _off_the_river(point)
    central = np.hypot(east_km, north_km) < 2 * CENTRE_SPREAD_KM
    chance = np.where(central[:, np.newaxis], USE_CENTRE, USE_OUTSIDE)
    use = (rng.random((places, 1)) > chance.cumsum(axis=1)[:, :-1]).sum(axis=1)
    use[: len(Use)] = np.arange(min(places, len(Use)))
    at_hub = (district >= len(districts.share) - HUBS) & ~on_avenue
    return _Places(east_km, north_km, use, _fame(rng, at_hub))


def _districts(rng: np.random.Generator) -> _Districts:
    quarters = _ring(rng, QUARTERS) * rng.uniform(1.6, 6.5, (QUARTERS, 1))
    towns = _ring(rng, TOWNS) * rng.uniform(9.0, 19.0, (TOWNS, 1))
    hubs = _ring(rng, HUBS) * np.array([[21.0], [12.0]])
    spread_km = rng.uniform(0.35, 0.9, QUARTERS), rng.uniform(0.5, 1.6, TOWNS)
    share = (
        SHARE["quarters"] * rng.dirichlet(np.full(QUARTERS, 5.0)),
        SHARE["towns"] * rng.dirichlet(np.full(TOWNS, 3.0)),
    )
    return _Districts(
        np.vstack([[[0.0, 0.0]], quarters, towns, hubs]),
        np.hstack([CENTRE_SPREAD_KM, *spread_km, np.full(HUBS, 0.3)]),
        np.hstack([SHARE["centre"], *share, 0.8 * SHARE["hubs"], 0.2 * SHARE["hubs"]]),
        rng.uniform(0, np.pi / 2, 1 + QUARTERS + TOWNS + HUBS),
    )


def _ring(rng: np.random.Generator, count: int) -> Floats:
    """Directions that share the horizon, none quite where it would be on a clock."""
    angle = 2 * np.pi * (np.arange(count) + rng.uniform(-0.35, 0.35, count)) / count
    angle += rng.uniform(0, 2 * np.pi)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _fame(rng: np.random.Generator, at_hub: NDArray[np.bool_]) -> Floats:
    """A shifted Zipf law over ranks; hubs are known to everybody."""
    rank = rng.permutation(len(at_hub))
    fame = (FAME_SHIFT + rank) ** -FAME_EXPONENT
    return np.asarray(np.where(at_hub, HUB_FAME * fame, fame), dtype=np.float64)


def _gather(rng: np.random.Generator, point: Floats) -> None:
    """Move some places beside others: shops stand together, offices share a tower."""
    guest = np.flatnonzero(rng.random(len(point)) < TOGETHER_SHARE)
    host = rng.integers(0, len(point), len(guest))
    point[guest] = point[host] + rng.normal(0, TOGETHER_KM, (len(guest), 2))


def _on_streets(rng: np.random.Generator, offset_km: Floats) -> Floats:
    """Each place on the nearest street of one direction, anywhere along it."""
    street = BLOCK_KM * np.round(offset_km / BLOCK_KM)
    return np.where(rng.permuted([[True, False]] * len(offset_km), axis=1), street, offset_km)


def _turned(offset_km: Floats, angle_rad: Floats) -> Floats:
    x, y = offset_km.T
    cos, sin = np.cos(angle_rad), np.sin(angle_rad)
    return np.stack([x * cos - y * sin, x * sin + y * cos], axis=1)


def _along_avenues(rng: np.random.Generator, middle_km: Floats, count: int) -> Floats:
    """Points on the roads from the centre to a district, or from one district to the next."""
    end = rng.integers(1, len(middle_km), count)
    start = np.where(rng.random(count) < 0.7, 0, end % (len(middle_km) - 1) + 1)
    along = rng.random((count, 1))
    from_km, to_km = middle_km[start], middle_km[end]
    return np.asarray(from_km + along * (to_km - from_km) + rng.normal(0, 0.03, (count, 2)))


def _off_the_river(point: Floats) -> tuple[Floats, Floats]:
    """Nobody lives in the water: move each place to its own bank."""
    east_km, north_km = point.T
    above_km = north_km - (1.4 * np.sin(east_km / 3.2) - 1.6)
    bank_km = np.copysign(RIVER_WIDTH_KM / 2, above_km)
    drowned = np.abs(above_km) < RIVER_WIDTH_KM / 2
    return east_km, np.where(drowned, north_km - above_km + bank_km, north_km)
