"""A word picks its cell exactly, one at a time or a million at once."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nomadp.drawing import Drawing, draw, draw_many, high_product
from nomadp.laws import RandomizedResponse, SquareWave, Uniform
from nomadp.randomness import SeededRandom, WordStream

WORD = st.integers(min_value=0, max_value=2**64 - 1)


@given(WORD, st.integers(min_value=1, max_value=2**63 - 1))
def test_the_high_product_is_exact(word, total):
    assert int(high_product(np.array([word], dtype=np.uint64), total)[0]) == word * total >> 64


@given(WORD, st.integers(min_value=0, max_value=5))
def test_a_word_picks_the_cell_that_plain_arithmetic_says(word, secret):
    channel = RandomizedResponse(6, Fraction(1))
    target = word * int(channel.weights(secret).sum()) >> 64
    cell = 0
    for weight in channel.weights(secret):
        if target < weight:
            break
        target -= int(weight)
        cell += 1
    assert draw(channel, secret, word) == cell


@pytest.mark.parametrize("word", [0, 2**64 - 1])
def test_the_smallest_and_the_largest_word_stay_inside(word):
    channel = SquareWave(16, Fraction(1))
    assert draw(channel, 3, word) == (0 if word == 0 else channel.outputs[-1])


def test_many_draws_equal_single_draws_bit_for_bit():
    channel = SquareWave(40, Fraction(3, 2))
    words = SeededRandom(8).stream(0).take(5000)
    assert draw_many(channel, 11, words).tolist() == [
        draw(channel, 11, int(word)) for word in words
    ]


def test_many_draws_equal_single_draws_at_the_borders_of_every_cell():
    channel = SquareWave(40, Fraction(3, 2))
    ends = np.cumsum(channel.weights(11)).tolist()
    first = [-(-end * 2**64 // ends[-1]) for end in ends[:-1]]
    words = [word for border in first for word in (border - 1, border)]
    cells = [cell for k in range(len(first)) for cell in (k, k + 1)]
    assert [draw(channel, 11, word) for word in words] == channel.outputs[cells].tolist()
    drawn = draw_many(channel, 11, np.array(words, dtype=np.uint64))
    assert drawn.tolist() == channel.outputs[cells].tolist()


def test_each_draw_takes_exactly_one_word():
    drawing, words = Drawing(SeededRandom(2).stream(0)), SeededRandom(2).stream(0)
    tosses = drawing.each(
        [(lambda secret, choose: choose("coin", Uniform(2), secret), None)] * 9
    )
    assert tosses == [draw(Uniform(2), None, words.next()) for _ in range(9)]


def test_a_uniform_number_takes_one_word_and_is_never_0_or_1():
    drawing, words = Drawing(SeededRandom(2).stream(0)), SeededRandom(2).stream(0)
    assert [drawing.uniform() for _ in range(9)] == pytest.approx(
        [words.next() / 2**64 for _ in range(9)], abs=2.0**-52
    )

    class Constant(WordStream):
        def __init__(self, word):
            super().__init__()
            self.word = word

        def _more(self, count):
            return self.word.to_bytes(8, "little") * (count // 8)

    lowest, highest = (Drawing(Constant(word)).uniform() for word in (0, 2**64 - 1))
    assert 0 < lowest == 1 - highest < 2.0**-52
