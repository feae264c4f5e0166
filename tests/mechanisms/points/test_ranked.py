"""Laws by rank in bulk: one word, one number, one location, with exactly the law's weights."""

from fractions import Fraction

import numpy as np
import pytest
from exact_laws import assert_bulk_follows
from many import drawn_many
from refusals import refused
from worlds import scattered, triangle

from nomadp.budget import MIN_SHARE
from nomadp.errors import InvalidArgument
from nomadp.laws import NearestLocations
from nomadp.mechanisms import make_mechanism
from nomadp.mechanisms.dispatch import REFERENCE, fastest
from nomadp.mechanisms.fast import limits, word_rows
from nomadp.mechanisms.fast.word_rows import draw_rows, point_words
from nomadp.mechanisms.points import ranked_batch
from nomadp.mechanisms.points.brr import BipartiteResponse
from nomadp.mechanisms.points.ranked_batch import (
    mixture_of,
    nearest_table,
    numbered_nearest,
)
from nomadp.randomness import SeededRandom
from nomadp.trajectory import TrajectorySet

LAWS = [
    ("brr", {}),
    ("brr", {"near_count": 1}),
    ("brr", {"near_count": 40}),  # all are near
    ("l-srr", {}),
    ("l-srr", {"groups": 7}),
    ("l-srr", {"groups": 99}),  # every location is a group
]
SHARES = [MIN_SHARE, Fraction(1, 10), Fraction(1), Fraction(9), Fraction(19)]


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize(("name", "options"), LAWS)
def test_the_mixture_gives_every_location_the_weight_of_the_law(name, options, share):
    mechanism = make_mechanism(name, scattered(40), 1, **options)
    mixture, channel = ranked_batch._mixture(mechanism, share), mechanism.channel(share)
    for place in range(0, 40, 3):
        weight = np.zeros(40, dtype=np.int64)
        for count, rise in zip(*mixture, strict=True):
            weight[NearestLocations(mechanism.locations, int(count))(place)] += rise
        assert weight.tolist() == channel.weights(place).tolist()


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize(("name", "options"), LAWS)
def test_words_become_counts_and_numbers_exactly(name, options, share):
    mechanism = make_mechanism(name, scattered(40), 1, **options)
    mixture = ranked_batch._mixture(mechanism, share)
    cells = [
        (int(count), number, int(rise))
        for count, rise in zip(*mixture, strict=True)
        for number in range(count)
    ]
    total = sum(rise for _, _, rise in cells)
    before, edges = 0, []
    for count, number, rise in cells:
        # The first and the last word whose share of the total falls into this cell.
        first, after = -(-before * 2**64 // total), -(-(before + rise) * 2**64 // total)
        edges += [(first, count, number), (after - 1, count, number)]
        before += rise
    words, counts, numbers = zip(*edges, strict=True)
    assert (words[0], words[-1]) == (0, 2**64 - 1)
    drawn = mixture.draw(np.array(words, dtype=np.uint64))
    assert tuple(drawn[0].tolist()) == counts
    assert tuple(drawn[1].tolist()) == numbers


def test_refuses_weights_that_rise_with_the_rank():
    with refused(InvalidArgument, "weights_rise_with_rank"):
        mixture_of(np.array([3, 4, 2]))


def test_the_table_is_the_order_of_the_law_and_holds_only_what_was_asked():
    locations = scattered(50, seed=3)
    ranked_batch._ranking.cache_clear()
    nearest_table(locations, np.array([4, 9, 4]))
    _, is_known = ranked_batch._ranking(locations)
    assert np.flatnonzero(is_known).tolist() == [4, 9]
    for place in (4, 17):
        row = nearest_table(locations, np.array([place]))[place]
        assert row.tolist() == NearestLocations(locations, 50)(place).tolist()


def test_in_a_small_set_the_number_is_the_rank():
    locations = scattered(30)
    ranks = np.arange(12)
    named = numbered_nearest(locations, np.full(12, 7), np.full(12, 12), ranks)
    assert named.tolist() == NearestLocations(locations, 12)(7).tolist()


@pytest.mark.parametrize("size", [200, 200_000])
def test_a_point_has_the_word_its_trajectory_would_have_alone(size):
    rng = np.random.default_rng(1)
    lengths = [1, 9, 2, 300, 3, 8, 1]
    some = TrajectorySet.from_lists([rng.integers(0, size, n) for n in lengths], size=size)
    randomness = SeededRandom(3)
    alone = np.concatenate([randomness.stream(k).take(n) for k, n in enumerate(lengths)])
    assert point_words(some, randomness).tolist() == alone.tolist()


@pytest.mark.parametrize("name", ["brr", "l-srr"])
@pytest.mark.parametrize("trajectory", [(0, 2), (2,)])
def test_reports_of_a_large_set_follow_the_exact_law(name, trajectory, small_is_large):
    mechanism = make_mechanism(name, triangle(), 3)
    assert_bulk_follows(mechanism, trajectory, 12_000)


def test_a_subclass_with_another_law_keeps_the_reference_program():
    class Other(BipartiteResponse):
        """Might do anything."""

    assert fastest(Other(locations=scattered(20), epsilon=2)) == REFERENCE


@pytest.mark.parametrize("large", [False, True])
def test_rows_of_words_that_run_out_change_no_report_of_exp(large, monkeypatch):
    if large:
        monkeypatch.setattr(limits, "TABLE_LIMIT", 2)
    rng = np.random.default_rng(3)
    some = TrajectorySet.from_lists([rng.integers(0, 40, n) for n in (1, 2, 3, 9, 30)], size=40)
    mechanism = make_mechanism("exp", scattered(40), 6)
    generous = drawn_many(mechanism, some, SeededRandom(4)).tolist()

    def short(run, some, words, means, width):
        return draw_rows(run, some, words, means, 1)

    monkeypatch.setattr("nomadp.mechanisms.points.exp_batch.draw_rows", short)
    assert drawn_many(mechanism, some, SeededRandom(4)).tolist() == generous
    monkeypatch.setattr(word_rows, "_WORDS_MAX", 1)  # and one trajectory at a time
    assert drawn_many(mechanism, some, SeededRandom(4)).tolist() == generous
