"""Cells of a large set: equal runs, and sets that hold too much but never too little."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import scattered

from nomadp.locations import HALF_ROUND_KM, LocationSet
from nomadp.mechanisms.large import ball_tree, cell_sets, pairs
from nomadp.mechanisms.large.cells import cell_levels, cell_order, cell_starts
from nomadp.mechanisms.pivot.atp import RADIUS_MAX_KM

SIZE = 6_000


def globe():
    rng = np.random.default_rng(0)
    lat = np.degrees(np.arcsin(rng.uniform(-1, 1, SIZE)))
    lat[:5] = 90.0, -90.0, 0.0, 0.0, 0.0
    lng = rng.uniform(-180, 180, SIZE)
    lng[2:5] = 0.0, 180.0, -180.0
    return LocationSet.from_columns([f"p{k}" for k in range(SIZE)], lat, lng)


def city():
    return scattered(SIZE)


def rooms():
    """Many coincident locations, on both sides of the Earth."""
    rng = np.random.default_rng(1)
    lat, lng = rng.integers(0, 4, SIZE) * 0.001 + 40, rng.integers(0, 4, SIZE) * 0.001 + 3
    there = rng.integers(0, 2, SIZE) == 1
    lat, lng = np.where(there, -lat, lat), np.where(there, lng - 180, lng)
    return LocationSet.from_columns([f"p{k}" for k in range(SIZE)], lat, lng)


each_world = pytest.mark.parametrize("make", [globe, city, rooms], ids=lambda m: m.__name__)


def held(bits, cell):
    return int(bits[cell // 64]) >> (cell % 64) & 1


@pytest.mark.parametrize(
    ("size", "levels"), [(1, 0), (31, 0), (32, 1), (4_097, 8), (16_384, 10), (10**6, 10)]
)
def test_cells_are_many_but_never_smaller_than_a_leaf(size, levels):
    assert cell_levels(size, ball_tree.LEAF) == levels
    sizes = np.diff(cell_starts(size, levels))
    assert sizes.min() >= min(size, ball_tree.LEAF)
    assert sizes.max() - sizes.min() <= 1
    assert sizes.sum() == size


@pytest.mark.parametrize("size", [3, SIZE])
def test_loops_are_compiled_for_one_layout_whatever_the_size(size):
    known = ball_tree.sorted_places(scattered(size)).without_sectors
    arrays = [each for each in known if isinstance(each, np.ndarray)]
    assert len(arrays) == len(known) - 1  # all but the number of levels
    assert all(each.flags.c_contiguous for each in arrays)


@each_world
def test_a_cell_is_a_node_of_the_tree_and_knows_its_locations(make):
    balls = ball_tree.sorted_places(make()).balls(4)
    starts = cell_starts(SIZE, balls.levels)
    nodes = balls.nodes[len(balls.disc_sizes) - 1 :][: len(starts) - 1]
    assert nodes[:, :2].tolist() == [list(pair) for pair in pairwise(starts.tolist())]
    for cell, (start, end) in enumerate(pairwise(starts.tolist())):
        assert {cell_sets.cell_of(balls, location) for location in range(start, end)} == {cell}


def test_cells_do_not_depend_on_the_order_among_equals_or_on_how_halves_are_selected(
    monkeypatch,
):
    locations = rooms()
    cells = np.sort(cell_order(locations.lat, locations.lng, 6).reshape(-1, SIZE // 2), axis=1)

    def by_sorting(values, kth):
        return np.argsort(values)[::-1][np.argsort(np.arange(len(values))[::-1] >= kth)]

    monkeypatch.setattr(np, "argpartition", by_sorting)
    again = np.sort(cell_order(locations.lat, locations.lng, 6).reshape(-1, SIZE // 2), axis=1)
    assert cells.tolist() == again.tolist()


@each_world
@pytest.mark.parametrize("sectors", [2, 3, 4, 7, 16])
def test_whatever_is_seen_in_a_sector_lies_in_a_cell_of_its_set(make, sectors):
    place = ball_tree.sorted_places(make())
    balls, rng = place.balls(sectors), np.random.default_rng(2)
    both = rng.integers(SIZE, size=(4_000, 2))
    both[:5, 0], both[:5, 1] = place.rank[:5], place.rank[[1, 0, 3, 4, 2]]  # poles, antipodes
    both[5:100, 1] = both[5:100, 0] + rng.integers(-3, 4, 95)  # neighbours on the curve
    for here, there in np.clip(both, 0, SIZE - 1).tolist():
        sector = pairs.sector_between(balls.rows, here, there, balls.borders)
        row = balls.sector_cells[sector, cell_sets.cell_of(balls, here)]
        assert held(row, cell_sets.cell_of(balls, there))


@pytest.mark.slow
@each_world
def test_whatever_lies_in_a_disc_lies_in_a_cell_of_its_set(make):
    place = ball_tree.sorted_places(make())
    balls, rng = place.balls(4), np.random.default_rng(3)
    cells = cell_sets.new_cell_set(balls)
    for here, there in rng.integers(SIZE, size=(2_000, 2)).tolist():
        radius_km = pairs.km_between(balls.rows, here, there)
        disc = pairs.domain_of((here, radius_km), (-1, -1), (0, 0))
        cell_sets.cells_in_disc(balls, disc, cells)
        assert held(cells[0], cell_sets.cell_of(balls, there))
        assert cell_sets.cell_count(cells) == sum(int(word).bit_count() for word in cells[0])


@pytest.mark.parametrize("radius_km", [HALF_ROUND_KM, RADIUS_MAX_KM])
def test_the_widest_disc_holds_the_antipode_of_its_anchor(radius_km):
    locations = LocationSet.from_columns(
        ["north", "south", "other"], [90.0, -90.0, 0.0], [0.0, 0.0, 7.0]
    )
    place = ball_tree.sorted_places(locations)
    balls, north = place.balls(4), int(place.rank[0])
    disc = pairs.domain_of((north, radius_km), (-1, -1), (0, 0))
    cells = cell_sets.new_cell_set(balls)
    cell_sets.cells_in_disc(balls, disc, cells)
    for there in range(3):
        assert pairs.holds(balls, disc, there)
        assert held(cells[0], cell_sets.cell_of(balls, there))
    assert locations.within(0, radius_km).tolist() == [0, 1, 2]


@pytest.mark.parametrize("make", [globe, city], ids=lambda m: m.__name__)
def test_a_set_of_cells_holds_not_much_more_than_a_sector(make):
    balls = ball_tree.sorted_places(make()).balls(4)
    cells = 2**balls.levels
    # Only speed: a cell sees a quarter of the others in each of four sectors, and the borders.
    share = np.bitwise_count(balls.sector_cells).sum() / (4 * cells * cells)
    assert 0.25 <= share <= 0.5


def test_one_word_picks_every_location_of_a_set_of_cells_equally_often():
    balls = ball_tree.sorted_places(globe()).balls(4)
    wide, cells = cell_sets.new_cell_set(balls), cell_sets.new_cell_set(balls)
    cell_sets.cells_in_disc(balls, pairs.domain_of((17, 3000.0), (-1, -1), (0, 0)), wide)
    cell_sets.cells_in_sectors(
        balls, pairs.domain_of((17, 3000.0), (40, -1), (1, 0)), wide, cells
    )
    starts = cell_starts(SIZE, balls.levels)
    largest = int(np.diff(starts).max())
    slots = int(cell_sets.cell_count(cells)) * largest
    assert slots > 0
    found, below = [], 2**64 // slots
    for k in range(slots):
        low, high = -(-k * 2**64 // slots), ((k + 1) * 2**64 - 1) // slots
        ends = {
            cell_sets.uniform_location(balls, cells, np.uint64(word))[0] for word in (low, high)
        }
        assert len(ends) == 1
        found.append(ends.pop())
        _, rest = cell_sets.uniform_location(balls, cells, np.uint64(low))
        assert int(rest) < 2 * slots  # what remains of an interval's first word is its first
        assert high - low + 1 in (below, below + 1)
    inside = [k for k in range(SIZE) if held(cells[0], cell_sets.cell_of(balls, k))]
    assert sorted(k for k in found if k >= 0) == inside


@given(st.integers(1, 2**64 - 1))
def test_the_lowest_bit_is_found(bits):
    assert cell_sets.lowest(np.uint64(bits)) == (bits & -bits).bit_length() - 1
