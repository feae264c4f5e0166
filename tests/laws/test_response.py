"""Randomised response spends its share exactly, and a uniform draw nothing."""

import math
from fractions import Fraction

import numpy as np
import pytest
from refusals import refused
from worlds import exactly_worst

from nomadp.audit.certificate import StepWitness
from nomadp.budget import as_epsilon, exp_lower
from nomadp.drawing import draw
from nomadp.errors import InvalidArgument, OutOfRange
from nomadp.laws import RandomizedResponse, Uniform

SHARES = [as_epsilon(text) for text in ("0.01", "0.1", "1", "4", "10")]


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("size", [2, 4, 6, 12])
def test_randomised_response_spends_its_share_and_not_more(share, size):
    channel = RandomizedResponse(size, share)
    ratio = exactly_worst(channel, range(size))
    assert ratio == channel.bound <= exp_lower(share)
    assert math.log(ratio) == pytest.approx(float(share), rel=1e-6)
    assert len(set(channel.weights(np.arange(size)).sum(axis=1).tolist())) == 1


def test_an_input_out_of_range_is_refused_without_being_shown():
    with refused(OutOfRange, "input_out_of_range", size=4) as refusal:
        RandomizedResponse(4, Fraction(1)).weights(77)
    assert "77" not in str(refusal.value)


@pytest.mark.parametrize("size", [1, 2, 7])
def test_a_uniform_draw_gives_every_value_the_same_chance_for_free(size):
    channel = Uniform(size)
    assert channel.weights(None).tolist() == [1] * size
    assert (channel.share, channel.bound) == (0, 1)


def test_a_coin_is_the_first_bit_of_its_word():
    words = (0, 2**63 - 1, 2**63, 2**64 - 1)
    assert [draw(Uniform(2), None, word) for word in words] == [0, 0, 1, 1]


def test_a_uniform_draw_may_be_among_a_released_number_of_values():
    channel = Uniform(4)
    assert channel.weights(3).tolist() == [1, 1, 1, 0]
    assert channel.weights(np.array([1, 4])).tolist() == [[1, 0, 0, 0], [1, 1, 1, 1]]
    assert {draw(channel, 3, k * 2**64 // 12) for k in range(12)} == {0, 1, 2}


@pytest.mark.parametrize("count", [0, 5, -1])
def test_a_uniform_draw_among_no_or_too_many_values_is_refused(count):
    with refused(InvalidArgument, "count_out_of_range", size=4):
        Uniform(4).weights(count)


def test_a_uniform_draw_that_depends_on_a_secret_is_flagged():
    witness = StepWitness()
    witness("location", Uniform(4), np.array([2, 3]))
    assert witness.flags == {"support"}


def test_refuses_a_draw_among_nothing():
    with refused(InvalidArgument, "size_out_of_range", size=0):
        Uniform(0)
