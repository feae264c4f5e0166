"""The nearest of a large set in numpy: the kernel's numbers, and the reference's nearest."""

import numpy as np
import pytest
from exact_laws import assert_bulk_follows
from odd_worlds import ODD_WORLDS, antipodes, city, globe, pole, streets
from worlds import triangle

from nomadp.laws import NearestLocations
from nomadp.mechanisms import make_mechanism
from nomadp.mechanisms.fast.compiling import is_compiled
from nomadp.mechanisms.large import nearest as kernel
from nomadp.mechanisms.large.ball_tree import sorted_places
from nomadp.mechanisms.plain import nearest as plain
from nomadp.mechanisms.points import ranked
from nomadp.mechanisms.points.ranked import numbered_nearest
from nomadp.randomness import SeededWords
from nomadp.trajectory import TrajectorySet

each_world = pytest.mark.parametrize("make", ODD_WORLDS, ids=lambda make: make.__name__)
some_worlds = pytest.mark.parametrize(
    "make", [globe, pole, streets, antipodes], ids=lambda make: make.__name__
)
beside_numba = pytest.mark.skipif(
    not is_compiled(), reason="there is nothing to compare with: numba is not here"
)


def named_by(nearest_points, locations, secrets):
    place = sorted_places(locations)
    out = np.full(len(secrets), -7)
    nearest_points(place.balls(1), place.order, secrets, out)
    return out


def every_secret(size, places):
    """All numbers of all counts, for these places."""
    counts = np.repeat(np.arange(1, size + 1), np.arange(1, size + 1))
    numbers = np.concatenate([np.arange(count) for count in range(1, size + 1)])
    secrets = [np.stack([np.full(len(counts), k), counts, numbers], axis=1) for k in places]
    return np.concatenate(secrets)


def random_secrets(size, how_many, seed=0):
    """Small counts as likely as large ones, and numbers near the edge as others."""
    rng = np.random.default_rng(seed)
    counts = np.exp(rng.uniform(0, np.log(size + 1), how_many)).astype(np.int64)
    counts[::4] = rng.integers(1, size + 1, len(counts[::4]))
    numbers = rng.integers(0, counts)
    numbers[::3] = counts[::3] - 1 - numbers[::3] % np.minimum(counts[::3], 9)
    return np.stack([rng.integers(0, size, how_many), counts, numbers], axis=1)


@beside_numba
@each_world
def test_every_number_names_what_the_kernel_names(make, small_is_large):
    locations = make(60)
    secrets = every_secret(60, [0, 13, 20, 37, 59])
    found = named_by(plain.nearest_points, locations, secrets)
    assert found.tolist() == named_by(kernel.nearest_points, locations, secrets).tolist()
    # Where nearly all ties are rounding, some are left to the reference in both.
    assert make not in (pole, streets) or (found < 0).any()


@beside_numba
@each_world
def test_numbers_name_what_the_kernel_names_in_a_large_set(make):
    locations = make(5_000)
    secrets = random_secrets(5_000, 1_000)
    found = named_by(plain.nearest_points, locations, secrets)
    assert found.tolist() == named_by(kernel.nearest_points, locations, secrets).tolist()


@each_world
def test_nodes_have_the_limits_of_the_kernel_to_the_bit(make, small_is_large):
    balls = sorted_places(make(80)).balls(1)
    nodes = np.arange(len(balls.nodes))
    for place in range(0, 80, 9):
        here = plain._unit_vectors(balls.rows, np.full(len(nodes), place))
        direction = kernel.unit_vector(balls.rows, place)
        assert tuple(here[:, 0]) == direction
        low, high = plain._bounds(balls.ball, nodes, here)
        assert list(zip(low, high, strict=True)) == [
            kernel._bounds(balls.ball, node, direction) for node in nodes
        ]


def test_doubts_and_steps_are_those_of_the_kernel():
    for name in ("_DOUBT", "_SLACK", "_HALVINGS"):
        assert getattr(plain, name) == getattr(kernel, name)


@pytest.fixture
def without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a law by rank then asks for is numpy's; a kernel that runs all the same fails."""
    monkeypatch.setattr(ranked, "is_compiled", lambda: False)
    monkeypatch.setattr(kernel, "nearest_points", None)


@each_world
def test_the_numbers_name_each_of_the_nearest_exactly_once(make, small_is_large, without_numba):
    size = 90
    locations = make(size)
    counts = np.array([1, 2, 3, 8, 18, 45, 50, 53, 57, 72, 88, 89, 90])
    numbers = np.concatenate([np.arange(count) for count in counts])
    for place in (0, 11, 33, 88):
        here = np.full(len(numbers), place)
        named = numbered_nearest(locations, here, np.repeat(counts, counts), numbers)
        for count, some in zip(counts, np.split(named, np.cumsum(counts)), strict=False):
            near = NearestLocations(locations, int(count))(place)
            assert sorted(some.tolist()) == sorted(near.tolist())


@pytest.mark.parametrize("make", [city, globe, streets], ids=lambda make: make.__name__)
def test_leaves_of_many_locations_are_numbered_alike(make, without_numba):
    locations, count = make(5_000), 700
    for place in (0, 2_600):
        here, counts = np.full(count, place), np.full(count, count)
        named = numbered_nearest(locations, here, counts, np.arange(count))
        near = NearestLocations(locations, count)(place)
        assert sorted(named.tolist()) == sorted(near.tolist())


@pytest.mark.parametrize("name", ["brr", "l-srr"])
@pytest.mark.parametrize("trajectory", [(0, 2), (2,)])
def test_reports_follow_the_exact_law(name, trajectory, small_is_large, without_numba):
    mechanism = make_mechanism(name, triangle(), 3)
    assert_bulk_follows(mechanism, trajectory, 12_000)


@beside_numba
@pytest.mark.parametrize("name", ["brr", "l-srr"])
def test_reports_in_numpy_are_those_of_the_kernel(name, monkeypatch):
    locations = globe(5_000)
    places = np.random.default_rng(1).integers(0, 5_000, (40, 5))
    some = TrajectorySet.from_lists(list(places), size=5_000)
    mechanism = make_mechanism(name, locations, 4)
    fast = mechanism.perturb_many(some, SeededWords(2)).tolist()
    monkeypatch.setattr(ranked, "is_compiled", lambda: False)
    monkeypatch.setattr(kernel, "nearest_points", None)
    assert mechanism.perturb_many(some, SeededWords(2)).tolist() == fast


@pytest.mark.parametrize("at_once", [1, 60, 2_000])
@some_worlds
def test_how_much_is_done_at_once_changes_nothing(make, at_once, small_is_large, monkeypatch):
    locations, secrets = make(90), random_secrets(90, 150)
    together = named_by(plain.nearest_points, locations, secrets).tolist()
    monkeypatch.setattr(plain, "_AT_ONCE", at_once)
    assert named_by(plain.nearest_points, locations, secrets).tolist() == together


@some_worlds
def test_an_answer_does_not_depend_on_who_else_asks(make, small_is_large):
    locations, secrets = make(90), random_secrets(90, 100)
    together = named_by(plain.nearest_points, locations, secrets)
    alone = [named_by(plain.nearest_points, locations, one[None])[0] for one in secrets]
    assert together.tolist() == alone
    mixed = np.random.default_rng(0).permutation(np.repeat(np.arange(100), 2))
    again = named_by(plain.nearest_points, locations, secrets[mixed])
    assert again.tolist() == together[mixed].tolist()


def test_nobody_asks_and_nothing_is_answered(small_is_large):
    assert not len(named_by(plain.nearest_points, city(20), np.zeros((0, 3), dtype=np.int64)))


def test_parts_stay_small_and_whole(monkeypatch):
    """No part waits with much more than is allowed, and every task is in exactly one."""
    monkeypatch.setattr(plain, "_AT_ONCE", 100)
    size = 5_000
    sizes = np.random.default_rng(0).integers(1, 12, size)
    item = np.arange(sizes.sum())
    whole = plain.Waiting(np.arange(size), sizes, item, item / 1.0, item / 1.0)
    parts = list(whole.parts(sizes))
    assert max(len(part.item) for part in parts) < 100 + 12
    assert np.concatenate([part.item for part in parts]).tolist() == item.tolist()
    assert np.concatenate([part.task for part in parts]).tolist() == list(range(size))
    assert all(part.size.sum() == len(part.item) for part in parts)
