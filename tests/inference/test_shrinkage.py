"""Splits between what was counted and what is public, as far as chance demands."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, norm

from nomadp.inference.shrinkage import (
    CONCENTRATIONS,
    _by_concentration,
    initial_weights,
    posterior,
)


def one(value):
    return np.array([value])


@pytest.mark.parametrize(("public", "off"), [(0.5, 0.01), (0.1, 0.03), (0.001, 0.15)])
def test_every_prior_is_a_whole_one_around_what_is_public(public, off):
    evidence, expected = _by_concentration(one(0.5), one(1e6), one(public))
    assert evidence[0] == pytest.approx(1, abs=0.03)
    assert expected[0] == pytest.approx(public, rel=off)


@pytest.mark.parametrize(("found", "public"), [(0.3, 0.5), (0.62, 0.2), (-0.1, 0.4)])
def test_evidence_and_expectation_are_those_of_bayes(found, public):
    deviation = 0.15
    evidence, expected = _by_concentration(one(found), one(deviation**2), one(public))
    for times, is_found, mean in zip(
        CONCENTRATIONS[:5], evidence[0, 1:], expected[0, 1:], strict=False
    ):
        prior = beta(times * public, times * (1 - public))

        def mass(split, prior=prior):
            return prior.pdf(split) * norm.pdf(found, split, deviation)

        total, above = (
            quad(each, 0, 1, points=[1e-4, public, 0.999], limit=200)[0]
            for each in (mass, lambda split: split * mass(split))
        )
        public_mass = norm.pdf(found, public, deviation)
        assert is_found / evidence[0, 0] == pytest.approx(total / public_mass, rel=0.02)
        assert mean == pytest.approx(above / total, rel=0.02)


def test_what_is_exact_is_taken_as_it_is():
    found = np.array([0.1, 0.5, 0.9, 0.999])
    split, *_ = posterior(found, np.full(4, 1e-10), np.full(4, 0.5), initial_weights())
    assert split == pytest.approx(found, abs=1e-4)


def test_what_says_nothing_leaves_what_is_public():
    public = np.array([0.2, 0.5, 0.8])
    split, spread, _ = posterior(
        np.array([3.0, -2.0, 0.4]), np.full(3, 1e6), public, initial_weights()
    )
    assert split == pytest.approx(public, rel=0.02)
    assert spread == pytest.approx(initial_weights(), rel=0.02)


def test_a_part_counted_below_zero_is_nearly_empty():
    found = np.linspace(-0.02, 0.0, 50)
    split, *_ = posterior(found, np.full(50, 1e-4), np.full(50, 0.5), initial_weights())
    assert (split < 0.005).all()  # half a deviation
    assert (split > 0).all()


def test_splits_that_stray_let_others_stray():
    found, sure = np.array([0.7] + [0.5] * 30), np.array([0.7] + [0.05, 0.95] * 15)
    public, variance = np.full(31, 0.5), np.full(31, 0.1**2)
    shy, bold = (
        posterior(each, variance, public, initial_weights())[0][0] for each in (found, sure)
    )
    assert 0.5 < shy < bold < 0.7


def test_many_are_split_in_pieces_alike(monkeypatch):
    rng = np.random.default_rng(1)
    asked = (
        rng.random(50),
        rng.random(50) / 10 + 0.01,
        rng.random(50) / 2 + 0.1,
        initial_weights(),
    )
    split, spread, _ = posterior(*asked)
    monkeypatch.setattr("nomadp.inference.shrinkage._AT_ONCE", 7)
    again, spread_again, _ = posterior(*asked)
    assert np.array_equal(split, again)
    assert np.array_equal(spread, spread_again)
