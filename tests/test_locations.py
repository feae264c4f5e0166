"""The public location set: what it accepts, and that every reader of it sees the same."""

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from refusals import refused

from nomadp import locations as module
from nomadp.errors import (
    DomainError,
    InvalidArgument,
    NomadpError,
    OutOfRange,
    SchemaError,
    WrongType,
)
from nomadp.geometry import haversine_km, places, sector_seen
from nomadp.locations import CACHED_ROWS_MAX, LocationSet


def made(lat, lng):
    return LocationSet.from_columns([f"p{k}" for k in range(len(lat))], lat, lng)


def scattered(size, seed=0, around=(41.9, -87.6), spread=0.1):
    rng = np.random.default_rng(seed)
    return made(*(rng.normal(centre, spread, size) for centre in around))


def all_distances(locations):
    m = np.arange(len(locations))
    return haversine_km(
        locations.lat[m[:, None]], locations.lng[m[:, None]], locations.lat, locations.lng
    )


grid = st.integers(-90, 90).map(float) | st.floats(-90, 90)
sets = st.integers(2, 40).flatmap(
    lambda size: st.builds(
        made, arrays(np.float64, size, elements=grid), arrays(np.float64, size, elements=grid)
    )
)
"""Many share a coordinate, a meridian or a parallel; some are poles."""


# What it accepts


@pytest.mark.parametrize(
    ("ids", "lat", "lng", "kind", "code", "facts"),
    [
        (["a"], [1.0], [1.0], DomainError, "too_few_locations", {"locations": 1}),
        ([], [], [], DomainError, "too_few_locations", {"locations": 0}),
        (
            ["a", "a", "b"],
            [1, 2, 3],
            [1, 2, 3],
            SchemaError,
            "location_ids_repeated",
            {"repeated": 1},
        ),
        (["a", ""], [1, 2], [1, 2], SchemaError, "invalid_location_ids", {}),
        (["a", 7], [1, 2], [1, 2], SchemaError, "invalid_location_ids", {}),
        (
            ["a", "b"],
            [1, np.nan],
            [1, 2],
            DomainError,
            "coordinates_out_of_range",
            {"column": "lat", "outside": 1},
        ),
        (
            ["a", "b"],
            [1, 2],
            [np.inf, 2],
            DomainError,
            "coordinates_out_of_range",
            {"column": "lng", "outside": 1},
        ),
        (
            ["a", "b"],
            [1, 90.001],
            [1, 2],
            DomainError,
            "coordinates_out_of_range",
            {"column": "lat", "outside": 1},
        ),
        (
            ["a", "b"],
            [1, 2],
            [1, -180.001],
            DomainError,
            "coordinates_out_of_range",
            {"column": "lng", "outside": 1},
        ),
        (["a", "b"], [1, 2, 3], [1, 2], SchemaError, "location_columns_differ", {}),
        (["a", "b"], ["x", "y"], [1, 2], SchemaError, "not_a_number", {"column": "lat"}),
        (["a", "b"], [[1], [2]], [1, 2], SchemaError, "not_one_column", {"column": "lat"}),
    ],
)
def test_refuses_what_is_not_a_location_set(ids, lat, lng, kind, code, facts):
    with refused(kind, code, **facts) as refusal:
        LocationSet.from_columns(ids, lat, lng)
    assert isinstance(refusal.value, NomadpError)


def test_the_constructor_checks_as_much_as_from_columns():
    with refused(DomainError, "coordinates_out_of_range", column="lat"):
        LocationSet(("a", "b"), np.array([np.nan, 0.0]), np.zeros(2))


def test_accepts_the_ends_of_the_ranges_and_shared_coordinates():
    assert len(made([90, -90, 0, 0], [180, -180, 5, 5])) == 4


def test_cannot_be_changed():
    locations = scattered(3)
    with pytest.raises(AttributeError):
        locations.lat = np.zeros(3)
    for array in (locations.lat, locations.distances_km(0), locations.sectors(0, 4)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_does_not_follow_the_caller_who_changes_his_array():
    lat = np.array([1.0, 2.0])
    locations = made(lat, [0.0, 0.0])
    lat[0] = 50.0
    assert locations.lat.tolist() == [1.0, 2.0]


# What identifies it


def test_the_hash_is_pinned_across_versions():
    assert made([1.5, -2.25], [0.1, 180.0]).sha256 == (
        "4a508b5dc82f71fd764e899263a16810fe540412dafef4b0d0b731b36c09c06f"
    )


@pytest.mark.parametrize(
    "other",
    [
        (["a", "b"], [1.0, np.nextafter(2.0, 3.0)], [3.0, 4.0]),
        (["b", "a"], [1.0, 2.0], [3.0, 4.0]),
        (["a", "c"], [1.0, 2.0], [3.0, 4.0]),
        (["a", "b"], [2.0, 1.0], [4.0, 3.0]),
        (["a", "b"], [1.0, 2.0], [3.0, -4.0]),
    ],
)
def test_another_bit_is_another_set(other):
    first = LocationSet.from_columns(["a", "b"], [1.0, 2.0], [3.0, 4.0])
    assert LocationSet.from_columns(*other) != first


def test_ids_cannot_be_shifted_into_each_other_without_changing_the_hash():
    one = LocationSet.from_columns(["ab", "c"], [1, 2], [3, 4])
    two = LocationSet.from_columns(["a", "bc"], [1, 2], [3, 4])
    assert one.sha256 != two.sha256


def test_equal_sets_are_equal_and_hash_alike():
    assert scattered(5) == scattered(5)
    assert len({scattered(5), scattered(5), scattered(5, seed=1)}) == 2
    assert scattered(5) != "something else"


def test_survives_the_pickling_of_multiprocessing_and_leaves_its_rows_behind():
    locations = scattered(50)
    before = len(pickle.dumps(locations))
    for i in range(50):
        locations.distances_km(i)
    assert len(pickle.dumps(locations)) == before
    assert pickle.loads(pickle.dumps(locations)) == locations


def test_repr_is_short():
    assert (
        repr(scattered(1000))
        == f"LocationSet(1000 locations, sha256={scattered(1000).sha256[:6]}...)"
    )


# One law, several readers: rows and pairs agree to the bit


@given(sets, st.data())
def test_a_row_of_distances_is_its_pairs_bit_for_bit(locations, data):
    i = data.draw(st.integers(0, len(locations) - 1))
    row, everyone = locations.distances_km(i), np.arange(len(locations))
    assert np.array_equal(row, locations.distances_between_km(i, everyone))
    assert np.array_equal(row, locations.distances_between_km(everyone, i))
    assert row.tolist() == [float(locations.distances_between_km(i, j)) for j in everyone]
    assert row[i] == 0


@given(sets, st.sampled_from([2, 3, 4, 6, 12]), st.data())
def test_a_row_of_sectors_is_its_pairs_bit_for_bit(locations, granularity, data):
    i = data.draw(st.integers(0, len(locations) - 1))
    row, everyone = locations.sectors(i, granularity), np.arange(len(locations))
    assert np.array_equal(row, locations.sector_between(i, everyone, granularity))
    assert row.tolist() == [int(locations.sector_between(i, j, granularity)) for j in everyone]
    assert row[i] == 0


@pytest.mark.parametrize("size", [CACHED_ROWS_MAX, CACHED_ROWS_MAX + 1])
def test_pairs_agree_with_rows_at_any_length_and_stride(size):
    """Vectorised arithmetic takes other paths at other lengths, offsets and strides."""
    locations, rng = scattered(size), np.random.default_rng(5)
    i = 17
    distance, seen = locations.distances_km(i), locations.sectors(i, 6)
    for _ in range(300):
        start, step = int(rng.integers(size)), int(rng.integers(1, 5))
        j = np.arange(size)[start : start + step * int(rng.integers(1, 40)) : step]
        assert np.array_equal(distance[j], locations.distances_between_km(i, j))
        assert np.array_equal(seen[j], locations.sector_between(np.full_like(j, i), j, 6))


def test_a_pair_asked_for_alone_agrees_with_its_row():
    """numpy squares a lone number by pow, which rounds one in a thousand otherwise."""
    locations = made(*np.random.default_rng(8).uniform(-90, 90, (2, 60)))
    for i in range(len(locations)):
        distance, seen = locations.distances_km(i).tolist(), locations.sectors(i, 6).tolist()
        for j in range(len(locations)):
            assert locations.distances_between_km(i, j) == distance[j]
            assert locations.sector_between(i, j, 6) == seen[j]


@given(sets, st.data())
def test_rows_are_the_geometry_module_bit_for_bit(locations, data):
    i = data.draw(st.integers(0, len(locations) - 1))
    lat, lng = locations.lat, locations.lng
    assert np.array_equal(locations.distances_km(i), haversine_km(lat[i], lng[i], lat, lng))
    seen = sector_seen(places(lat[i], lng[i]), places(lat, lng), 6)
    assert np.array_equal(locations.sectors(i, 6), seen)


def test_rows_of_a_large_set_are_not_kept():
    small, large = scattered(CACHED_ROWS_MAX), scattered(CACHED_ROWS_MAX + 1)
    assert small.distances_km(0) is small.distances_km(0)
    assert small.sectors(0, 4) is small.sectors(0, 4)
    assert large.distances_km(0) is not large.distances_km(0)
    assert large.sectors(0, 4) is not large.sectors(0, 4)


def test_pairs_broadcast():
    locations = scattered(6)
    assert locations.distances_between_km(np.arange(6)[:, None], np.arange(6)).shape == (6, 6)
    assert locations.sector_between(np.arange(6)[:, None], [0, 1], 4).shape == (6, 2)


@pytest.mark.parametrize("index", [-1, 5, [0, 7], [-2]])
def test_refuses_an_index_outside_the_set_without_showing_it(index):
    locations = scattered(5)
    for ask in (
        lambda: locations.distances_between_km(0, index),
        lambda: locations.sector_between(index, 0, 4),
        lambda: locations.subset(index),
    ):
        with refused(OutOfRange, "location_out_of_range", size=5):
            ask()


def test_refuses_a_row_outside_the_set():
    with refused(OutOfRange, "location_out_of_range"):
        scattered(5).distances_km(-1)
    with refused(OutOfRange, "location_out_of_range"):
        scattered(5).sectors(5, 4)


def test_refuses_indices_that_are_not_integers():
    with refused(WrongType, "location_not_integer"):
        scattered(5).distances_between_km(0, [0.5])


# Near and far


@given(sets, st.data())
def test_a_disc_is_what_the_row_says(locations, data):
    i = data.draw(st.integers(0, len(locations) - 1))
    row = locations.distances_km(i)
    radius = data.draw(st.sampled_from(row.tolist()) | st.floats(0, 21000))
    inside = locations.within(i, radius)
    assert inside.tolist() == [j for j in range(len(locations)) if row[j] <= radius]
    assert inside.dtype == np.int64
    assert i in inside


@pytest.mark.parametrize("radius_km", [-1.0, float("nan")])
def test_refuses_a_disc_without_a_radius(radius_km):
    with refused(InvalidArgument, "negative_radius"):
        scattered(3).within(0, radius_km)


@given(sets)
@settings(deadline=None)
def test_the_diameter_is_the_largest_of_all_distances_exactly(locations):
    assert locations.diameter_km == all_distances(locations).max()
    assert locations.diameter_km == max(
        locations.distances_km(i).max() for i in range(len(locations))
    )


@pytest.mark.parametrize("spread", [1e-7, 0.1, 60.0])
def test_the_diameter_is_exact_for_many_locations(spread):
    rng = np.random.default_rng(2)
    locations = made(
        rng.uniform(-spread, spread, 700), 170 + rng.uniform(-spread / 6, spread / 6, 700)
    )
    assert locations.diameter_km == all_distances(locations).max()


@pytest.mark.slow
@pytest.mark.parametrize("around", ["everywhere", "ring", "grid", "two continents"])
def test_the_diameter_is_exact_for_a_large_set_that_spans_the_earth(around):
    rng = np.random.default_rng(6)
    size = CACHED_ROWS_MAX + 100
    lat, lng = np.degrees(np.arcsin(rng.uniform(-1, 1, size))), rng.uniform(-180, 180, size)
    if around == "ring":
        lat = np.zeros(size)
    if around == "grid":
        lat, lng = np.arange(size) % 60 * 3.0 - 88.5, np.arange(size) // 60 * 5.0 - 180
    if around == "two continents":
        lat, lng = lat / 3, lng / 9 + 120.0 * (lng > 0)
    locations = made(lat, lng)
    assert locations.diameter_km == max(locations.distances_km(i).max() for i in range(size))


def test_the_diameter_of_a_large_set_needs_no_table():
    assert scattered(50_000).diameter_km > 50


@given(sets)
@settings(deadline=None)
def test_the_medoid_has_the_smallest_mean_distance(locations):
    mean = np.array([locations.distances_km(i).mean() for i in range(len(locations))])
    assert locations.medoid == mean.argmin()


def test_the_medoid_is_exact_where_most_locations_are_skipped():
    locations = scattered(900, seed=4)
    assert locations.medoid == all_distances(locations).mean(axis=1).argmin()


def test_the_medoid_of_a_very_large_set_is_that_of_an_even_sample(monkeypatch):
    locations = scattered(900, seed=4)
    monkeypatch.setattr("nomadp.locations.MEDOID_EXACT_MAX", 899)
    monkeypatch.setattr("nomadp.locations.CACHED_ROWS_MAX", 90)
    among = np.arange(90) * 10
    mean = all_distances(locations)[np.ix_(among, among)].mean(axis=1)
    assert locations.medoid == among[mean.argmin()]


@given(sets, st.lists(st.tuples(grid, grid), min_size=1, max_size=5))
@settings(deadline=None)
def test_nearest_is_the_first_of_the_closest(locations, points):
    lat, lng = np.array(points).T
    expected = [
        int(haversine_km(a, b, locations.lat, locations.lng).argmin())
        for a, b in zip(lat, lng, strict=True)
    ]
    assert locations.nearest(lat, lng).tolist() == expected


def test_nearest_crosses_the_date_line():
    locations = made([0.0, 0.0], [-179.0, 170.0])
    assert locations.nearest(0.0, 179.5) == 0


@pytest.mark.parametrize("copies", [2, 9])
def test_the_lowest_index_wins_among_locations_that_share_a_coordinate(copies):
    locations = made([5.0, *[1.0] * copies], [5.0, *[2.0] * copies])
    assert locations.nearest([1.0, 1.1], [2.0, 2.0]).tolist() == [1, 1]


def test_many_coincident_locations_cost_no_memory():
    lat, lng = np.random.default_rng(0).uniform(1, 2, (2, 4_096))
    lat[:4_000] = lng[:4_000] = 1.5
    locations = LocationSet.from_columns([f"p{k}" for k in range(4_096)], lat, lng)
    locations.nearest(1.5, 1.5)  # makes the tree
    tracemalloc.start()
    found = locations.nearest(np.full(500, 1.5), np.full(500, 1.5))
    used_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.tolist() == [0] * 500
    assert used_bytes < 1_000_000  # it was 476 MB: a list of 4,000 for each point


def test_nearest_keeps_the_shape_it_is_given():
    locations = scattered(9)
    assert locations.nearest(1.0, 2.0).shape == ()
    assert locations.nearest(np.zeros((2, 3)), np.zeros((2, 3))).shape == (2, 3)
    assert locations.nearest(np.zeros(0), np.zeros(0)).shape == (0,)


# Ids


def test_ids_become_indices():
    assert scattered(4).find(["p3", "p0", "p3"]).tolist() == [3, 0, 3]


def test_whoever_asks_which_ids_are_known_gets_no_index_that_could_be_used():
    locations = scattered(4)
    index, known = locations.find_known(["p3", "nowhere"])
    assert (index[0], known.tolist()) == (3, [True, False])
    with pytest.raises(IndexError):
        locations.lat[index[1]]
    assert [len(found) for found in locations.find_known([])] == [0, 0]


def test_unknown_ids_are_counted_and_not_named():
    with refused(DomainError, "unknown_locations", unknown=2, size=4) as refusal:
        scattered(4).find(["p1", "her-home", "his-home"])
    assert "home" not in str(refusal.value)


def test_a_subset_keeps_order_and_coordinates():
    locations = scattered(6)
    chosen = locations.subset([4, 1, 2])
    assert chosen.ids == ("p4", "p1", "p2")
    assert chosen.lat.tolist() == locations.lat[[4, 1, 2]].tolist()


def test_a_subset_must_be_a_location_set_itself():
    with refused(DomainError, "too_few_locations"):
        scattered(6).subset([3])
    with refused(SchemaError, "location_ids_repeated"):
        scattered(6).subset([3, 3])


def test_public_names_are_those_listed():
    assert set(module.__all__) == {"CACHED_ROWS_MAX", "MEDOID_EXACT_MAX", "LocationSet"}


@pytest.mark.parametrize(
    "hidden", ["\x1b]0;t\x07", "\x00", "\x85", "\u202e", "\u2066", "\ue000"]
)
def test_ids_that_could_steer_a_terminal_are_refused_unquoted(hidden):
    with refused(SchemaError, "location_id_characters", ids=1) as refusal:
        LocationSet.from_columns(["a", f"b{hidden}"], [1.0, 2.0], [3.0, 4.0])
    assert hidden not in str(refusal.value)


def test_ids_in_any_language_keep_the_hash_they_had():
    known = "37685d1616d4d6f9"
    ids = ["caf\u00e9 \u00a0x", "=1+2", "\u4e2d\U0001fae9"]
    assert LocationSet.from_columns(ids, [1, 2, 3], [4, 5, 6]).sha256.startswith(known)
