"""The likeliest scores: the slope is that of the likelihood, and the ground is even."""

from fractions import Fraction

import numpy as np
import pytest
from worlds import scattered

from nomadp.inference import maximise
from nomadp.inference import penalised_likelihood as module
from nomadp.inference.codebook_decoder import possible_trajectories
from nomadp.inference.empirical_bayes import Fitter, Group
from nomadp.inference.evidence import TableEvidence, TrajectoryEvidence
from nomadp.inference.penalised_likelihood import fit_scores, uniform_fit, with_features
from nomadp.inference.prior import Features, softmax
from nomadp.mechanisms import make_mechanism
from nomadp.mechanisms.atlas import Codebook
from nomadp.mechanisms.atlas.codebook import CodewordResponse

LOCATIONS = scattered(40)
EVEN = 1e-2
"""How far, as a part of it, a share of visits may be from even."""


def journey_group(length, seed=0, epsilon=4, size=256):
    """Reports in numbers that follow no law at all."""
    rows = np.random.default_rng(length).integers(0, 40, (size, length), dtype=np.int32)
    channel = CodewordResponse(Codebook(LOCATIONS, rows), 20, Fraction(epsilon))
    reports = np.arange(0, size, 3)
    counts = np.random.default_rng(seed).integers(1, 9, len(reports)).astype(float)
    return Group(TrajectoryEvidence(channel, possible_trajectories(channel), reports), counts)


def point_group(seed=0):
    channel = make_mechanism("exp", LOCATIONS, 6).channel(Fraction(6))
    counts = np.random.default_rng(seed).integers(1, 9, 40).astype(float)
    return Group(TableEvidence(channel, np.arange(40)), counts)


@pytest.fixture(params=["points", "journeys", "both"])
def groups(request):
    return {
        "points": [point_group()],
        "journeys": [journey_group(2), journey_group(3, seed=1)],
        "both": [point_group(), journey_group(3)],
    }[request.param]


@pytest.fixture
def rows(groups):
    return [with_features(Features(LOCATIONS), group.evidence) for group in groups]


@pytest.fixture
def counts(groups):
    return [group.counts for group in groups]


def log_marginals(rows, scores):
    """The log-probability of every distinct report, group by group."""
    return [np.log(row.evidence.marginals(softmax(row.matrix @ scores))) for row in rows]


def visits(group, scores):
    """The expected number of visits of one journey to each location."""
    support = group.evidence.support
    weights = softmax(Features(LOCATIONS).table(support) @ scores)
    return sum(np.bincount(column, weights, 40) for column in support.T)


def test_the_slope_is_the_derivative_of_the_likelihood(rows, counts):
    rng = np.random.default_rng(3)
    scores = rng.normal(0, 0.5, len(rows[0].is_step))
    _, slope = module._log_likelihood(rows, counts, scores)
    for _ in range(10):
        way = rng.normal(size=len(scores))
        above, below = (
            module._log_likelihood(rows, counts, scores + sign * 1e-5 * way)[0]
            for sign in (1, -1)
        )
        assert slope @ way == pytest.approx((above - below) / 2e-5, rel=1e-5, abs=1e-4)


def test_the_likelihood_is_that_of_every_report(rows, counts):
    scores = np.random.default_rng(4).normal(0, 0.5, len(rows[0].is_step))
    value, _ = module._log_likelihood(rows, counts, scores)
    chances = log_marginals(rows, scores)
    assert value == pytest.approx(sum(map(np.dot, counts, chances)), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("effect_std", [0.05, 0.2, 3.0])
def test_every_round_raises_the_penalised_likelihood(rows, counts, effect_std):
    history = fit_scores(rows, counts, effect_std).history
    assert len(history) > 2
    assert (np.diff(history) >= 0).all()


@pytest.mark.parametrize("effect_std", [0.05, 0.2, 3.0])
def test_the_value_shown_is_the_likelihood_less_the_penalty(effect_std):
    group = point_group()  # no steps: the ground is 0, and a second pass finds the same
    rows = [with_features(Features(LOCATIONS), group.evidence)]
    found = fit_scores(rows, [group.counts], effect_std)
    assert not found.baseline.any()
    (chances,) = log_marginals(rows, found.scores)
    value = group.counts @ chances - found.scores @ found.scores / (2 * effect_std**2)
    assert found.history[-1] == pytest.approx(value / group.total, abs=1e-6)


@pytest.mark.parametrize("effect_std", [0.05, 0.2])
def test_no_other_scores_are_likelier_around_the_ground(rows, counts, effect_std, monkeypatch):
    monkeypatch.setattr(maximise, "TOLERANCE", 0.0)
    is_step = rows[0].is_step
    start = uniform_fit(rows, counts, steps=False)
    middle = np.where(is_step, 0.0, start.baseline)
    effect_stds = np.where(is_step, module.STEP_EFFECT_STD, effect_std)
    found, _, converged = module._posterior_mode(
        rows, counts, (middle, effect_stds), np.zeros(len(is_step))
    )
    _, slope = module._log_likelihood(rows, counts, found)
    assert converged
    assert slope == pytest.approx((found - middle) / effect_stds**2, abs=1e-2)


def test_without_a_spread_places_stay_alike_and_only_steps_are_learned(rows, counts):
    found = fit_scores(rows, counts, 0.0)
    is_step = rows[0].is_step
    assert (found.scores == found.baseline).all()
    longest = max(row.evidence.support.shape[1] for row in rows)
    assert found.scores[is_step].any() == (longest > 1)


@pytest.mark.parametrize("effect_std", [0.0, 0.2])
def test_the_ground_makes_every_location_visited_as_often(groups, effect_std):
    scores = Fitter(LOCATIONS, groups, effect_std).baseline_prior().scores
    each = [group.total * visits(group, scores) for group in groups]
    even = sum(each) / sum(map(np.sum, each))
    assert even == pytest.approx(np.full(40, 1 / 40), rel=EVEN)


def test_the_public_walk_is_not_even_by_itself():
    group = journey_group(3)  # of two points every journey there is would be possible
    walked = visits(group, np.zeros(len(Features(LOCATIONS)))) / 3
    assert np.abs(walked * 40 - 1).max() > 10 * EVEN


def test_people_at_random_take_the_steps_of_random_locations():
    group = journey_group(2)
    row = with_features(Features(LOCATIONS), group.evidence)
    found = uniform_fit([row], [group.counts]).scores
    expected = row.transposed @ softmax(row.matrix @ found)
    had = row.transposed @ np.ones(len(group.evidence.support))
    possible = (had > 0) & row.is_step  # steps that the walk takes at all
    assert expected[possible] == pytest.approx(row.uniform_counts[possible], abs=0.01)
    kept = uniform_fit([row], [group.counts], steps=False).scores
    assert not kept[row.is_step].any()
    assert visits(group, kept) == pytest.approx(np.full(40, 2 / 40), rel=EVEN)


def test_a_wider_spread_moves_places_further(rows, counts):
    moved = [
        np.linalg.norm((fit.scores - fit.baseline)[~rows[0].is_step])
        for fit in (fit_scores(rows, counts, effect_std) for effect_std in (0.0, 0.05, 0.2))
    ]
    assert 0.0 == moved[0] < moved[1] < moved[2]


def test_a_fit_may_start_from_another():
    group = point_group()
    rows = [with_features(Features(LOCATIONS), group.evidence)]
    fresh = fit_scores(rows, [group.counts], 0.2)
    again = fit_scores(rows, [group.counts], 0.2, fresh)
    assert len(again.history) < len(fresh.history)
    assert again.scores == pytest.approx(fresh.scores, abs=1e-2)
