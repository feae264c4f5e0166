"""Private Lloyd: a public book, the same for everybody, that answers for its own reports."""

import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from refusals import refused
from worlds import scattered, small_map, triangle

from nomadp.errors import DomainError
from nomadp.mechanisms.atlas import Codebook, design, lloyd
from nomadp.mechanisms.atlas.lloyd import best_near
from nomadp.walks import public_walks

FOUR = Fraction(4)


def error_km(atlas, near_count, walks, epsilon):
    """Of reported points, by the law, one walk after the other."""
    gain, total = math.expm1(epsilon), 0.0
    for walk in walks:
        km = np.sort(atlas.distances_km(walk.astype(np.int64)))
        sums = km[:near_count].sum() * gain + km.sum()
        total += sums / (near_count * gain + len(km))
    return total / walks.size


def test_the_same_question_gives_the_same_book_in_another_process():
    code = (
        "from fractions import Fraction as F; from nomadp.locations import LocationSet as L;"
        "from nomadp.mechanisms.atlas import design;"
        "world = L.from_columns(['a','b','c'], [41.80,41.82,41.85], [-87.6,-87.6,-87.55]);"
        "print(design(world, 3, F(4)).codewords.tolist())"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )
    assert told.stdout.strip() == str(design(triangle(), 3, FOUR).codewords.tolist())


def test_another_world_length_size_or_epsilon_is_another_book():
    asked = [
        (scattered(30), 2, FOUR, 9),
        (scattered(30, seed=1), 2, FOUR, 9),
        (scattered(30), 3, FOUR, 9),
        (scattered(30), 2, FOUR, 8),
        (scattered(30), 2, Fraction(5), 9),
    ]
    assert len({design(*each).codewords.tobytes() for each in asked}) == 5


def test_few_locations_have_every_journey_in_their_book_where_epsilon_affords_it():
    book = design(triangle(), 2, Fraction(10))
    assert sorted(map(tuple, book.codewords.tolist())) == [
        (a, b) for a in range(3) for b in range(3)
    ]
    assert design(triangle(), 2, Fraction(1), 4096).size == 9
    assert design(triangle(), 2, Fraction(1)).size < 9


def test_more_epsilon_affords_more_journeys():
    sizes = [design(scattered(30), 2, Fraction(e)).size for e in (1, 4, 7)]
    assert sizes == sorted(set(sizes))
    assert sizes[0] >= 2


def test_journeys_are_distinct():
    book = design(scattered(12), 2, Fraction(1), 40)  # many answers fall together
    assert len(np.unique(book.codewords, axis=0)) == book.size < 40


def test_the_error_it_claims_is_that_of_the_law_on_walks_it_was_not_made_from():
    book = design(scattered(60), 2, FOUR)
    fresh = public_walks(scattered(60), 2, 3000, "others")
    found = error_km(book, book.near_count, fresh, 4)
    # The error of one walk varies by less than its mean: five deviations of 3000 are 10 %.
    assert book.error_km == pytest.approx(found, rel=0.1)


@pytest.mark.slow
def test_few_made_journeys_err_less_than_many_walks():
    locations = scattered(100)
    book = design(locations, 2, FOUR)
    fresh = public_walks(locations, 2, 400, "others")
    walks = Codebook(locations, public_walks(locations, 2, 2000, "book").copy())
    by_walks = min(error_km(walks, near, fresh, 4) for near in (10, 30, 60, 100, 200))
    assert book.size < 40
    assert error_km(book, book.near_count, fresh, 4) < 0.94 * by_walks


def test_no_answer_could_be_moved_to_a_much_better_place():
    locations = scattered(40)
    book = design(locations, 2, FOUR)
    walks = public_walks(locations, 2, 4000, "others").astype(np.int64)
    nearest = book.distances_km(walks.T).argmin(axis=1)
    every = np.arange(40)
    for row in range(book.size):
        weight = 1 + math.expm1(4) * (nearest == row)
        for position in range(2):
            apart = locations.distances_between_km(walks[:, position, None], every)
            expected = weight @ apart / weight.sum()
            assert expected[book.codewords[row, position]] < 1.1 * expected.min()


def test_the_number_of_near_journeys_is_that_of_the_least_expected_error():
    apart = np.random.default_rng(1).uniform(0, 9, (50, 12))
    km = np.sort(apart, axis=1)
    for gain in (0.5, 5.0, 500.0):
        every = [
            np.mean([(row[:k].sum() * gain + row.sum()) / (k * gain + 12) for row in km])
            for k in range(1, 13)
        ]
        near, error = best_near(apart, gain)
        assert near == np.argmin(every) + 1
        assert error == pytest.approx(min(every))


def test_it_is_the_smallest_that_errs_hardly_more_than_the_best():
    sketch = lloyd._Settings(math.expm1(4), 1, lloyd.SKETCH_ROUNDS)
    tried = [lloyd._best_codebook(scattered(40), 2, size, sketch) for size in lloyd.SIZES[:8]]
    least = min(each.error_km for each in tried)
    enough = next(
        size
        for size, each in zip(lloyd.SIZES, tried, strict=False)
        if each.error_km <= 1.01 * least
    )
    whole = lloyd._best_codebook(scattered(40), 2, enough, sketch._replace(rounds=lloyd.ROUNDS))
    assert design(scattered(40), 2, FOUR).codewords.tolist() == whole.codewords.tolist()


def test_where_epsilon_is_too_small_for_two_answers_those_for_a_larger_one_are_taken():
    book = design(scattered(30), 2, Fraction(1, 10))
    assert book.size >= 2
    assert math.isnan(book.error_km)  # they are no answers to its reports


def test_a_world_in_one_place_has_a_book():
    from nomadp.locations import LocationSet

    here = LocationSet.from_columns([*"abcdef"], [1.0] * 6, [2.0] * 6)
    assert design(here, 2, FOUR, 8).size == 1


def test_a_world_around_the_earth_has_a_book():
    from nomadp.locations import LocationSet

    lng = np.linspace(-180, 175, 72)
    here = LocationSet.from_columns(list(map(str, range(72))), np.zeros(72), lng)
    assert design(here, 1, FOUR).error_km < 5004  # a quarter of the way round


@pytest.mark.parametrize("asked", [(0, FOUR, 5), (2, FOUR, 0)])
def test_refuses_a_length_or_size_of_nothing(asked):
    with refused(DomainError, "codebook_size_out_of_range", length=asked[0], size=asked[2]):
        design(small_map(4), *asked)
