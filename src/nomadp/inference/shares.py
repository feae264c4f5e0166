"""Shares of visits or trips from reports of trajectories or points, with standard errors.

A share is a posterior expectation under a fitted prior (empirical Bayes), not a count of
reported points, which the noise spreads out. The bootstrap gives its sampling variance: the
prior is fitted again to resampled reports. Two steps remove what may be noise. If no fit
predicts held-out reports better than the public prior, the estimate is the uniform baseline
(`empirical_bayes.py`). Otherwise it is shrunk (James-Stein) towards the baseline prior, which
has the fitted step lengths but equally popular places; it is shrunk all the way unless the
signal exceeds the noise. This protects against noise, not against people who move unlike public
random walks.

A codebook has fewer codewords than there are possible truths, so reports cannot identify which
truth is behind a report, and cannot correct what a fitted prior claims about that. There the
baseline prior is sharpened by a few rounds of expectation maximisation (EM) instead. With many
reports, each round brings the estimate nearer to the truth in Kullback-Leibler divergence, if
the truth is among the possible ones (Csiszar and Tusnady 1984).
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.random import Generator

from nomadp.inference.empirical_bayes import Fitter, Group, Progress
from nomadp.inference.estimate import Floats, check_level
from nomadp.inference.evidence import TrajectoryEvidence
from nomadp.inference.prior import Prior
from nomadp.laws import Ints
from nomadp.locations import LocationSet

__all__ = [
    "Shares",
    "BootstrapFit",
    "Tally",
    "effective_prior",
    "estimated_shares",
    "fewest_codewords",
    "bootstrap_fit",
    "relative_variance",
]

REPEATS = 10
"""Bootstrap samples. A variance from ten has a relative error of about a half, which is enough
beside the other terms of the standard error."""
EM_ROUNDS = 3
"""Rounds of expectation maximisation before the last expectation step. Stopping early
regularises: more rounds fit the noise."""
_AT_ONCE = 1 << 22  # label shares of reports in memory at a time

Tally = Callable[[Ints], Any]
"""Maps trajectories (rows of locations) to a sparse table that counts the labels of each."""


@dataclass(frozen=True, eq=False)
class Shares:
    """Estimated shares that add up to 1, each with its standard error."""

    values: Floats
    std_error: Floats
    """Combines the bootstrap variance, the sampling variance of people, and the variance that
    reports cannot resolve. No public fact says how large the last one is, so a model does:
    shares of single locations vary like exponential variables (standard deviation = mean); the
    relative standard deviation of m locations together is m^(1/4) times smaller, half-way
    between equal and independent neighbours. The relative variance of a pair of zones is the
    sum of both zones', however many pairs of locations it contains."""
    baseline: Floats
    """The estimate without any reports."""
    shrinkage_weight: float
    """The weight of the fitted places against equally popular ones: 0 is none, 1 is all."""

    def interval(self, level: float = 0.9) -> tuple[Floats, Floats]:
        """The approximate interval that contains each true share with probability ``level``."""
        check_level(level)
        quantile = NormalDist().inv_cdf((1 + level) / 2) if level < 1 else np.inf
        half = np.where(self.std_error > 0, quantile, 0.0) * self.std_error
        return np.maximum(self.values - half, 0.0), np.minimum(self.values + half, 1.0)


@dataclass(frozen=True, eq=False)
class BootstrapFit:
    """A prior fitted to reports and to bootstrap samples of them; it serves all queries."""

    locations: LocationSet
    groups: tuple[Group, ...]
    prior: Prior
    baseline_prior: Prior
    """The fitted step lengths, but all places equally popular."""
    points_independent: bool
    """Whether the baseline ignores steps, because reports give no evidence for them: then every
    point is uniform and independent of the others."""
    resamples: tuple[tuple[tuple[Group, ...], Prior], ...]


def bootstrap_fit(
    locations: LocationSet,
    groups: Sequence[Group],
    rng: Generator,
    progress: Progress | None = None,
) -> BootstrapFit:
    """Fit a prior to the reports, and to `REPEATS` bootstrap samples of the same size."""
    fitter = Fitter(locations, groups, progress=progress)
    prior = fitter.fit()
    samples = [tuple(_resampled(group, rng) for group in groups) for _ in range(REPEATS)]
    priors = [prior] * REPEATS
    if any(_identifies_truths(group) for group in groups):  # the only ones that read the prior
        with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
            priors = list(threads.map(fitter.fit, samples))
    resamples = tuple(zip(samples, priors, strict=True))
    baseline_prior = fitter.baseline_prior()
    return BootstrapFit(
        locations, tuple(groups), prior, baseline_prior, fitter.points_independent, resamples
    )


def estimated_shares(
    bootstrap: BootstrapFit,
    tally: Tally,
    places: Ints,
    relative_variances: Floats | None = None,
) -> Shares:
    """Shares of the labels that ``tally`` counts, shrunk towards the baseline prior.

    ``places`` is the number of locations (or pairs of them) behind each label.
    ``relative_variances`` are the assumed variances of the true shares, relative to their
    squares; the default is `relative_variance` of the locations.
    """
    baseline = places / places.sum()
    tables = [tally(group.evidence.support).T.tocsr() for group in bootstrap.groups]
    # Posterior expectation of every label, from all reports and from each bootstrap sample.
    expected = _expected_counts(bootstrap.prior, bootstrap, bootstrap.groups, tables)
    posterior_shares = expected / expected.sum()
    resampled = [
        _expected_counts(prior, bootstrap, groups, tables)
        for groups, prior in bootstrap.resamples
    ]
    bootstrap_variance = np.var([counts / counts.sum() for counts in resampled], axis=0, ddof=1)
    # Shrink towards the shares that the baseline prior expects (James-Stein).
    center, shrinkage_weight = baseline, 0.0
    if bootstrap.prior.effect_std is not None:  # else held-out reports chose the public prior
        center = _prior_shares(bootstrap.baseline_prior, bootstrap.groups, tables)
        noise = float(bootstrap_variance.sum())
        shrinkage_weight = _james_stein_weight(posterior_shares - center, noise)
    effect = shrinkage_weight * (posterior_shares - center)
    # Possible truths are a random sample; the uniform baseline is known without sampling error.
    values = np.maximum(effect + (baseline if bootstrap.points_independent else center), 0.0)
    values /= values.sum()
    if relative_variances is None:
        relative_variances = relative_variance(places)
    unresolved = _unresolved_variance(values, relative_variances, bootstrap, tables)
    # Bootstrap variance + Poisson variance of who took part + what reports cannot resolve.
    variance = bootstrap_variance + values / expected.sum() + unresolved
    return Shares(values, np.sqrt(variance), baseline, shrinkage_weight)


def _expected_counts(
    prior: Prior, bootstrap: BootstrapFit, groups: Sequence[Group], tables: list[Any]
) -> Floats:
    """The expected number of occurrences of each label, given the reports."""
    total: Floats = np.zeros(tables[0].shape[0])
    for group, table in zip(groups, tables, strict=True):
        weights = effective_prior(prior, bootstrap.baseline_prior, group)
        total += table @ group.evidence.expected_counts(weights, group.counts)
    return total


def effective_prior(prior: Prior, baseline_prior: Prior, group: Group) -> Floats:
    """The prior over possible truths with which the reports of a group are decoded.

    The fitted prior where reports can correct it; elsewhere the baseline prior after a few EM
    rounds, as the module describes.
    """
    evidence = group.evidence
    if _identifies_truths(group):
        return prior.weights(evidence.support)
    weights = baseline_prior.weights(evidence.support)
    for _ in range(EM_ROUNDS):
        weights = evidence.expected_counts(weights, group.counts)  # E step
        weights = weights / weights.sum()  # M step of a multinomial
    return weights


def _identifies_truths(group: Group) -> bool:
    """Whether there are at least as many possible reports as possible truths."""
    return group.evidence.outputs >= len(group.evidence.support)


def fewest_codewords(bootstrap: BootstrapFit) -> int | None:
    """The size of the smallest codebook of these reports; None for reports of single points."""
    evidence = [group.evidence for group in bootstrap.groups]
    sizes = (item.outputs for item in evidence if isinstance(item, TrajectoryEvidence))
    return min(sizes, default=None)


def _prior_shares(prior: Prior, groups: Sequence[Group], tables: list[Any]) -> Floats:
    """The expected shares under a prior alone, with the lengths that were reported."""
    total: Floats = np.zeros(tables[0].shape[0])
    for group, table in zip(groups, tables, strict=True):
        total += group.total * (table @ prior.weights(group.evidence.support))
    shares: Floats = total / total.sum()
    return shares


def relative_variance(places: Ints) -> Floats:
    """The assumed variance of the true share of m locations, relative to its square."""
    return np.asarray(1 / np.sqrt(np.maximum(places, 1)))


def _unresolved_variance(
    values: Floats, relative_variances: Floats, bootstrap: BootstrapFit, tables: list[Any]
) -> Floats:
    """The variance that is left of the assumed differences, given the reports.

    If reports attribute a fraction r of a label's occurrences correctly, the share estimated
    from them alone has the variance of a count divided by r^2. Its precision and that of the
    assumed prior variance add up, as for two independent normal sources.
    """
    reports = sum(group.total for group in bootstrap.groups)
    elsewhere = np.maximum(1 - values, np.finfo(float).tiny)  # 1 - values may be 0
    # The posterior share of a label among its own reports, corrected for chance (like kappa).
    correct = (_posterior_concentration(bootstrap, tables) - values) / elsewhere
    correct = np.clip(correct, 0.0, 1.0)
    variance: Floats = values**2 / (1 / relative_variances + values * reports * correct**2)
    return variance


def _posterior_concentration(bootstrap: BootstrapFit, tables: list[Any]) -> Floats:
    """For each label, the mean posterior share in reports of people who truly have it.

    By Bayes' theorem this is E[s^2] / E[s] over all reports, where s is the posterior share.
    """
    mean: Floats = np.zeros(tables[0].shape[0])
    square: Floats = np.zeros(tables[0].shape[0])
    for group, table in zip(bootstrap.groups, tables, strict=True):
        prior = effective_prior(bootstrap.prior, bootstrap.baseline_prior, group)
        step = max(1, _AT_ONCE // table.shape[0])
        for start in range(0, len(group.counts), step):
            rows = slice(start, start + step)
            shares = group.evidence.label_shares(prior, table, rows)
            mean += group.counts[rows] @ shares
            square += group.counts[rows] @ shares**2
    return np.divide(square, mean, out=np.zeros(len(mean)), where=mean > 0)


def _resampled(group: Group, rng: Generator) -> Group:
    counts = rng.multinomial(int(group.total), group.counts / group.total)
    return Group(group.evidence, counts.astype(np.float64))


def _james_stein_weight(difference: Floats, variance: float) -> float:
    """The weight of an estimated effect, given the total variance of its noise.

    An effect d = s + noise reduces the error only if its signal |s|^2 exceeds the variance. The
    expectation of |d|^2 is their sum, so the weight is 0 until |d|^2 is twice the variance;
    beyond, it is that of James and Stein (1961), 1 - variance / |d|^2.
    """
    squared_norm = float(difference @ difference)
    return 1 - variance / squared_norm if squared_norm > 2 * variance else 0.0
