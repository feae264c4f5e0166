"""Kernels against the laws they must follow: bit for bit, or by exact acceptance chances."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from many import drawn_many, needs_numba
from refusals import refused
from scipy import stats
from worlds import scattered, triangle

from nomadp.drawing import draw
from nomadp.errors import WrongType
from nomadp.laws import Disc, Exponential, RandomizedResponse, SquareWave, probabilities
from nomadp.mechanisms import MECHANISMS, PUBLISHED, PivotSampling, make_mechanism
from nomadp.mechanisms.dispatch import FAST, REFERENCE, fastest, path_of
from nomadp.mechanisms.fast import arrays, draws
from nomadp.mechanisms.fast.values import Batch, Drawn
from nomadp.mechanisms.fast.word_rows import ceiling, draw_rows
from nomadp.mechanisms.large.nearest import Scratch
from nomadp.mechanisms.pivot.batch import sample_copies
from nomadp.mechanisms.pivot.merge import MERGES
from nomadp.randomness import KeyedRandom, SeededRandom, SystemRandom
from nomadp.trajectory import TrajectorySet

WORD = st.integers(min_value=0, max_value=2**64 - 1)


def row(*words):
    return np.array(words, dtype=np.uint64)


@given(WORD, st.integers(min_value=1, max_value=2**62))
def test_a_word_picks_below_a_total_exactly(word, total):
    assert draws.below(row(word), 0, total) == word * total >> 64


@given(WORD, st.integers(0, 5), st.sampled_from(["0.01", "1", "7/2"]))
def test_randomised_response_is_the_reference_bit_for_bit(word, true, share):
    channel = RandomizedResponse(6, Fraction(share))
    heavy = int(channel.weights(0)[0])
    assert draws.response(row(word), 0, true, 6, heavy) == draw(channel, true, word)


@given(WORD, st.integers(0, 63), st.sampled_from(["0.01", "1", "7/2", "12"]))
def test_the_square_wave_is_the_reference_bit_for_bit(word, cell, share):
    channel = SquareWave(64, Fraction(share))
    wave = (64, channel.reach, int(channel.weights(0).max()))
    drawn = arrays.square_wave(row(word), np.array([cell]), wave)
    assert drawn.tolist() == [draw(channel, cell, word)]


@pytest.mark.parametrize("share", ["0.01", "1", "10"])
def test_acceptance_weights_are_the_laws_integer_weights(share):
    locations = scattered(60)
    disc = Disc(4, 20.0)
    domain = locations.within(4, 20.0)
    channel = Exponential(locations, domain, 40.0, Fraction(share), disc)
    most = ceiling(channel.share)
    for secret in range(60):
        distance = locations.distances_km(secret)
        away_km = distance[domain] - max(0.0, distance[4] - 20.0)
        one = [draws.weight_of(km, channel.scale_per_km, most) for km in away_km]
        many = arrays.weights(away_km, np.array(channel.scale_per_km), np.array(most))
        # The exponentials may round differently: one unit in 2^24, inside the clamp.
        for weight in (np.array(one), many):
            assert np.abs(weight - channel.weights(secret)).max() <= 1
            assert weight.min() >= 2**24
            assert weight.max() <= most


@pytest.mark.parametrize("km", [100.0, 1e6, float("inf"), float("nan")])
def test_no_weight_falls_below_the_unit_or_rises_above_the_ceiling(km):
    # At the far end of the span a weight is a hair below the unit, and beyond it far below.
    scale, most = 1 / 200, ceiling(Fraction(1))
    assert draws.weight_of(km, scale, most) == 2**24
    assert draws.weight_of(-1.0, scale, most) == most
    if km == km:
        for_all = arrays.weights(np.array([km, -1.0]), np.array(scale), np.array(most))
        assert for_all.tolist() == [2**24, most]


def test_proposing_and_accepting_follows_the_exponential_law():
    locations = scattered(12)
    channel = Exponential(locations, np.arange(12), locations.diameter_km, Fraction(4))
    law = (channel.scale_per_km, 0.0, float(ceiling(channel.share)))
    words = SeededRandom(1).rows(np.arange(40_000), 128)
    distance, domain = locations.distances_km(5), np.arange(12, dtype=np.int32)
    drawn = [draws.near(words[k], 0, domain, distance, law) for k in range(len(words))]
    assert max(used for _, used in drawn) <= 128
    seen = np.bincount([y for y, _ in drawn], minlength=12)
    expected = len(words) * probabilities(channel, 5)
    assert ((seen - expected) ** 2 / expected).sum() <= stats.chi2.isf(1e-6, 11)


@pytest.mark.parametrize("width", [1, 2, 7, 64])
def test_rows_of_words_are_the_beginnings_of_the_streams(width):
    randomness = KeyedRandom(bytes(range(32)))
    rows = randomness.rows(np.array([0, 3, 2**40]), width)
    for index, found in zip((0, 3, 2**40), rows, strict=True):
        assert found.tolist() == randomness.stream(index).take(width).tolist()


def test_words_that_cannot_be_asked_for_again_are_refused():
    with refused(WrongType, "words_not_bound"):
        SystemRandom().rows(np.arange(2), 8)


@pytest.mark.parametrize("name", ["tp", "atp"])
def test_a_row_that_runs_out_is_drawn_again_from_its_beginning(name, monkeypatch):
    locations = scattered(40)
    rng = np.random.default_rng(3)
    some = TrajectorySet.from_lists([rng.integers(0, 40, n) for n in (1, 2, 3, 9, 30)], size=40)
    mechanism = make_mechanism(name, locations, 2)
    generous = drawn_many(mechanism, some, SeededRandom(4))
    monkeypatch.setattr("nomadp.mechanisms.pivot.batch.draw_rows", partial(draw_rows, width=2))
    assert drawn_many(mechanism, some, SeededRandom(4)).tolist() == generous.tolist()


@needs_numba
@pytest.mark.parametrize("merge", ["coin", "direction", "first-index"])
def test_bulk_merges_are_the_rules_of_single_ones(merge):
    locations = scattered(30)
    some = TrajectorySet.from_lists([[1, 2, 3, 4]] * 50, size=30)
    mechanism = make_mechanism("tp", locations, 4, merge=merge)
    (first, second), coins = sample_copies(mechanism, some, SeededRandom(0))
    reported = drawn_many(mechanism, some, SeededRandom(0)).reshape(50, 4)
    for k, row in enumerate(reported.tolist()):
        here = slice(4 * k, 4 * k + 4)
        tossed = iter(coins[here].tolist())
        rule = MERGES[merge]
        copies = tuple(first[here].tolist()), tuple(second[here].tolist())
        assert tuple(row) == rule(locations, *copies, Tossing(tossed))
    assert np.count_nonzero(first != second) > 0


class Tossing:
    """A Choose whose coins are already on the table."""

    def __init__(self, coins):
        self._coins = coins

    def __call__(self, step, channel, secret):
        return next(self._coins)

    def each(self, tasks):
        return [program(secret, self) for program, secret in tasks]


def test_a_subclass_with_another_law_does_not_inherit_the_kernels():
    class Other(PivotSampling):
        """Might do anything."""

    assert fastest(make_mechanism("tp", scattered(20), 2)) == "numba"
    assert fastest(Other(locations=scattered(20), epsilon=2)) == REFERENCE


@pytest.mark.parametrize("name", PUBLISHED)
def test_what_was_published_runs_its_reference(name):
    assert path_of(make_mechanism(name, triangle(), 2), 10**9) == REFERENCE


@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_few_trajectories_do_not_wait_for_numba(name):
    assert path_of(make_mechanism(name, triangle(), 2), 300) != "numba"


def test_every_mechanism_has_one_fast_path_at_most():
    assert set(FAST) <= set(MECHANISMS.values())


@pytest.mark.parametrize(
    "value",
    [
        Batch(np.array([0, 2]), np.array([654321, 7]), row(999888777), np.array([5])),
        Drawn(np.array([[654321], [999888777]]), np.zeros(1), np.zeros(1)),
        Scratch(*[np.array([654321, 999888777])] * 6),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_private_in_a_fast_path_is_not_shown(value):
    assert repr(value) == f"{type(value).__name__}(withheld)"
    assert str(value) == repr(value)
