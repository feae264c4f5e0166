"""A synthetic city: public places and private trips, both from one seed.

Its step lengths, its few places that draw most visits, and the lengths of its trips are like
those of check-in data (`nomadp data describe CITY --compare DATA` shows how like). It is
nobody's: no row of it was derived from anybody's data, and it lies in mid-ocean.
"""

from dataclasses import dataclass

import numpy as np

from nomadp.datasets.built import BuiltData, alike, made, on_the_map, walked
from nomadp.datasets.city_districts import city_districts
from nomadp.datasets.city_layout import CENTRE, Places, Use, lay_out
from nomadp.errors import InvalidArgument
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
    return _city(seed, places, trips, lambda done, total: None)


def build_city(
    seed: int = 1, *, places: int = 1000, trips: int = 2000, progress: Progress | None = None
) -> BuiltData:
    """The same city as a data set that can be written to a folder, with its districts."""
    city = _city(seed, places, trips, progress or (lambda done, total: None))
    parameters = {"seed": seed, "places": places, "trips": trips}
    points = len(city.trajectories.locations)
    counts = {"places": places, "trajectories": trips, "points": points}
    recipe = made("synthetic-city", VERSION, parameters, counts)
    districts = city_districts(city.locations, seed)
    return BuiltData(city.locations, city.trajectories, recipe, districts=districts)


def _city(seed: int, places: int, trips: int, progress: Progress) -> City:
    if places < 2 or trips < 1:
        raise InvalidArgument(
            "a city must have at least 2 places and 1 trip, "
            f"got places={places} and trips={trips}",
            code="city_too_small",
            places=places,
            trips=trips,
        )
    rng = np.random.default_rng(seed)
    built = lay_out(rng, places)
    digits = max(4, len(str(places)))
    ids = [f"p{k:0{digits}d}" for k in range(1, places + 1)]
    locations = on_the_map(ids, CENTRE, built.east_km, built.north_km)
    lengths = rng.choice(LENGTHS, size=trips, p=LENGTH_SHARE)
    return City(locations, _Trips(rng, built, progress).taken(lengths))


class _Trips:
    """People who go from place to place, each step to somewhere known and not too far."""

    def __init__(self, rng: np.random.Generator, built: Places, progress: Progress) -> None:
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
