"""Penalised maximum likelihood of a log-linear model of trajectories.

The log-odds of a trajectory are a sum of scores of the cells it visits and of its step lengths
(`prior.py`). Without reports all places are equally popular. Public random walks, like all
walks in a bounded region, prefer its middle; *baseline* scores compensate for that. Effects,
the differences from the baseline, have a normal prior with a given standard deviation, the same
for cells of every level. So a few reports move whole districts, and only many reports move a
single place: this is hierarchical shrinkage again. Step lengths have few scores and a wide
prior.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from nomadp.inference.estimate import Floats
from nomadp.inference.evidence import Evidence
from nomadp.inference.maximise import maximise
from nomadp.inference.prior import Features, softmax

__all__ = [
    "Fit",
    "Group",
    "Rows",
    "fit_scores",
    "log_marginals",
    "uniform_fit",
    "with_features",
]

STEP_EFFECT_STD = 1.0
"""The prior standard deviation of the log-odds of a step length: weakly informative."""
PASSES = 2
"""Alternations between the effects and the baseline, which depend on each other."""
_RIDGE = 1e-4  # keeps scores at 0 on which no trajectory depends

Counts = Sequence[Floats]


@dataclass(frozen=True, eq=False)
class Group:
    """Reports that share a law: their likelihood, and the count of each distinct report."""

    evidence: Evidence
    counts: Floats

    @cached_property
    def total(self) -> float:
        return float(self.counts.sum())


class Rows(NamedTuple):
    """The evidence of a group, with the features of every possible truth."""

    evidence: Evidence
    matrix: Any
    transposed: Any
    uniform_counts: Floats
    """The expected features of a trajectory whose points are uniform and independent."""
    is_step: Any
    """Which features are step lengths."""


class Fit(NamedTuple):
    """Fitted scores, and their baseline: the same step lengths, equally popular places."""

    scores: Floats
    baseline: Floats
    history: tuple[float, ...] = ()
    """The penalised log-likelihood per report, at the start and after each iteration of the
    first pass; later passes only follow the baseline."""
    converged: bool = True


def with_features(features: Features, evidence: Evidence) -> Rows:
    matrix = features.table(evidence.support)
    uniform_counts = features.uniform_counts(evidence.support)
    is_step = np.arange(len(features)) >= features.first_step
    return Rows(evidence, matrix, matrix.T, uniform_counts, is_step)


def uniform_fit(rows: Sequence[Rows], counts: Counts, *, steps: bool = True) -> Fit:
    """The model of uniform and independent points, whatever was reported.

    Without ``steps``, the model of public random walks between equally popular places.
    """
    scores = _baseline_scores(
        rows, counts, np.zeros(len(rows[0].is_step)), ~rows[0].is_step | steps
    )
    return Fit(scores, scores)


def fit_scores(
    rows: Sequence[Rows], counts: Counts, effect_std: float, start: Fit | None = None
) -> Fit:
    """The posterior mode of the scores, for effects with this standard deviation."""
    is_step, history, converged = rows[0].is_step, None, True
    scores, baseline, *_ = start or uniform_fit(rows, counts, steps=False)
    # The score of a place is its baseline plus an effect with prior mean 0. The score of a step
    # length has itself the prior mean 0.
    effect_stds = np.where(is_step, STEP_EFFECT_STD, effect_std)
    for _ in range(PASSES):
        prior_mean = np.where(is_step, 0.0, baseline)
        start_effects = np.where(is_step, scores, scores - baseline)
        normal_prior = prior_mean, effect_stds
        mode, values, converged = _posterior_mode(rows, counts, normal_prior, start_effects)
        history = history or values
        # With other step lengths the walks prefer other places: fit the baseline again.
        effects = np.where(is_step, 0.0, mode - prior_mean)
        baseline = _baseline_scores(rows, counts, np.where(is_step, mode, baseline), ~is_step)
        scores = baseline + effects
    return Fit(scores, baseline, history or (), converged)


def log_marginals(rows: Sequence[Rows], scores: Floats) -> list[Floats]:
    """The log marginal probability of every distinct report, group by group."""
    return [np.log(row.evidence.marginals(softmax(row.matrix @ scores))) for row in rows]


def _baseline_scores(rows: Sequence[Rows], counts: Counts, start: Floats, free: Any) -> Floats:
    """The ``free`` scores under which trajectories have the features of uniform points.

    Maximum likelihood of an exponential family: it matches the expected features (maximum
    entropy). The log partition function is a sum over the possible truths.
    """
    weights = np.array([count.sum() for count in counts])
    weights /= weights.sum()

    # The log-likelihood per trajectory of an exponential family, eta . scores - log Z(scores),
    # where eta are the expected features. Its gradient is eta minus those of the model.
    def objective(scores: Floats) -> tuple[float, Floats]:
        penalised = np.where(free, scores, 0.0)
        total, gradient = -_RIDGE / 2 * float(penalised @ penalised), -_RIDGE * penalised
        for row, weight in zip(rows, weights, strict=True):
            log_odds = row.matrix @ scores
            top = log_odds.max()  # log-sum-exp without overflow
            log_partition = top + np.log(np.exp(log_odds - top).sum())
            total += weight * float(row.uniform_counts @ scores - log_partition)
            gradient += weight * (row.uniform_counts - row.transposed @ softmax(log_odds))
        return total, np.where(free, gradient, 0.0)

    return maximise(objective, start).place


def _posterior_mode(
    rows: Sequence[Rows], counts: Counts, prior: tuple[Floats, Floats], start: Floats
) -> tuple[Floats, tuple[float, ...], bool]:
    """The scores with the highest posterior density, under a normal prior (mean, std).

    Optimises in units of the prior standard deviation, which conditions the problem well.
    """
    mean, effect_stds = prior
    n_reports = sum(float(count.sum()) for count in counts)

    # Per report, so that the tolerances of `maximise` mean the same for any number of reports.
    def objective(units: Floats) -> tuple[float, Floats]:
        total, gradient = _log_likelihood(rows, counts, mean + effect_stds * units)
        total -= float(units @ units) / 2
        return total / n_reports, (effect_stds * gradient - units) / n_reports

    first = np.divide(start, effect_stds, out=np.zeros(len(start)), where=effect_stds > 0)
    units, history, converged = maximise(objective, first)
    return mean + effect_stds * units, history, converged


def _log_likelihood(
    rows: Sequence[Rows], counts: Counts, scores: Floats
) -> tuple[float, Floats]:
    """The log-likelihood of all reports, and its gradient.

    The gradient is the posterior minus the prior expectation of the features (Fisher's
    identity).
    """

    def of_group(row: Rows, count: Floats) -> tuple[float, Floats]:
        prior = softmax(row.matrix @ scores)
        marginal = row.evidence.marginals(prior)
        # E step: the expected number of reports from each truth.
        expected_counts = prior * row.evidence.weighted_likelihood(count / marginal)
        gradient: Floats = row.transposed @ (expected_counts - count.sum() * prior)
        return float(count @ np.log(marginal)), gradient

    parts = list(map(of_group, rows, counts))
    gradient: Floats = np.sum([part for _, part in parts], axis=0)
    return sum(value for value, _ in parts), gradient
