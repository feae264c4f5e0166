"""The atlas is public data: the same for everybody, and made from the location set alone."""

import subprocess
import sys

import numpy as np
import pytest
from worlds import scattered, triangle

from nomadp.errors import DomainError
from nomadp.mechanisms.atlas import Atlas, build_atlas
from nomadp.mechanisms.atlas import book as books
from nomadp.mechanisms.atlas.book import fresh_journeys, recipe_of


def test_the_same_recipe_gives_the_same_book_in_another_process():
    code = (
        "import numpy as np; from nomadp.locations import LocationSet as L;"
        "from nomadp.mechanisms.atlas import build_atlas;"
        "world = L.from_columns(['a','b','c'], [41.80,41.82,41.85], [-87.6,-87.6,-87.55]);"
        "print(build_atlas(world, 4, 60).sha256)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )
    assert told.stdout.strip() == build_atlas(triangle(), 4, 60).sha256


def test_another_world_length_or_size_is_another_book():
    books = [
        build_atlas(scattered(30), 3, 100),
        build_atlas(scattered(30, seed=1), 3, 100),
        build_atlas(scattered(30), 2, 100),
        build_atlas(scattered(30), 3, 101),
    ]
    assert len({book.sha256 for book in books}) == 4
    assert len(set(books)) == 4


def test_few_locations_have_every_journey_in_their_book():
    book = build_atlas(triangle(), 2, 9)
    assert sorted(map(tuple, book.journeys.tolist())) == [
        (a, b) for a in range(3) for b in range(3)
    ]
    assert build_atlas(triangle(), 1, 8192).journeys.ravel().tolist() == [0, 1, 2]


def test_journeys_of_a_finer_scale_take_shorter_steps():
    locations = scattered(400)
    book = build_atlas(locations, 2, 4000)
    step = locations.distances_between_km(book.journeys[:, 0], book.journeys[:, 1])
    by_scale = [step[part::4].mean() for part in range(4)]
    assert by_scale == sorted(by_scale, reverse=True)
    assert by_scale[3] < by_scale[0] / 2


def test_large_sets_walk_without_a_table_of_all_distances(monkeypatch):
    monkeypatch.setattr("nomadp.mechanisms.atlas.book._DENSE", 10)
    locations = scattered(500)
    book = build_atlas(locations, 3, 2000)
    step = locations.distances_between_km(book.journeys[:, 0], book.journeys[:, 1])
    by_scale = [step[part::4].mean() for part in range(4)]
    assert by_scale == sorted(by_scale, reverse=True)


def test_large_sets_have_a_recipe_of_their_own_and_small_ones_keep_theirs(monkeypatch):
    small = build_atlas(scattered(50), 2, 100)
    assert recipe_of(scattered(4096)) == "walk-1"
    assert recipe_of(scattered(4097)) == "walk-1-sampled"
    monkeypatch.setattr(books, "_DENSE", 49)
    assert build_atlas(scattered(50), 2, 100) != small
    monkeypatch.setattr(books, "_DENSE", 50)
    assert build_atlas(scattered(50), 2, 100) == small


def test_the_mean_distance_of_a_large_set_is_estimated_from_few_rows():
    locations = scattered(9000)
    exact = np.mean([locations.distances_km(k).mean() for k in range(0, 9000, 60)])
    # A row's mean varies by a fifth of it, and 150 rows are compared with 512 others.
    assert books._mean_distance_km(locations) == pytest.approx(exact, rel=0.08)


def test_large_sets_measure_journeys_bit_for_bit_as_small_ones_do(monkeypatch):
    book = build_atlas(scattered(300), 3, 500)
    trajectory = np.array([4, 250, 99])
    kept = book.distances_km(trajectory)
    monkeypatch.setattr(books, "CACHED_ROWS_MAX", 299)
    assert book.distances_km(trajectory).tolist() == kept.tolist()


def test_first_locations_are_uniform():
    book = build_atlas(scattered(10), 5, 8000)
    counts = np.bincount(book.journeys[:, 0], minlength=10)
    assert np.abs(counts - 800).max() < 5 * np.sqrt(800 * 0.9)


def test_fresh_journeys_are_not_those_of_the_book():
    book = build_atlas(scattered(200), 4, 500)
    known = set(map(tuple, book.journeys.tolist()))
    fresh = set(map(tuple, fresh_journeys(book, 500).tolist()))
    assert len(known & fresh) < 25


def test_distances_add_up_over_positions():
    locations = scattered(20)
    book = build_atlas(locations, 3, 50)
    trajectory = np.array([4, 5, 6])
    by_hand = [
        sum(locations.distances_km(x)[y] for x, y in zip(trajectory, journey, strict=True))
        for journey in book.journeys
    ]
    assert book.distances_km(trajectory) == pytest.approx(by_hand)
    both = np.array([[4, 1], [5, 2], [6, 3]])
    assert book.distances_km(both)[0].tolist() == book.distances_km(trajectory).tolist()


@pytest.mark.parametrize(
    "journeys", [np.zeros((0, 2)), np.zeros((3, 0)), np.array([[0, 3]]), np.array([[-1, 0]])]
)
def test_refuses_a_book_that_is_none(journeys):
    with pytest.raises(DomainError):
        Atlas(triangle(), journeys.astype(np.int32))


def test_refuses_a_length_or_size_of_nothing():
    with pytest.raises(DomainError, match="at least 1, got 0 and 5"):
        build_atlas(triangle(), 0, 5)
