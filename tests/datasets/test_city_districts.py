"""The districts of a synthetic city: a public partition with names, from the seed alone."""

import numpy as np
import pytest

from nomadp.datasets.built import write_built
from nomadp.datasets.city import build_city, synthetic_city
from nomadp.datasets.city_districts import NAMES, city_districts
from nomadp.datasets.city_layout import CENTRE, districts_of
from nomadp.formats.zone_files import read_zones
from nomadp.geometry import DEGREE_KM
from nomadp.locations import LocationSet
from nomadp.zones import ELSEWHERE


def places_of(seed: int, places: int = 1000) -> LocationSet:
    return synthetic_city(seed, places=places, trips=1).locations


@pytest.mark.parametrize("seed", range(1, 9))
def test_every_place_is_in_one_district_and_none_holds_most_of_them(seed: int) -> None:
    districts = city_districts(places_of(seed), seed)
    assert districts.names == NAMES
    assert np.bincount(districts.of).max() < 0.25 * len(districts.of)


@pytest.mark.parametrize("places", [2, 5, 40])
def test_a_district_without_a_place_is_left_out(places: int) -> None:
    districts = city_districts(places_of(3, places), 3)
    assert set(districts.names) < set(NAMES)
    assert ELSEWHERE not in districts.names


def test_the_seed_and_the_places_decide_everything() -> None:
    assert city_districts(places_of(1), 1) == city_districts(places_of(1), 1)


def test_no_two_districts_overlap() -> None:
    """Their areas add up to that of the box around them."""
    districts = city_districts(places_of(1), 1)
    rings = [np.asarray(polygon[0]) for each in districts.polygons.values() for polygon in each]
    corner = np.concatenate(rings)
    width, height = corner.max(axis=0) - corner.min(axis=0)
    assert sum(map(area, rings)) == pytest.approx(width * height, rel=1e-6)


def area(ring: np.ndarray) -> float:
    x, y = (ring - ring[0]).T
    return float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2


def test_the_hubs_are_where_they_were_laid_out() -> None:
    places = places_of(1)
    districts = city_districts(places, 1)
    hubs_km = districts_of(np.random.default_rng(1)).middle_km[-2:]
    east_km = (places.lng - CENTRE[1]) * DEGREE_KM * np.cos(np.radians(CENTRE[0]))
    north_km = (places.lat - CENTRE[0]) * DEGREE_KM
    for name, hub_km in zip(("Airport", "Fairground"), hubs_km, strict=True):
        near = np.hypot(east_km - hub_km[0], north_km - hub_km[1]) < 1
        assert near.any()
        assert {districts.names[k] for k in districts.of[near]} == {name}


def test_a_city_that_is_built_has_them_as_a_file_of_zones(tmp_path) -> None:
    built = build_city(1, places=200, trips=5)
    recipe = write_built(tmp_path, built)
    assert "districts.geojson" in recipe["outputs"]
    assert read_zones(tmp_path / "districts.geojson", built.locations) == built.districts
