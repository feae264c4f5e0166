"""The nearest of a large set by its tree: every one has exactly one number, and nobody else."""

import numpy as np
import pytest
from odd_worlds import ODD_WORLDS, antipodes, city, pole, streets

from nomadp.laws import NearestLocations
from nomadp.mechanisms.fast import limits
from nomadp.mechanisms.large import ball_tree, nearest
from nomadp.mechanisms.points import ranked_batch as ranked
from nomadp.mechanisms.points.ranked_batch import numbered_nearest

each_world = pytest.mark.parametrize("make", ODD_WORLDS, ids=lambda make: make.__name__)


@each_world
def test_the_numbers_name_each_of_the_nearest_exactly_once(make, small_is_large):
    size = 90
    locations = make(size)
    for place in range(0, size, 11):
        for count in (1, 2, 3, 8, 18, 45, 50, 53, 57, 72, 88, 89, 90):
            named = numbered_nearest(
                locations, np.full(count, place), np.full(count, count), np.arange(count)
            )
            near = NearestLocations(locations, count)(place)
            assert sorted(named.tolist()) == sorted(near.tolist())


@pytest.mark.parametrize("make", [city, streets], ids=lambda make: make.__name__)
def test_leaves_of_many_locations_are_numbered_alike(make, monkeypatch):
    monkeypatch.setattr(limits, "TABLE_LIMIT", 2)
    locations, count = make(1500), 300
    for place in (0, 700):
        named = numbered_nearest(
            locations, np.full(count, place), np.full(count, count), np.arange(count)
        )
        near = NearestLocations(locations, count)(place)
        assert sorted(named.tolist()) == sorted(near.tolist())


@pytest.mark.parametrize("most", [1, 3, 1000])
def test_a_rank_holds_what_sorting_puts_there(most):
    for size in range(1, 40):
        values = np.random.default_rng(size).integers(most, size=size)
        for order in (values, np.sort(values), np.sort(values)[::-1]):
            for dtype in (np.int64, np.float64):
                each = np.ascontiguousarray(order, dtype)
                found = [nearest._select(each.copy(), rank) for rank in range(size)]
                assert found == sorted(values)


@pytest.mark.parametrize("make", [pole, streets, antipodes], ids=lambda make: make.__name__)
def test_where_rounding_could_decide_the_reference_is_asked(make, small_is_large, monkeypatch):
    asked = []

    def listening(locations, count):
        asked.append(count)
        return NearestLocations(locations, count)

    monkeypatch.setattr(ranked, "NearestLocations", listening)
    locations = make(90)
    for count in range(2, 90):
        numbers = np.arange(count)
        numbered_nearest(locations, np.zeros(count, dtype=int), np.full(count, count), numbers)
    assert asked  # so the test above has seen both ways of deciding
    assert make is antipodes or len(asked) < 0.1 * sum(range(2, 90))


@each_world
def test_a_node_is_told_near_or_far_by_limits_that_hold(make, small_is_large):
    locations = make(80)
    place = ball_tree.sorted_places(locations)
    balls = place.balls(1)
    for here in range(0, 80, 9):
        row = np.sin(locations.distances_km(place.order[here]) / (2 * 6371.0088)) ** 2
        direction = nearest.unit_vector(balls.rows, here)
        for node, (start, end, _) in enumerate(balls.nodes.tolist()):
            low, high = nearest._bounds(balls.ball, node, direction)
            inside = row[place.order[start:end]]
            assert low <= inside.min() * (1 - 9e-13) + 1e-18
            assert high >= inside.max() * (1 + 9e-13) - 1e-16


@pytest.mark.parametrize("size", [5_000, 20_000])
def test_few_nodes_are_looked_at_on_average(size):
    """The expected work grows like a logarithm: far below a scan of all."""
    locations = city(size)
    place = ball_tree.sorted_places(locations)
    balls = place.balls(1)
    rng = np.random.default_rng(0)
    looks = 0
    scratch = nearest.new_scratch(balls)
    for _ in range(300):
        count = size // 3
        secret = np.array([rng.integers(size), count, rng.integers(count)])
        scratch.node[:] = -1
        nearest.one_of_nearest(balls, place.order, secret, scratch)
        looks += np.count_nonzero(scratch.node >= 0)
    assert looks / 300 < 400
