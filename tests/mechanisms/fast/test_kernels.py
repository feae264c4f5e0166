"""Kernels against the laws they must follow: bit for bit, or by exact acceptance chances."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from many import drawn_many
from scipy import stats
from worlds import scattered, triangle

from nomadp.drawing import draw
from nomadp.laws import Disc, Exponential, RandomizedResponse, SquareWave, probabilities
from nomadp.mechanisms import MECHANISMS, PUBLISHED, PivotSampling, make_mechanism
from nomadp.mechanisms.fast import draws
from nomadp.mechanisms.fast.rows import ceiling, draw_rows
from nomadp.mechanisms.fast.tables import tables_of
from nomadp.mechanisms.paths import FAST, REFERENCE, fastest, path_of
from nomadp.mechanisms.pivot import kernel_region as region
from nomadp.mechanisms.pivot.calibration import calibrated_radius_km
from nomadp.mechanisms.pivot.many import pivot_plan, sample_copies
from nomadp.mechanisms.pivot.merge import MERGES
from nomadp.randomness import KeyedWords, SimulatedWords, SystemWords
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
    assert draws.square_wave(row(word), 0, cell, wave) == draw(channel, cell, word)


@pytest.mark.parametrize("share", ["0.01", "1", "10"])
def test_acceptance_weights_are_the_laws_integer_weights(share):
    locations = scattered(60)
    disc = Disc(4, 20.0)
    domain = locations.within(4, 20.0)
    channel = Exponential(locations, domain, 40.0, Fraction(share), disc)
    for secret in range(60):
        distance = locations.distances_km(secret)
        offset = max(0.0, distance[4] - 20.0)
        kernel = [
            draws.weight_of(distance[y] - offset, channel.scale_per_km, ceiling(channel.share))
            for y in domain
        ]
        # The two exponentials may round differently: one unit in 2^24, inside the clamp.
        assert np.abs(np.array(kernel) - channel.weights(secret)).max() <= 1
        assert min(kernel) >= 2**24
        assert max(kernel) <= ceiling(channel.share)


def test_proposing_and_accepting_follows_the_exponential_law():
    locations = scattered(12)
    channel = Exponential(locations, np.arange(12), locations.diameter_km, Fraction(4))
    law = (channel.scale_per_km, 0.0, float(ceiling(channel.share)))
    words = SimulatedWords(1).rows(np.arange(40_000), 128)
    distance, domain = locations.distances_km(5), np.arange(12, dtype=np.int32)
    drawn = [draws.near(words[k], 0, domain, distance, law) for k in range(len(words))]
    assert max(used for _, used in drawn) <= 128
    seen = np.bincount([y for y, _ in drawn], minlength=12)
    expected = len(words) * probabilities(channel, 5)
    assert ((seen - expected) ** 2 / expected).sum() <= stats.chi2.isf(1e-6, 11)


def test_the_calibrated_radius_is_the_references():
    locations = scattered(50)
    mechanism = make_mechanism("atp", locations, 2, resolution=64)
    plan = pivot_plan(mechanism, np.array([2, 5]))
    channel = SquareWave(64, mechanism.split(2).shares(1)["radius"])
    tables = tables_of(locations, mechanism.sectors)
    for anchor in range(0, 50, 7):
        distances = locations.distances_km(anchor)
        for cell in channel.outputs.tolist():
            reference = calibrated_radius_km(channel, cell, distances)
            assert region.calibrated_km(anchor, cell, tables, plan) == pytest.approx(reference)


@pytest.mark.parametrize("width", [1, 2, 7, 64])
def test_rows_of_words_are_the_beginnings_of_the_streams(width):
    words = KeyedWords(bytes(range(32)))
    rows = words.rows(np.array([0, 3, 2**40]), width)
    for index, found in zip((0, 3, 2**40), rows, strict=True):
        assert found.tolist() == words.stream(index).take(width).tolist()


def test_words_that_cannot_be_asked_for_again_are_refused():
    with pytest.raises(TypeError, match="use KeyedWords"):
        SystemWords().rows(np.arange(2), 8)


@pytest.mark.parametrize("name", ["tp", "atp"])
def test_a_row_that_runs_out_is_drawn_again_from_its_beginning(name, monkeypatch):
    locations = scattered(40)
    rng = np.random.default_rng(3)
    some = TrajectorySet.from_lists([rng.integers(0, 40, n) for n in (1, 2, 3, 9, 30)], size=40)
    mechanism = make_mechanism(name, locations, 2)
    generous = drawn_many(mechanism, some, SimulatedWords(4))
    monkeypatch.setattr("nomadp.mechanisms.pivot.many.draw_rows", partial(draw_rows, width=2))
    assert drawn_many(mechanism, some, SimulatedWords(4)).tolist() == generous.tolist()


@pytest.mark.parametrize("merge", ["coin", "direction", "first-index"])
def test_bulk_merges_are_the_rules_of_single_ones(merge):
    locations = scattered(30)
    some = TrajectorySet.from_lists([[1, 2, 3, 4]] * 50, size=30)
    mechanism = make_mechanism("tp", locations, 4, merge=merge)
    (first, second), coins = sample_copies(mechanism, some, SimulatedWords(0))
    reported = drawn_many(mechanism, some, SimulatedWords(0)).reshape(50, 4)
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
