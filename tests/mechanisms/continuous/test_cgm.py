"""CGM: its noise is the one of the specification, and covers any two clipped streams."""

import math

import numpy as np
import pytest
from refusals import refused
from worlds import scattered

from nomadp.drawing import Drawing
from nomadp.errors import BudgetError, DomainError
from nomadp.mechanisms import make_mechanism
from nomadp.mechanisms.continuous.cgm import correlated_noise, gaussian_multiplier
from nomadp.randomness import SeededRandom

MULTIPLIERS = {
    0.01: {1: 1.87788, 2: 1.11625, 4: 0.66904, 8: 0.40836, 10: 0.35010},
    0.1: {1: 1.08588, 2: 0.73196, 4: 0.48554, 8: 0.32146, 10: 0.28181},
}


def deviations(length, multiplier, step_bound=0.1):
    """Standard deviations of the noise at each step."""
    variance, all_of_them = 0.0, []
    kept, fresh = correlated_noise(length, multiplier, step_bound)
    for c, s in zip(kept, fresh, strict=True):
        variance = c**2 * variance + s**2
        all_of_them.append(math.sqrt(variance))
    return all_of_them


@pytest.mark.parametrize(
    ("delta", "epsilon"), [(delta, e) for delta, row in MULTIPLIERS.items() for e in row]
)
def test_the_analytic_gaussian_multipliers(delta, epsilon):
    assert gaussian_multiplier(epsilon, delta) == pytest.approx(
        MULTIPLIERS[delta][epsilon], abs=5e-6
    )


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 20.0])
@pytest.mark.parametrize("delta", [1e-9, 0.01, 0.5])
def test_the_multiplier_is_where_the_exact_condition_holds_with_equality(epsilon, delta):
    sigma = gaussian_multiplier(epsilon, delta)

    def cdf(x):
        return math.erfc(-x / math.sqrt(2)) / 2

    a, b = 1 / (2 * sigma), epsilon * sigma
    assert cdf(a - b) - math.exp(epsilon) * cdf(-a - b) == pytest.approx(delta, rel=1e-6)


def test_how_much_of_the_noise_is_carried_over():
    kept, _ = correlated_noise(5, gaussian_multiplier(4.0, 0.01), 0.1)
    assert kept == pytest.approx([0, 0.488, 0.640, 0.709, 0.746], abs=5e-4)


def test_the_noise_shrinks_along_the_trajectory():
    found = deviations(5, gaussian_multiplier(4.0, 0.01))
    assert found == pytest.approx([2.116, 1.652, 1.478, 1.391, 1.344], abs=5e-4)


@pytest.mark.parametrize("step_bound", [0.01, 0.1, 0.4])
def test_the_noise_covers_the_difference_of_any_two_clipped_streams(step_bound):
    rng = np.random.default_rng(0)
    length, multiplier = 6, 0.7
    kept, fresh = correlated_noise(length, multiplier, step_bound)
    largest = 0.0
    for _ in range(2000):
        # Two streams in [0, 1] with steps of at most the bound differ by such a walk.
        difference = np.empty((length, 2))
        difference[0] = rng.uniform(-1, 1, 2).round(rng.integers(0, 3))
        for t in range(1, length):
            step = rng.choice([-1, 1, rng.uniform(-1, 1)], 2) * 2 * step_bound
            difference[t] = np.clip(difference[t - 1] + step, -1, 1)
        carried = np.array(kept)[:, None] * np.vstack([np.zeros(2), difference[:-1]])
        whitened = (difference - carried) / fresh[:, None]
        largest = max(largest, float((whitened**2).sum()))
    assert largest <= 1 / multiplier**2 * (1 + 1e-12)
    assert largest >= 0.9 / (multiplier**2 * length)  # the first step alone may use its part


def test_the_drawn_noise_has_the_stated_law():
    mechanism = make_mechanism("cgm", scattered(5), 4, delta="0.01")
    points, runs = np.full((4, 2), 0.5), 4000
    drawing = Drawing(SeededRandom(1).stream(0))
    noise = np.array([mechanism.moved(points, drawing) - points for _ in range(runs)])
    kept, _ = correlated_noise(4, gaussian_multiplier(4.0, 0.01), 0.1)
    expected = np.array(deviations(4, gaussian_multiplier(4.0, 0.01)))
    # Five standard errors of a mean, of a variance, and of a regression on normal samples.
    assert (abs(noise.mean(axis=0)) <= 5 * expected[:, None] / math.sqrt(runs)).all()
    variance = noise.var(axis=0) / expected[:, None] ** 2
    assert (abs(variance - 1) <= 5 * math.sqrt(2 / runs)).all()
    for t in range(1, 4):
        for axis in (0, 1):
            last, here = noise[:, t - 1, axis], noise[:, t, axis]
            slope = last @ here / (last @ last)
            error = math.sqrt(expected[t] ** 2 - (kept[t] * expected[t - 1]) ** 2)
            error /= expected[t - 1] * math.sqrt(runs)
            assert abs(slope - kept[t]) <= 5 * error
    assert abs(np.corrcoef(noise[:, 3, 0], noise[:, 3, 1])[0, 1]) <= 5 / math.sqrt(runs)


def test_steps_are_clipped_relative_to_the_clipped_predecessor():
    mechanism = make_mechanism("cgm", scattered(5), 4)
    points = np.array([[0.0, 0.5], [0.3, 0.5], [0.32, 0.45], [0.0, 1.0]])
    seen = [
        mechanism.moved(path, Drawing(SeededRandom(1).stream(0)))
        for path in (points, np.zeros((4, 2)))
    ]
    assert (seen[0] - seen[1]) == pytest.approx(
        np.array([[0.0, 0.5], [0.1, 0.5], [0.2, 0.45], [0.1, 0.55]])
    )


@pytest.mark.parametrize("delta", [0, 1, "1.5", -0.1, "little", float("nan"), None])
def test_refuses_a_delta_out_of_range(delta):
    with refused(BudgetError, "delta_out_of_range"):
        make_mechanism("cgm", scattered(5), 1, delta=delta)


@pytest.mark.parametrize("step_bound", [0.0, 0.5, -1.0, float("nan")])
def test_refuses_a_step_bound_out_of_range(step_bound):
    with refused(DomainError, "parameter_out_of_range", parameter="step_bound"):
        make_mechanism("cgm", scattered(5), 1, step_bound=step_bound)


def test_the_options_are_plain_values():
    params = make_mechanism("cgm", scattered(5), 1, delta=0.01).get_params()
    assert params == {"epsilon": "1", "delta": "1/100", "step_bound": 0.1}


def test_the_whole_stream_is_one_release():
    (step,) = make_mechanism("cgm", scattered(5), 3).split(7).steps
    assert (step.count, step.share) == (1, 3)
