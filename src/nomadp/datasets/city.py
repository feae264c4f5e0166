"""A synthetic city: public places and private trajectories, both generated from one seed.

Its step lengths, trajectory lengths and skewed popularity of places resemble check-in data
(`nomadp data describe CITY --compare DATA` shows how closely). No row of it was derived from
real data, and the city lies in mid-ocean.
"""

from dataclasses import dataclass

import numpy as np

from nomadp.datasets.built import (
    BuiltData,
    locations_around,
    recipe_of,
    rows_by_key,
    trajectories_of_rows,
)
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
"""Probabilities of the first use: home, work, leisure."""
NEXT = np.array([[0.05, 0.35, 0.60], [0.10, 0.25, 0.65], [0.12, 0.18, 0.70]])
"""Transition probabilities between uses, one row per current use."""
STEP_EXPONENT = 1.6
"""At distance d, a place has a pull proportional to (STEP_SHIFT_KM + d) ** -STEP_EXPONENT."""
STEP_SHIFT_KM = 0.06
REACH_KM = 7.0
"""Scale of the exponential cut-off: people rarely cross the whole city."""
HOME_FAME_EXPONENT = 0.4
"""Fame is raised to this power for homes, which differ less than other places."""
STEPS_PER_UPDATE = 20_000
"""Steps that are drawn between two progress updates."""
STAY = 0.012
"""Probability that the next point is the same place."""


@dataclass(frozen=True)
class City:
    """A synthetic city: its public locations, and simulated trajectories over them."""

    locations: LocationSet
    trajectories: TrajectorySet


def synthetic_city(seed: int = 1, *, places: int = 1000, trips: int = 2000) -> City:
    """Generate a synthetic city, for examples and experiments; it contains nobody's data.

    Args:
        seed: The same seed gives the same city.
        places: The number of public locations.
        trips: The number of trajectories.

    Returns:
        The `City`, with its ``locations`` and ``trajectories``.

    Raises:
        ValueError: There are fewer than 2 places, or no trip.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=10)
    >>> len(city.locations), len(city.trajectories)
    (50, 10)
    """
    return _city(seed, places, trips, lambda done, total: None)


def build_city(
    seed: int = 1, *, places: int = 1000, trips: int = 2000, progress: Progress | None = None
) -> BuiltData:
    """The same city, with its districts, as a data set that can be written to a folder."""
    city = _city(seed, places, trips, progress or (lambda done, total: None))
    parameters = {"seed": seed, "places": places, "trips": trips}
    points = len(city.trajectories.locations)
    counts = {"places": places, "trajectories": trips, "points": points}
    recipe = recipe_of("synthetic-city", VERSION, parameters, counts)
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
    layout = lay_out(rng, places)
    digits = max(4, len(str(places)))
    ids = [f"p{k:0{digits}d}" for k in range(1, places + 1)]
    locations = locations_around(ids, CENTRE, layout.east_km, layout.north_km)
    lengths = rng.choice(LENGTHS, size=trips, p=LENGTH_SHARE)
    return City(locations, _TripSimulation(rng, layout, progress).simulate(lengths))


class _TripSimulation:
    """Simulated trips: each step goes to a popular place that is near (gravity model)."""

    def __init__(self, rng: np.random.Generator, layout: Places, progress: Progress) -> None:
        self._rng = rng
        self._layout = layout
        self._progress = progress
        self._appeal = [self._appeal_for(use) for use in Use]

    def simulate(self, lengths: Indices) -> TrajectorySet:
        """One trip of each length."""
        trips, longest = len(lengths), int(lengths.max())
        visited = np.empty((trips, longest), dtype=np.int64)
        use = self._rng.choice(len(Use), size=trips, p=START)
        position = visited[:, 0] = self._first_places(use)
        steps = int((lengths - 1).sum())
        done = 0
        for k in range(1, longest):
            active = np.flatnonzero(lengths > k)
            # First draw the next use (a Markov chain), then a place for it.
            cumulative = NEXT.cumsum(axis=1)[use[active], :-1]
            use[active] = (self._rng.random((len(active), 1)) > cumulative).sum(axis=1)
            for part in np.array_split(active, 1 + len(active) // STEPS_PER_UPDATE):
                position[part] = self._step(position[part], use[part])
                done += len(part)
                self._progress(done, steps)
            visited[:, k] = position
        return trajectories_of_rows(visited, lengths)

    def _appeal_for(self, use: Use) -> Floats:
        """The probability of each place for a use. If no place has the use, all places do."""
        fame = self._layout.fame
        popularity = np.where(self._layout.use == use, fame, 0.0)
        if use is Use.HOME:
            popularity = np.where(popularity > 0, popularity, 0.0) ** HOME_FAME_EXPONENT
        popularity = popularity if popularity.any() else fame
        return np.asarray(popularity / popularity.sum())

    def _first_places(self, use: Indices) -> Indices:
        """The first place of each person, by popularity for the use and not by distance."""
        place = np.empty(len(use), dtype=np.int64)
        for wanted_use in Use:
            rows = np.flatnonzero(use == wanted_use)
            place[rows] = self._draw(self._appeal[wanted_use], len(rows))
        return place

    def _step(self, position: Indices, use: Indices) -> Indices:
        """The next place of each person. Equal positions and uses share one distribution."""
        destination = np.empty(len(position), dtype=np.int64)
        for rows in rows_by_key(position * len(Use) + use):
            place = int(position[rows[0]])
            weight = self._appeal[use[rows[0]]] * self._pull(place)
            # If no other place serves the use, people stay.
            weight[place] = STAY * weight.sum() or 1.0
            destination[rows] = self._draw(weight, len(rows))
        return destination

    def _pull(self, place: int) -> Floats:
        """The distance weight of each place: a truncated power law.

        Human mobility roughly follows one (González, Hidalgo and Barabási, Nature 2008).
        """
        east_km, north_km = self._layout.east_km, self._layout.north_km
        distance_km = np.hypot(east_km - east_km[place], north_km - north_km[place])
        pull = (STEP_SHIFT_KM + distance_km) ** -STEP_EXPONENT * np.exp(-distance_km / REACH_KM)
        pull[place] = 0.0
        return np.asarray(pull)

    def _draw(self, weight: Floats, count: int) -> Indices:
        """Draw places by inversion of the cumulative weights."""
        cumulative = weight.cumsum()
        target = self._rng.random(count) * cumulative[-1]
        # Rounding may put the target at the end of the last interval.
        drawn = cumulative.searchsorted(target, side="right")
        return np.asarray(np.minimum(drawn, len(weight) - 1))
