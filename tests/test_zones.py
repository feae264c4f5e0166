"""Public zones: which location is in which, their hash, and ever finer groups of them."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from worlds import scattered

from nomadp.errors import DomainError, ExtraMissing
from nomadp.extras import EXTRAS, Extra
from nomadp.locations import LocationSet
from nomadp.unit_square import UnitSquare
from nomadp.zones import ELSEWHERE, Zones, polygon_zones, zones_of

SQUARE = [(0, 0), (4, 0), (4, 4), (0, 4)]
corner = st.tuples(st.integers(-3, 3), st.integers(-3, 3))


def places(*lng_lat: tuple[float, float]) -> LocationSet:
    lng, lat = zip(*lng_lat, strict=True)
    return LocationSet.from_columns([str(k) for k in range(len(lng))], lat, lng)


LATTICE = places(*((x / 2, y / 2) for x in range(-5, 6) for y in range(-5, 6)))


def winds_oddly(point, ring) -> bool:
    """Crossings of a ray to the east, one edge at a time in exact rationals."""
    x, y = map(Fraction, point)
    odd = False
    for (x1, y1), (x2, y2) in zip(ring, [*ring[1:], ring[0]], strict=True):
        if (y1 <= y) != (y2 <= y):
            odd ^= x < x1 + (y - y1) * Fraction(x2 - x1, y2 - y1)
    return odd


@settings(max_examples=50, deadline=None)
@given(
    ring=st.lists(corner, min_size=3, max_size=9), hole=st.lists(corner, min_size=3, max_size=6)
)
def test_polygons_hold_what_exact_crossings_say(ring, hole):
    if len({y for _, y in ring}) < 2:
        return
    zones = polygon_zones(LATTICE, [[ring, hole], [[(9, 9), (8, 9), (8, 8)]], SEA], "abc")
    held = [zones.names[zone] == "a" for zone in zones.of]
    each = zip(LATTICE.lng.tolist(), LATTICE.lat.tolist(), strict=True)
    assert held == [winds_oddly(point, ring) ^ winds_oddly(point, hole) for point in each]


SEA = [[(-180, -90), (180, -90), (180, 90), (-180, 90)]]


@settings(max_examples=100, deadline=None)
@given(
    cut=st.lists(st.tuples(st.floats(0.5, 3.5), st.floats(0, 4)), min_size=0, max_size=4),
    share=st.floats(0, 1),
)
def test_neighbours_that_share_a_border_share_no_location_and_lose_none(cut, share):
    way = [(1.0, 0.0), *sorted(cut, key=lambda at: at[1]), (3.0, 4.0)]
    on_the_way = [
        (a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])) for a, b in pairwise(way)
    ]
    world = places(*((x, y) for x, y in on_the_way if y < 4), (0.0, 0.0), (3.9, 0.1))
    west, east = [(0, 0), *way, (0, 4)], [(4, 4), *reversed(way), (4, 0)]
    alone = [polygon_zones(world, [[ring]], ["here"]) for ring in (west, east)]
    held = [np.array(zones.names)[zones.of] == "here" for zones in alone]
    assert (held[0] ^ held[1]).all()


def test_southern_and_western_borders_belong_to_a_polygon_and_the_others_do_not():
    world = places((0, 2), (2, 0), (4, 2), (2, 4), (2, 2))
    zones = polygon_zones(world, [[SQUARE]], ["a"])
    assert [zones.names[zone] for zone in zones.of] == ["a", "a", ELSEWHERE, ELSEWHERE, "a"]


def test_a_hole_belongs_to_nobody():
    world = places((1, 1), (2, 2))
    hole = [(1.5, 1.5), (2.5, 1.5), (2.5, 2.5), (1.5, 2.5)]
    zones = polygon_zones(world, [[SQUARE, hole]], ["a"])
    assert zones.names == ("a", ELSEWHERE)
    assert zones.of.tolist() == [0, 1]


def test_the_first_of_two_polygons_that_overlap_wins():
    wide = [(-1, -1), (9, -1), (9, 9), (-1, 9)]
    world = places((1, 1), (8, 8))
    assert polygon_zones(world, [[SQUARE], [wide]], ["a", "b"]).of.tolist() == [0, 1]
    assert polygon_zones(world, [[wide], [SQUARE]], ["b", "a"]).names == ("b",)


def test_polygons_of_one_name_are_one_zone():
    far = [(6, 6), (9, 6), (9, 9), (6, 9)]
    zones = polygon_zones(places((1, 1), (5, 5), (8, 8)), [[SQUARE], [far]], ["a", "a"])
    assert zones.names == ("a", ELSEWHERE)
    assert zones.of.tolist() == [0, 1, 0]


def test_many_locations_are_looked_at_in_pieces(monkeypatch):
    world, ring = scattered(200), [(-87.9, 41.1), (-87.1, 41.2), (-87.4, 41.9)]
    whole = polygon_zones(world, [[ring]], ["a"])
    monkeypatch.setattr("nomadp.zones.PAIRS_AT_ONCE", 7)
    assert polygon_zones(world, [[ring]], ["a"]) == whole


@pytest.mark.parametrize(
    ("rings", "code", "facts"),
    [
        (
            [[(500000, 4649776), (500001, 4649776), (500001, 4649777)]],
            "coordinates_out_of_range",
            {},
        ),
        ([[(0, 0), (1, 1)]], "invalid_ring", {}),
        ([[(0, 1), (1, 1), (2, 1)]], "no_area", {}),
        ([], "polygon_without_ring", {}),
        ([[(50, 50), (51, 50), (51, 51)]], "polygons_without_locations", {"polygons": 1}),
        ([[(0, 0), (float("nan"), 0), (1, 1)]], "coordinates_out_of_range", {}),
    ],
)
def test_refuses_rings_that_are_none(rings, code, facts):
    with refused(DomainError, code, **facts):
        polygon_zones(places((1, 1), (2, 2)), [rings], ["a"])


def test_refuses_a_polygon_without_a_name():
    with refused(DomainError, "name_count_differs"):
        polygon_zones(places((1, 1), (2, 2)), [[SQUARE]], [])


def test_a_grid_has_the_cells_that_hold_a_location_named_from_the_south_west():
    world = places((0, 0), (4, 0), (4, 4), (3.9, 3.9))
    zones = zones_of(world, "grid:2")
    assert zones.names == ("r0_c0", "r0_c1", "r1_c1")
    assert zones.of.tolist() == [0, 1, 2, 2]
    assert zones.rule == "grid:2"


def test_a_grid_has_the_cells_of_the_unit_square():
    world = scattered(300)
    zones = zones_of(world, "grid:8")
    cells = UnitSquare(world).cells(8)
    assert [zones.names[k] for k in zones.of] == [f"r{c // 8}_c{c % 8}" for c in cells]


def test_h3_zones_are_named_by_their_cells():
    h3 = pytest.importorskip("h3")
    world = scattered(40)
    zones = zones_of(world, "h3:6")
    each = zip(world.lat, world.lng, zones.of, strict=True)
    assert all(h3.latlng_to_cell(lat, lng, 6) == zones.names[of] for lat, lng, of in each)
    assert list(zones.names) == sorted(set(zones.names))


def test_h3_zones_without_the_package_are_refused_with_the_line_that_helps(monkeypatch):
    monkeypatch.setitem(EXTRAS, "h3", Extra("h3", "no_such_package", "H3 cells"))
    with refused(ExtraMissing, "package_missing", extra="h3"):
        zones_of(scattered(5), "h3:6")


@pytest.mark.parametrize(
    "rule",
    ["", "grid", "grid:0", "grid:1025", "h3:16", "grid:-1", "grid:\u0661", "x:3", "grid:2 "],
)
def test_refuses_a_rule_that_is_none(rule):
    with refused(DomainError, "unknown_zone_rule"):
        zones_of(scattered(5), rule)


def test_who_has_polygons_or_single_locations_is_told_what_to_do(wording):
    told = []
    for rule in ("districts.geojson", "polygons:0f", "locations", "district"):
        with refused(DomainError, "unknown_zone_rule") as refusal:
            zones_of(scattered(5), rule)
        told.append(str(refusal.value))
    wording("formats", "zones that are no rule", "\n".join(told))


def test_the_hash_names_the_partition_and_not_what_made_it():
    world = places((0, 0), (4, 0), (4, 4), (0, 4))
    whole = zones_of(world, "grid:1")
    rings = [[(-1, -1), (9, -1), (9, 9), (-1, 9)]]
    same = polygon_zones(world, [rings], ["r0_c0"])
    assert same == whole
    assert hash(same) == hash(whole)
    assert same.rule == f"polygons:{whole.sha256}"


def test_another_partition_another_name_or_another_map_has_another_hash():
    world = places((0, 0), (4, 0), (4, 4))
    one = Zones(world, np.array([0, 0, 1]), ("a", "b"), "x")
    others = [
        Zones(world, np.array([0, 1, 1]), ("a", "b"), "x"),
        Zones(world, np.array([0, 0, 1]), ("a", "c"), "x"),
        Zones(world, np.array([0, 0, 1]), ("ab", "c"), "x"),
        Zones(world, np.array([1, 1, 0]), ("a", "b"), "x"),
        Zones(places((0, 0), (4, 0), (4, 5)), np.array([0, 0, 1]), ("a", "b"), "x"),
    ]
    assert len({zones.sha256 for zones in (one, *others)}) == 6


def test_the_hash_is_the_same_on_every_machine():
    zones = zones_of(places((0, 0), (4, 0), (4, 4)), "grid:2")
    expected = "ce8bbbedb9e9c79d90df5433c2d59aab7e3e5ce6bfac144b9aa53d0f78b3a849"
    assert zones.sha256 == expected


@pytest.mark.parametrize(
    ("of", "names", "code"),
    [
        ([0, 0], "ab", "not_a_partition"),
        ([0, 2], "ab", "not_a_partition"),
        ([0, 1, 1], "ab", "not_a_partition"),
        ([0, 1], "aa", "zone_name_repeated"),
        ([-1, 0], "ab", "not_a_partition"),
    ],
)
def test_refuses_what_is_no_partition(of, names, code):
    with refused(DomainError, code):
        Zones(places((0, 0), (1, 1)), np.array(of), tuple(names), "x")


@given(size=st.integers(2, 60), grid=st.integers(1, 12), seed=st.integers(0, 5))
def test_every_level_halves_the_groups_of_the_one_before_down_to_single_zones(size, grid, seed):
    zones = zones_of(scattered(size, seed), f"grid:{grid}")
    levels = zones.levels()
    before = np.zeros(len(zones), dtype=np.int64)
    for k, level in enumerate(levels):
        groups = np.bincount(level)
        assert len(groups) == min(2 ** (k + 1), len(zones))
        assert np.ptp(groups) <= 1
        assert len(set(zip(level, before, strict=True))) == len(groups)  # nested
        before = level
    assert sorted(levels[-1]) == list(range(len(zones)))


def test_zones_are_halved_across_the_longer_side():
    # Two degrees of longitude are shorter than one and a half of latitude up here.
    world = places((0, 70), (2, 70), (0, 71.5), (2, 71.5))
    assert zones_of(world, "grid:2").levels()[0].tolist() == [0, 0, 1, 1]
    world = places((0, 0), (2, 0), (0, 1.5), (2, 1.5))
    assert zones_of(world, "grid:2").levels()[0].tolist() == [0, 1, 0, 1]


def test_a_full_grid_is_halved_along_its_lines():
    world = places(*((x, y) for x in range(8) for y in range(8)))
    zones = zones_of(world, "grid:8")
    first, second = zones.levels()[:2]
    assert sorted(np.bincount(first)) == [32, 32]
    row, column = np.divmod(np.arange(64), 8)
    assert len(set(zip(row // 4, column // 4, second, strict=True))) == 4


def test_zones_are_as_far_apart_as_their_centres_in_halves_of_the_farthest():
    line = LocationSet.from_columns(list("abcde"), [0.0] * 5, [0.0, 0.1, 0.3, 0.7, 1.0])
    apart = Zones(line, np.arange(5), tuple("abcde"), "grid:5").distance_classes()
    assert apart[0].tolist() == [0, 2, 4, 5, 5]
    assert (apart == apart.T).all()


def test_a_single_zone_is_not_apart_from_itself():
    assert zones_of(scattered(9), "grid:1").distance_classes().tolist() == [[0]]


@pytest.mark.parametrize("hidden", ["\x1b[2J", "\n", "\u202e", "\ufeff"])
def test_names_that_could_steer_a_terminal_are_refused_unquoted(hidden):
    with refused(DomainError, "zone_name_characters", names=1) as refusal:
        Zones(scattered(2), np.arange(2), ("a", f"b{hidden}"), "grid:2")
    assert hidden not in str(refusal.value)
