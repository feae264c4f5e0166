"""The Bayes factor for the movement model: step lengths, against independent uniform points.

Reports from a codebook of K codewords contain K - 1 numbers, the frequency of each codeword.
Different popularities of places explain a few numbers as well as step lengths do, so no
maximum likelihood fit can decide between the two models, however many people report. The Bayes
factor can: it compares the marginal likelihoods of the two models, integrated over the unknown
popularities. Both are approximated by normal distributions of K - 1 dimensions, from the
linearised report probabilities at the mean of each model.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nomadp.inference.estimate import Floats
from nomadp.inference.penalised_likelihood import STEP_EFFECT_STD, Counts, Rows, uniform_fit
from nomadp.inference.prior import softmax

__all__ = ["log_bayes_factor_of_steps"]

EFFECT_STDS = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8)
"""Standard deviations of the popularity effects that are tried; each model uses the one with
its largest marginal likelihood (empirical Bayes)."""
NUMBERS_MAX = 512
"""With more distinct reports, frequencies are projected to this many sums with random signs."""
_SEED = 0


class _Frequencies(NamedTuple):
    """The report frequencies of one group, or their random projections."""

    row: Rows
    projection: Floats
    observed: Floats
    total: float


class _Moments(NamedTuple):
    """The normal approximation of the frequencies under one model."""

    mean: Floats
    noise: Floats
    """The sampling covariance."""
    place_covariance: Floats
    """The covariance from popularity effects of standard deviation 1."""
    step_covariance: Floats


def log_bayes_factor_of_steps(rows: Sequence[Rows], counts: Counts) -> float:
    """The log Bayes factor of the step model against independent uniform points."""
    groups = [
        _frequencies(row, count, len(rows))
        for row, count in zip(rows, counts, strict=True)
        if count.any()
    ]
    observed = np.concatenate([group.observed for group in groups])
    steps = _moments(groups, uniform_fit(rows, counts, steps=False).scores)
    independent = _moments(groups, uniform_fit(rows, counts).scores)
    # Independent points have no step effects to integrate over.
    independent = independent._replace(
        step_covariance=np.zeros_like(independent.step_covariance)
    )
    return _log_evidence(steps, observed) - _log_evidence(independent, observed)


def _frequencies(row: Rows, counts: Floats, groups: int) -> _Frequencies:
    distinct, most = len(counts), max(1, NUMBERS_MAX // groups)
    if distinct > most:
        signs = np.random.default_rng(_SEED).integers(0, 2, (most, distinct))
        projection = (2.0 * signs - 1.0) / np.sqrt(distinct)
    else:  # frequencies of all possible reports add up to 1: the last one is redundant
        projection = np.eye(distinct)[: distinct - (distinct == row.evidence.outputs)]
    total = float(counts.sum())
    return _Frequencies(row, projection, projection @ counts / total, total)


def _moments(groups: Sequence[_Frequencies], scores: Floats) -> _Moments:
    means, slopes, blocks = [], [], []
    for row, projection, _, total in groups:
        prior = softmax(row.matrix @ scores)
        marginal, features = row.evidence.marginals(prior), row.transposed @ prior
        mean = projection @ marginal
        # The derivative of each frequency by each score: a covariance under the softmax.
        joint = [
            row.transposed @ (prior * row.evidence.weighted_likelihood(weights))
            for weights in projection
        ]
        slopes += [both - one * features for both, one in zip(joint, mean, strict=True)]
        # The multinomial covariance of the projected frequencies.
        blocks.append(((projection * marginal) @ projection.T - np.outer(mean, mean)) / total)
        means.append(mean)
    noise, size = np.zeros((sum(map(len, means)),) * 2), 0
    for block in blocks:
        own = slice(size, size := size + len(block))
        noise[own, own] = block
    slope, is_step = np.array(slopes).reshape(size, len(scores)), groups[0].row.is_step
    places, steps = slope[:, ~is_step], STEP_EFFECT_STD * slope[:, is_step]
    return _Moments(np.concatenate(means), noise, places @ places.T, steps @ steps.T)


def _log_evidence(model: _Moments, observed: Floats) -> float:
    """The log marginal likelihood, at the effect size that maximises it."""
    residual, log_densities = observed - model.mean, []
    for effect_std in EFFECT_STDS:
        covariance = (
            model.noise + model.step_covariance + effect_std**2 * model.place_covariance
        )
        # Log density of a normal distribution, without the constant that both models share.
        root = np.linalg.cholesky(covariance)
        units = np.linalg.solve(root, residual)
        log_determinant = float(np.log(np.diag(root)).sum())
        log_densities.append(-float(units @ units) / 2 - log_determinant)
    return max(log_densities)
