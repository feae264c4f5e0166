"""What all laws share."""

import math
from fractions import Fraction

import numpy as np
import pytest
from refusals import refused
from worlds import scattered

from nomadp.budget import MIN_SHARE
from nomadp.errors import BudgetError
from nomadp.laws import (
    Disc,
    Exponential,
    RandomizedResponse,
    SquareWave,
    Staircase,
    Subset,
    TableExponential,
    clamped,
)
from nomadp.laws.channel import UNIT, check_words, heaviest, largest_unit


def test_float_accidents_cost_accuracy_and_never_privacy():
    wild = np.array([math.nan, math.inf, -math.inf, -1.0, 0.0, 1e300, 20.0])
    assert clamped(wild, 16, 64).tolist() == [16, 64, 16, 16, 16, 64, 20]


def test_weights_of_many_secrets_are_the_weights_of_each():
    locations = scattered(12)
    channels = [
        RandomizedResponse(12, Fraction(1)),
        SquareWave(12, Fraction(1)),
        Exponential(locations, np.arange(5), 10.0, Fraction(2), Disc(0, 5.0)),
        Subset(12, 3, lambda x: (np.arange(3) + int(x)) % 12, Fraction(1)),
        TableExponential(np.eye(12), np.arange(12), 1.0, Fraction(1)),
        Staircase(12, 4, lambda x: (np.arange(12) + int(x)) % 12, Fraction(1)),
    ]
    for channel in channels:
        together = channel.weights(np.arange(12))
        assert together.tolist() == [channel.weights(x).tolist() for x in range(12)]


@pytest.mark.parametrize(
    "law",
    [
        lambda share: RandomizedResponse(4, share),
        lambda share: SquareWave(4, share),
        lambda share: Exponential(scattered(4), np.arange(4), 1.0, share),
        lambda share: TableExponential(np.eye(4), np.arange(4), 1.0, share),
        lambda share: Subset(4, 1, np.arange, share),
        lambda share: Staircase(4, 2, np.arange, share),
    ],
)
def test_refuses_a_free_draw_of_a_secret(law):
    for share in (Fraction(0), MIN_SHARE - Fraction(1, 2**60)):
        with refused(BudgetError, "share_too_small", share=float(share)):
            law(share)
    law(MIN_SHARE)


def test_weights_that_63_bits_cannot_add_up_are_refused():
    check_words(2**62, 2**63 - 1)
    with refused(BudgetError, "word_precision_exceeded"):
        check_words(2**62, 2**63)


@pytest.mark.parametrize("size", [2, 2000, 10**6])
@pytest.mark.parametrize("share", [Fraction(1, 10), Fraction(4), Fraction(20)])
def test_the_unit_is_the_largest_power_of_two_that_fits(size, share):
    unit = largest_unit(size, share)
    assert size * heaviest(unit, share) < 2**63
    assert unit == UNIT or size * heaviest(2 * unit, share) >= 2**63
