"""The atlas is public data: the same for everybody, and made from public values alone."""

import numpy as np
import pytest
from worlds import scattered, triangle

from nomadp.errors import DomainError
from nomadp.mechanisms.atlas import Atlas
from nomadp.mechanisms.atlas import book as books
from nomadp.mechanisms.atlas.book import public_walks


def journeys(locations, count, length, seed=0):
    rows = np.random.default_rng(seed).integers(0, len(locations), (count, length))
    return Atlas(locations, rows.astype(np.int32))


def test_walks_of_a_finer_scale_take_shorter_steps():
    locations = scattered(400)
    walks = public_walks(locations, 2, 4000, "here")
    step = locations.distances_between_km(walks[:, 0], walks[:, 1])
    by_scale = [step[part::4].mean() for part in range(4)]
    assert by_scale == sorted(by_scale, reverse=True)
    assert by_scale[3] < by_scale[0] / 2


def test_walks_of_a_large_set_visit_some_of_its_locations_all_over(monkeypatch):
    monkeypatch.setattr(books, "_WALKED", 100)
    books._walked.cache_clear()
    locations = scattered(500, seed=9)
    walks = public_walks(locations, 3, 2000, "here")
    assert len(np.unique(walks)) == 100
    assert len(np.unique(walks // 5)) == 100  # one of every five in their order
    step = locations.distances_between_km(walks[:, 0], walks[:, 1])
    by_scale = [step[part::4].mean() for part in range(4)]
    assert by_scale == sorted(by_scale, reverse=True)


def test_first_locations_are_uniform():
    walks = public_walks(scattered(10), 5, 8000, "here")
    counts = np.bincount(walks[:, 0], minlength=10)
    assert np.abs(counts - 800).max() < 5 * np.sqrt(800 * 0.9)


def test_walks_of_another_purpose_are_other_walks():
    here, there = (public_walks(scattered(200), 4, 500, purpose) for purpose in ("a", "b"))
    assert len(set(map(tuple, here.tolist())) & set(map(tuple, there.tolist()))) < 25


def test_walks_where_all_locations_are_one_place_go_anywhere():
    from nomadp.locations import LocationSet

    here = LocationSet.from_columns(["a", "b"], [1.0, 1.0], [2.0, 2.0])
    assert np.unique(public_walks(here, 3, 100, "here")).tolist() == [0, 1]


def test_distances_add_up_over_positions():
    locations = scattered(20)
    book = journeys(locations, 50, 3)
    trajectory = np.array([4, 5, 6])
    by_hand = [
        sum(locations.distances_km(x)[y] for x, y in zip(trajectory, journey, strict=True))
        for journey in book.journeys
    ]
    assert book.distances_km(trajectory) == pytest.approx(by_hand)
    both = np.array([[4, 1], [5, 2], [6, 3]])
    assert book.distances_km(both)[0].tolist() == book.distances_km(trajectory).tolist()


def test_the_hash_tells_locations_journeys_and_the_number_of_near_ones():
    book = journeys(scattered(30), 20, 3)
    others = [
        journeys(scattered(30, seed=1), 20, 3),
        journeys(scattered(30), 20, 3, seed=1),
        journeys(scattered(30), 21, 3),
        Atlas(book.locations, book.journeys, near_count=2),
    ]
    assert len({each.sha256 for each in (book, *others)}) == 5
    assert book == Atlas(book.locations, book.journeys.copy(), error_km=3.0)


@pytest.mark.parametrize(
    "rows", [np.zeros((0, 2)), np.zeros((3, 0)), np.array([[0, 3]]), np.array([[-1, 0]])]
)
def test_refuses_a_book_that_is_none(rows):
    with pytest.raises(DomainError):
        Atlas(triangle(), rows.astype(np.int32))
