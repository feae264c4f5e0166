"""The synthetic city: the same from its seed, and shaped like a city."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest
from refusals import refused

from nomadp.datasets.built import read_built
from nomadp.datasets.city import build_city, synthetic_city
from nomadp.datasets.statistics import describe
from nomadp.errors import InvalidArgument
from nomadp.locations import LocationSet

CITY = synthetic_city(1, places=1000, trips=5000)
LIKE = describe(CITY.locations, CITY.trajectories)
FINGERPRINT = """
import hashlib
from nomadp.datasets.city import synthetic_city
city = synthetic_city(7, places=60, trips=40)
print(city.locations.sha256, hashlib.sha256(city.trajectories.locations.tobytes()).hexdigest())
"""


def test_the_seed_decides_everything():
    again, other = synthetic_city(1, places=1000, trips=5000), synthetic_city(2)
    assert again.locations == CITY.locations
    assert again.trajectories == CITY.trajectories
    assert other.locations != CITY.locations


def test_another_process_builds_the_same_city():
    here = synthetic_city(7, places=60, trips=40)
    trips = hashlib.sha256(here.trajectories.locations.tobytes()).hexdigest()
    there = subprocess.run(
        [sys.executable, "-c", FINGERPRINT], capture_output=True, text=True, check=True
    )
    assert there.stdout.split() == [here.locations.sha256, trips]


def test_has_the_places_and_trips_it_was_asked_for():
    assert len(synthetic_city().locations) == 1000
    assert len(synthetic_city().trajectories) == 2000
    assert CITY.locations.ids[:2] == ("p0001", "p0002")
    assert isinstance(CITY.locations, LocationSet)


@pytest.mark.parametrize("places", [2, 3, 4, 12, 3000])
def test_any_number_of_places_will_do(places):
    city = synthetic_city(3, places=places, trips=30)
    assert len(city.locations) == places
    assert city.trajectories.locations.max() < places


@pytest.mark.parametrize(("places", "trips"), [(1, 10), (10, 0)])
def test_refuses_a_city_of_nothing(places, trips):
    with refused(InvalidArgument, "city_too_small", places=places, trips=trips):
        synthetic_city(places=places, trips=trips)


def test_trips_have_two_to_eight_stops_and_are_mostly_short():
    lengths = CITY.trajectories.lengths
    assert set(lengths.tolist()) == set(range(2, 9))
    assert 0.70 < np.mean(lengths == 2) < 0.80
    assert np.all(np.diff(np.bincount(lengths)[2:8]) < 0)


def test_hardly_anybody_travels_to_where_they_are():
    assert 0.005 < LIKE.stay_share < 0.03


def test_steps_are_short_and_heavy_tailed():
    assert 30 < CITY.locations.diameter_km < 50
    assert 0.010 < LIKE.step["50%"] < 0.020
    assert 0.25 < LIKE.step["99%"] < 0.40


def test_a_few_places_draw_many_visits_and_some_draw_none():
    assert 0.10 < LIKE.top_visits["1%"] < 0.18
    assert 0.40 < LIKE.top_visits["10%"] < 0.47
    assert LIKE.visited_share < 1


def test_the_city_is_built_with_a_recipe_and_tells_its_progress():
    seen = []
    built = build_city(
        7, places=60, trips=40, progress=lambda done, total: seen.append((done, total))
    )
    city = synthetic_city(7, places=60, trips=40)
    assert (built.locations, built.trajectories) == (city.locations, city.trajectories)
    assert built.recipe["parameters"] == {"seed": 7, "places": 60, "trips": 40}
    assert seen[-1] == (int((city.trajectories.lengths - 1).sum()),) * 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_every_city_resembles_the_papers_check_ins(paper_data, seed):
    """As like CHI and NYC as these are like each other: within a factor, per statistic."""
    city = synthetic_city(seed, trips=3000)
    description = describe(city.locations, city.trajectories)
    real = [describe(*read_built(paper_data / name)) for name in ("chi", "nyc", "cle")]
    for name, keys, factor in (
        ("step", ("25%", "50%", "75%", "90%", "95%", "99%"), 1.5),
        ("gyration", ("25%", "50%", "75%", "90%", "95%"), 1.5),
        ("top_visits", ("1%", "5%", "10%", "25%"), 1.2),
        ("length", ("2", "3", "4", "5", "6"), 1.6),
    ):
        for key in keys:
            values = [getattr(each, name)[key] for each in real]
            here = getattr(description, name)[key]
            assert min(values) / factor < here < max(values) * factor, (name, key)
