"""The two continuous laws: densities, and draws that follow them."""

import math
from fractions import Fraction

import numpy as np
import pytest

from nomadp.mechanisms.continuous.tracs import Circular, Linear

SHARES = [Fraction(1, 100), Fraction(1, 2), Fraction(2), Fraction(8)]
GRID = np.linspace(0, 1, 101)
MIDDLES = (np.arange(20_000) + 0.5) / 20_000


@pytest.mark.parametrize("share", SHARES)
def test_no_two_numbers_have_densities_further_apart_than_the_share(share):
    law = Linear(share)
    density = np.array([[law.density(x, y) for y in GRID] for x in GRID])
    assert density.max() / density.min() == pytest.approx(math.exp(share))
    assert (density.max(axis=0) / density.min(axis=0)).max() <= math.exp(share) * (1 + 1e-12)


@pytest.mark.parametrize("share", SHARES)
def test_no_two_angles_have_densities_further_apart_than_the_share(share):
    law, turn = Circular(share), 2 * math.pi * GRID
    density = np.array([[law.density(x, y) for y in turn] for x in turn])
    assert density.max() / density.min() <= math.exp(share) * (1 + 1e-12)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("value", [0.0, 0.03, 0.5, 0.99, 1.0])
def test_the_density_of_a_number_has_mass_one_and_a_window_that_holds_it(share, value):
    law = Linear(share)
    mass = law.odds * law.width + (1 - law.width) / law.odds
    assert mass == pytest.approx(1)
    assert law.width == pytest.approx(1 / (math.exp(share / 2) + 1))
    assert 0 <= law.start(value) <= value <= law.start(value) + law.width <= 1 + 1e-15
    assert law.density(value, value) == law.odds == pytest.approx(math.exp(share / 2))


@pytest.mark.slow
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("value", [0.0, 0.03, 0.5, 0.99, 1.0])
def test_draws_of_a_number_follow_its_density(share, value):
    law = Linear(share)
    drawn = np.sort([law.draw(value, float(u)) for u in MIDDLES])
    assert drawn[0] >= 0
    assert drawn[-1] <= 1
    # Evenly spaced uniforms: the share of draws below y is the distribution function there.
    steps = np.linspace(0, 1, 2001)
    density = [law.density(value, y) for y in (steps[1:] + steps[:-1]) / 2]
    below = np.append(0, np.cumsum(density) / 2000)
    found = np.searchsorted(drawn, steps) / len(drawn)
    # One cell may straddle each end of the window, and draws are 1/20000 apart.
    assert abs(found - below).max() <= 2 * law.odds / 2000 + 3 / len(drawn)


@pytest.mark.slow
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("angle", [0.0, 1.0, math.pi, 6.2])
def test_the_mean_error_of_an_angle_is_pi_over_s_plus_one(share, angle):
    law = Circular(share)
    drawn = np.array([law.draw(angle, float(u)) for u in MIDDLES])
    assert ((drawn >= 0) & (drawn < 2 * math.pi)).all()
    error = np.abs((drawn - angle + math.pi) % (2 * math.pi) - math.pi)
    # The one uniform cell that straddles the window's end errs by less than half a turn.
    expected = math.pi / (math.exp(share / 2) + 1)
    assert error.mean() == pytest.approx(expected, abs=math.pi / len(MIDDLES))


@pytest.mark.parametrize("share", SHARES)
def test_the_mean_error_of_a_number_in_the_middle(share):
    # Inside the window of width w the error is w/4 on average, outside (w/2 + 1/2) / 2.
    law = Linear(share)
    drawn = np.array([law.draw(0.5, float(u)) for u in MIDDLES])
    s, w = law.odds, law.width
    expected = s / (s + 1) * w / 4 + 1 / (s + 1) * (w / 2 + 0.5) / 2
    assert np.abs(drawn - 0.5).mean() == pytest.approx(expected, abs=0.5 / len(MIDDLES))


def test_a_window_by_hand():
    law = Linear(Fraction(0) + Fraction(2 * math.log(3)))  # s = 3: a quarter, drawn in 3 of 4
    assert law.width == pytest.approx(0.25)
    assert [law.start(x) for x in (0.0, 0.1, 0.5, 0.9, 1.0)] == pytest.approx(
        [0, 0, 0.375, 0.75, 0.75]
    )
    assert law.draw(0.5, 0.375) == pytest.approx(0.5)
    assert law.draw(0.5, 0.75 + 0.25 * 0.2) == pytest.approx(0.15)
    assert law.draw(0.5, 0.75 + 0.25 * 0.8) == pytest.approx(0.85)
