"""Budgets are exact, and a split that does not add up does not exist."""

import math
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from nomadp.budget import MIN_SHARE, Split, Step, as_epsilon, exp_lower, format_epsilon
from nomadp.errors import BudgetError


@pytest.mark.parametrize("value", ["0.1", 0.1, Fraction(1, 10), "1/10"])
def test_a_tenth_is_a_tenth_however_it_is_written(value):
    assert as_epsilon(value) == Fraction(1, 10)


@pytest.mark.parametrize(
    "value", [0, -1, "0", "-0.5", math.nan, math.inf, 1e6, "nan", "x", "", "1/0", None, 20.0001]
)
def test_refuses_an_epsilon_nobody_can_promise(value):
    with refused(BudgetError, "epsilon_out_of_range", most=20):
        as_epsilon(value)


ODD = {
    "an underscore": "1_0",
    "wide digits": "\uff11\uff10",
    "Arabic digits": "\u0663",
    "a superscript": "\u00b2",
    "a space": "1 0",
    "hexadecimal": "0x1",
    "nearly nothing": "1e-5000",
    "finer than anybody means": "1e-31",
    "the finest float": 1e-320,
    "too much": "1e400",
    "no end below": "1e-999999999",
    "no end above": "1e999999999",
    "many digits": "9" * 5000,
    "a huge integer": 10**5000,
    "a tiny fraction": Fraction(1, 10**5000),
    "no number": Decimal("NaN"),
}
PLAIN = [
    (" 4 ", 4),
    ("+.5", Fraction(1, 2)),
    ("1E-2", Fraction(1, 100)),
    ("20.", 20),
    (Decimal("0.3"), Fraction(3, 10)),
    (np.float64(0.1), Fraction(1, 10)),
    (np.int64(2), 2),
]


@pytest.mark.parametrize("name", ODD)
def test_an_epsilon_written_oddly_is_refused_in_a_line(name):
    with pytest.raises(BudgetError) as refusal:
        as_epsilon(ODD[name])
    assert refusal.value.code in ("epsilon_out_of_range", "epsilon_too_precise")
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize(("value", "meant"), PLAIN)
def test_a_number_is_read_as_people_write_it(value, meant):
    assert as_epsilon(value) == meant


@given(st.fractions(min_value=0, max_value=20, max_denominator=10**6))
def test_exp_lower_is_a_tight_lower_bound(x):
    getcontext().prec = 80
    true = (Decimal(x.numerator) / Decimal(x.denominator)).exp()
    bound = exp_lower(x)
    below = Decimal(bound.numerator) / Decimal(bound.denominator)
    assert below <= true
    assert below >= true * (1 - Decimal(2) ** -140)


def test_exp_lower_of_nothing_is_one():
    assert exp_lower(Fraction(0)) == 1


@given(st.fractions(min_value=0, max_value=30, max_denominator=10**9))
def test_a_printed_epsilon_is_never_below_the_true_one(x):
    assert Fraction(format_epsilon(x)) >= x
    assert Fraction(format_epsilon(x)) - x < Fraction(1, 10**6)


def test_an_infinite_loss_is_printed_in_words():
    assert format_epsilon(math.inf) == "infinite"


def test_refuses_a_split_that_spends_another_sum():
    step = Step("point", 0, 3, Fraction(1, 2))
    with refused(BudgetError, "shares_do_not_add_up", epsilon="1", total="3/2"):
        Split(Fraction(1), (step,))
    with refused(BudgetError, "shares_do_not_add_up", epsilon="2"):
        Split(Fraction(2), (step,))


def test_refuses_a_step_that_does_nothing():
    with refused(BudgetError, "step_without_draws"):
        Split(Fraction(1), (Step("p", 0, 0, Fraction(1)),))


@pytest.mark.parametrize("share", [Fraction(0), Fraction(-1), MIN_SHARE * Fraction(99, 100)])
def test_refuses_a_draw_that_may_cost_less_than_laws_give_away(share):
    with refused(BudgetError, "share_too_small"):
        Split(share, (Step("p", 0, 1, share),))
    assert Split(MIN_SHARE, (Step("p", 0, 1, MIN_SHARE),)).epsilon == MIN_SHARE
