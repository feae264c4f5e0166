"""The climb ends on the top, and says what every round left."""

import numpy as np
import pytest
from scipy.optimize import minimize

from nomadp.inference import maximise as module
from nomadp.inference.maximise import maximise


def bowl(bends):
    """A quadratic hill with its top at 1, 2, 3, ..."""
    top = np.arange(1.0, len(bends) + 1)
    return lambda x: (-float(bends @ (x - top) ** 2) / 2, -bends * (x - top))


def valley(x):
    """Rosenbrock's, turned over: curved, and steep on its sides."""
    value = -(100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2)
    slope = [400 * x[0] * (x[1] - x[0] ** 2) + 2 * (1 - x[0]), -200 * (x[1] - x[0] ** 2)]
    return float(value), np.array(slope)


@pytest.fixture
def patient(monkeypatch):
    monkeypatch.setattr(module, "TOLERANCE", 0.0)
    monkeypatch.setattr(module, "ROUNDS_MAX", 1000)


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("bends", [[1.0], [1.0, 100.0], 10.0 ** np.arange(-2, 4)])
def test_a_hill_is_climbed_to_its_top(bends):
    found = maximise(bowl(np.asarray(bends)), np.zeros(len(bends)))
    assert found.converged
    assert found.place == pytest.approx(np.arange(1, len(bends) + 1), abs=1e-4)


@pytest.mark.usefixtures("patient")
def test_a_curved_valley_is_followed_as_others_do():
    found = maximise(valley, np.array([-1.2, 1.0]))
    other = minimize(lambda x: -valley(x)[0], [-1.2, 1.0], jac=lambda x: -valley(x)[1])
    assert found.place == pytest.approx([1, 1], abs=1e-5)
    assert found.place == pytest.approx(other.x, abs=1e-4)


def test_every_round_gains():
    history = maximise(valley, np.array([-1.2, 1.0])).history
    assert history[0] == valley(np.array([-1.2, 1.0]))[0]
    assert (np.diff(history) > 0).all()


def test_whoever_starts_on_the_top_stays():
    found = maximise(bowl(np.ones(3)), np.array([1.0, 2.0, 3.0]))
    assert (found.history, found.converged) == ((0.0,), True)


def test_a_climb_that_ran_out_of_rounds_says_so(monkeypatch):
    monkeypatch.setattr(module, "ROUNDS_MAX", 2)
    assert not maximise(valley, np.array([-1.2, 1.0])).converged
