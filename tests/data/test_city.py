"""The synthetic city: the same from its seed, and shaped like a city."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from nomadp.data.city import synthetic_city
from nomadp.locations import LocationSet

CITY = synthetic_city(1, places=1000, trips=5000)
STEPS_KM = np.concatenate(
    [
        CITY.locations.distances_between_km(trip[:-1], trip[1:])
        for trip in (CITY.trajectories[k] for k in range(5000))
    ]
)
FINGERPRINT = """
import hashlib
from nomadp.data.city import synthetic_city
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
    with pytest.raises(ValueError, match=f"got places={places} and trips={trips}"):
        synthetic_city(places=places, trips=trips)


def test_trips_have_two_to_eight_stops_and_are_mostly_short():
    lengths = CITY.trajectories.lengths
    assert set(lengths.tolist()) == set(range(2, 9))
    assert np.median(lengths) == 3
    assert np.all(np.diff(np.bincount(lengths)[2:]) < 0)


def test_nobody_travels_to_where_they_are():
    inside = np.ones(len(CITY.trajectories.locations), dtype=bool)
    inside[CITY.trajectories.offsets[:-1]] = False
    stay = CITY.trajectories.locations[1:] == CITY.trajectories.locations[:-1]
    assert not np.any(stay & inside[1:])


def test_steps_are_heavy_tailed_within_a_city_of_some_twenty_km():
    assert 15 < CITY.locations.diameter_km < 35
    median, rare = np.quantile(STEPS_KM, [0.5, 0.99])
    assert 1 < median < 5
    assert rare > 3 * median


def test_a_few_places_draw_many_visits():
    visits = np.sort(np.bincount(CITY.trajectories.locations, minlength=1000))[::-1]
    assert visits[:10].sum() > 0.1 * visits.sum()
    assert visits[0] < 0.1 * visits.sum()
    assert np.count_nonzero(visits) > 900
