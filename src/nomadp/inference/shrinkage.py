"""One level of hierarchical shrinkage: the split of a group's share among its parts.

The model is empirical Bayes. A split equals its public value, or is a Beta variable around it
with one of a few concentrations. The mixture weights are estimated from all splits of the level
by expectation maximisation (EM), with the weights of the level above as a Dirichlet prior. The
likelihood is normal with the known variance. With many reports the data decide a split; with
few it stays near its public value.
"""

from typing import NamedTuple

import numpy as np

from nomadp.inference.estimate import Floats

__all__ = ["ConcentrationWeights", "SplitPosterior", "initial_weights", "posterior"]

ConcentrationWeights = Floats
"""Mixture weights: of splits that equal their public value, then of each concentration."""

CONCENTRATIONS = 4.0 ** np.arange(4, -4, -1)
"""The Beta prior of a split p has the standard deviation sqrt(p (1 - p) / (1 + concentration)).
From 256 to 1/64: from splits like their public value to nearly all or nothing."""
_PUBLIC_WEIGHT = 0.5  # initial weight of the public value
_RATIO = 0.5  # initial weight of each concentration, relative to the one before
_PRIOR_SPLITS = 15.0  # pseudo-count of the level above in EM
_ROUNDS = 40
# Nodes of the integral over log-odds: around the public value, denser near it, and around the
# estimate, at multiples of its standard error.
_LOG_ODDS_GRID = 14 * np.sinh(np.linspace(-5, 5, 41)) / np.sinh(5)
_ERROR_GRID = np.linspace(-4, 4, 25)
_LEAST = 1e-9
_AT_ONCE = 4096  # splits in memory at a time


def initial_weights() -> ConcentrationWeights:
    """The weights above the coarsest level, before any data."""
    weight = _RATIO ** np.arange(len(CONCENTRATIONS))
    return np.concatenate([[_PUBLIC_WEIGHT], (1 - _PUBLIC_WEIGHT) * weight / weight.sum()])


class SplitPosterior(NamedTuple):
    """The posterior of the splits of one level."""

    expected: Floats
    weights: ConcentrationWeights
    log_ratio: Floats
    """The log Bayes factor of each split against its public value."""


def posterior(
    estimates: Floats, variance: Floats, public: Floats, prior_weights: ConcentrationWeights
) -> SplitPosterior:
    """The posterior means of splits with unbiased estimates, and the fitted mixture weights."""
    starts = range(0, len(estimates), _AT_ONCE)
    rows = [slice(start, start + _AT_ONCE) for start in starts]
    components = [_by_concentration(estimates[k], variance[k], public[k]) for k in rows]
    evidence = np.concatenate([likelihoods for likelihoods, _ in components])
    expected = np.concatenate([means for _, means in components])
    weights = prior_weights
    for _ in range(_ROUNDS):
        # E step: the posterior probability of each component, for every split.
        responsibility = (evidence * weights) / (evidence @ weights)[:, None]
        # M step, with the level above as a Dirichlet prior.
        weights = responsibility.sum(axis=0) + _PRIOR_SPLITS * prior_weights
        weights = weights / weights.sum()
    joint = evidence * weights
    marginal = joint.sum(axis=1)
    log_ratio = np.log(marginal / np.maximum(evidence[:, 0], np.finfo(float).tiny))
    return SplitPosterior((joint * expected).sum(axis=1) / marginal, weights, log_ratio)


def _by_concentration(
    estimates: Floats, variance: Floats, public: Floats
) -> tuple[Floats, Floats]:
    """The marginal likelihood and posterior mean under every component, (splits, components).

    The first component is the public value, the others are the concentrations. Likelihoods of
    one split share a factor. The integrals over the Beta prior use the trapezoidal rule.
    """
    from scipy.special import betaln, log_expit, logit  # slow to import

    near_estimate = np.clip(estimates, 0, 1)[:, None] + np.sqrt(variance)[:, None] * _ERROR_GRID
    odds = np.concatenate(
        [
            logit(public)[:, None] + _LOG_ODDS_GRID,
            logit(np.clip(near_estimate, _LEAST, 1 - _LEAST)),
        ],
        axis=1,
    )
    odds.sort(axis=1)
    width = np.gradient(odds, axis=1)  # weights of the trapezoidal rule
    log_share, log_rest = log_expit(odds), log_expit(-odds)
    share = np.exp(log_share)
    log_likelihood = -((estimates[:, None] - share) ** 2) / (2 * variance[:, None])
    log_public = -((estimates - public) ** 2) / (2 * variance)
    top = np.maximum(log_likelihood.max(axis=1), log_public)
    likelihood = np.exp(log_likelihood - top[:, None])
    shape = public[:, None] * log_share + (1 - public)[:, None] * log_rest
    evidence, expected = [np.exp(log_public - top)], [public]
    for concentration in CONCENTRATIONS:
        alpha, beta = concentration * public, concentration * (1 - public)
        scale = betaln(alpha, beta)
        # The Beta density in log-odds: share^alpha (1 - share)^beta / B(alpha, beta).
        mass = np.exp(concentration * shape - scale[:, None]) * width
        # The tails beyond the grid in closed form: small alphas have much mass near 0 and 1.
        mass[:, 0] += np.exp(alpha * log_share[:, 0] - scale) / alpha
        mass[:, -1] += np.exp(beta * log_rest[:, -1] - scale) / beta
        mass *= likelihood
        total = np.maximum(mass.sum(axis=1), np.finfo(float).tiny)
        evidence.append(total)
        expected.append((mass * share).sum(axis=1) / total)
    return np.stack(evidence, axis=1), np.stack(expected, axis=1)
