"""Distances, bearings and sectors, against an independent library and by hand."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from pyproj import Geod
from refusals import refused

from nomadp import geometry
from nomadp.errors import InvalidArgument
from nomadp.geometry import (
    EARTH_RADIUS_KM,
    MAX_GRANULARITY,
    bearing_rad,
    chord_to_km,
    haversine_km,
    km_to_chord,
    mean_lat_lng,
    places,
    sector_seen,
    unit_vectors,
)

SPHERE = Geod(a=1000 * EARTH_RADIUS_KM, b=1000 * EARTH_RADIUS_KM)
HALF_ROUND_KM = math.pi * EARTH_RADIUS_KM

latitudes = st.floats(-90, 90) | st.sampled_from([-90.0, -1e-9, 0.0, 45.0, 90.0])
longitudes = st.floats(-180, 180) | st.sampled_from([-180.0, -179.999, 0.0, 179.999, 180.0])
points = st.tuples(latitudes, longitudes)


def sector(lat1, lng1, lat2, lng2, granularity):
    """The sector in which the first place sees the second."""
    return sector_seen(places(lat1, lng1), places(lat2, lng2), granularity)


granularities = st.integers(1, 16) | st.just(MAX_GRANULARITY)


def reference(a, b):
    """Bearing in radians and distance in km, by PROJ."""
    bearing, _, distance_m = SPHERE.inv(a[1], a[0], b[1], b[0])
    return math.radians(bearing) % (2 * math.pi), distance_m / 1000


@given(points, points)
@example((90.0, 10.0), (-90.0, -30.0))
@example((12.5, 30.0), (-12.5, -150.0))
@example((0.0, 179.9999), (0.0, -179.9999))
@example((41.9, -87.6), (41.9, -87.6000001))
def test_distance_agrees_with_proj_on_a_sphere(a, b):
    assert haversine_km(*a, *b) == pytest.approx(reference(a, b)[1], abs=1e-9)


@given(points, points)
def test_distance_is_symmetric_to_the_bit(a, b):
    assert haversine_km(*a, *b) == haversine_km(*b, *a)


@given(points)
def test_a_place_is_at_distance_zero_from_itself(a):
    assert haversine_km(*a, *a) == 0


@given(latitudes)
def test_both_names_of_the_date_line_are_one_place(lat):
    assert haversine_km(lat, -180.0, lat, 180.0) == 0


@given(longitudes, longitudes)
@pytest.mark.parametrize("pole", [-90.0, 90.0])
def test_a_pole_is_one_place_whatever_its_longitude(pole, lng1, lng2):
    assert haversine_km(pole, lng1, pole, lng2) == 0


@given(latitudes, st.floats(-180, 0))
def test_antipodes_are_half_the_circumference_apart(lat, lng):
    assert haversine_km(lat, lng, -lat, lng + 180) == pytest.approx(HALF_ROUND_KM, abs=1e-9)


def test_many_places_are_as_far_as_each_of_them():
    rng = np.random.default_rng(0)
    count = 2 * geometry._BLOCK_PLACES + 3
    many = geometry.places(rng.uniform(-90, 90, count), rng.uniform(-180, 180, count))
    here = many.at(7)
    row = geometry.distance_km(here, many)
    some = rng.integers(count, size=200)
    assert row.shape == (count,)
    assert row[some].tolist() == geometry.distance_km(here, many.at(some)).tolist()


def test_one_metre_is_one_metre():
    lat = math.degrees(0.001 / EARTH_RADIUS_KM)
    assert haversine_km(10.0, 20.0, 10.0 + lat, 20.0) == pytest.approx(0.001, rel=1e-6)


@given(points, points)
def test_bearing_agrees_with_proj_on_a_sphere(a, b):
    bearing, distance_km = reference(a, b)
    # A direction is as well known as the smaller of the ways to the place and to its antipode.
    certain_km = min(distance_km, HALF_ROUND_KM - distance_km)
    assume(certain_km > 1e-3)
    assume(max(abs(a[0]), abs(b[0])) < 89.999)
    off = (bearing_rad(*a, *b) - bearing + math.pi) % (2 * math.pi) - math.pi
    assert abs(off) <= 1e-10 * EARTH_RADIUS_KM / certain_km


@given(points, points)
def test_bearing_lies_in_one_turn(a, b):
    assert 0 <= bearing_rad(*a, *b) < 2 * math.pi


@pytest.mark.parametrize(
    ("lat", "lng", "quarter_turns"), [(1, 0, 0), (0, 1, 1), (-1, 0, 2), (0, -1, 3), (0, 0, 0)]
)
def test_cardinal_bearings_are_exact(lat, lng, quarter_turns):
    assert bearing_rad(0, 0, lat, lng) == quarter_turns * math.pi / 2


def test_bearing_crosses_the_date_line_the_short_way():
    assert bearing_rad(0, 179, 0, -179) == math.pi / 2
    assert bearing_rad(0, -179, 0, 179) == 3 * math.pi / 2


@given(points, points, granularities)
def test_sector_is_the_formula_away_from_its_borders(a, b, granularity):
    width = 2 * math.pi / granularity
    turned = (bearing_rad(*a, *b) - math.pi / 2 + width / 2) / width
    assume(haversine_km(*a, *b) > 0)
    assume(abs(turned - round(turned)) > 1e-9 * granularity)
    assert sector(*a, *b, granularity) == math.floor(turned % granularity)


@given(points, points, granularities)
def test_sector_is_one_of_the_sectors(a, b, granularity):
    assert 0 <= sector(*a, *b, granularity) < granularity


@given(points, granularities)
def test_a_place_sees_itself_in_sector_zero(a, granularity):
    assert sector(*a, *a, granularity) == 0


@pytest.mark.parametrize(
    ("granularity", "north", "east", "south", "west"),
    # With 2 and 6 sectors, north and south are borders: they belong to the one that begins.
    [
        (1, 0, 0, 0, 0),
        (2, 0, 0, 1, 1),
        (4, 3, 0, 1, 2),
        (6, 5, 0, 2, 3),
        (10, 8, 0, 3, 5),
        (12, 9, 0, 3, 6),
        (3, 2, 0, 1, 2),  # west is the border between 1 and 2
        (5, 4, 0, 1, 3),  # west is the border between 2 and 3
    ],
)
def test_cardinal_directions_by_hand(granularity, north, east, south, west):
    seen = sector(0, 0, [1, 0, -1, 0], [0, 1, 0, -1], granularity)
    assert seen.tolist() == [north, east, south, west]


@pytest.mark.parametrize("granularity", [2, 3, 4, 5, 6, 7, 12, 256])
def test_sectors_begin_half_a_sector_before_their_middle(granularity):
    """A hair on either side of every border; near the pole bearings are longitudes."""
    step = 360 / granularity
    border = 90 + (np.arange(granularity) - 0.5) * step
    after = sector(-90, 0, -89.999, border + 1e-6, granularity)
    before = sector(-90, 0, -89.999, border - 1e-6, granularity)
    assert after.tolist() == list(range(granularity))
    assert before.tolist() == [(k - 1) % granularity for k in range(granularity)]


def test_sectors_are_fixed_to_east_not_to_the_target():
    bearing_deg = np.arange(0, 360, 10)
    lng, lat, _ = SPHERE.fwd(np.full(36, 8.0), np.full(36, 50.0), bearing_deg, np.full(36, 1e3))
    assert sector(50.0, 8.0, lat, lng, 4).tolist() == [
        ((b - 90 + 45) // 90) % 4 for b in bearing_deg
    ]


@pytest.mark.parametrize("granularity", [0, -1, MAX_GRANULARITY + 1])
def test_refuses_a_number_of_sectors_out_of_range(granularity):
    with refused(InvalidArgument, "granularity_out_of_range", granularity=granularity):
        sector(0, 0, 1, 1, granularity)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_refuses_coordinates_that_are_not_finite_without_showing_the_others(bad):
    with refused(InvalidArgument, "coordinates_not_finite") as refusal:
        places([41.8781, bad], [0.0, 0.0])
    assert "41.8781" not in str(refusal.value)


@given(points, points)
def test_chord_and_distance_tell_the_same(a, b):
    chord = np.linalg.norm(unit_vectors(*a) - unit_vectors(*b))
    # Near the antipode a chord hardly changes with the distance.
    assert km_to_chord(haversine_km(*a, *b)) == pytest.approx(chord, abs=1e-12)
    assert chord_to_km(chord) == pytest.approx(haversine_km(*a, *b), abs=1e-9, rel=1e-8)


def test_beyond_half_the_circumference_every_place_is_within_reach():
    assert km_to_chord(1e9) == 2
    assert chord_to_km(2.0000001) == pytest.approx(HALF_ROUND_KM)


def test_mean_is_arithmetic():
    assert mean_lat_lng([1.0, 2.0, 6.0], [10.0, 20.0, 60.0]) == (3.0, 30.0)


def test_mean_is_right_across_the_date_line():
    lat, lng = mean_lat_lng([0.0, 0.0], [179.0, -177.0])
    assert (lat, lng) == (0.0, -179.0)


def test_mean_works_along_any_axis():
    lat, lng = mean_lat_lng([[0.0, 2.0], [4.0, 8.0]], [[179.0, -179.0], [1.0, 3.0]], axis=1)
    assert lat.tolist() == [1.0, 6.0]
    assert np.abs(lng).tolist() == [180.0, 2.0]
