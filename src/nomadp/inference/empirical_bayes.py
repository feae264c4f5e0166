"""Empirical Bayes: fit the prior of trajectories to all reports, with the exact law.

The prior has one hyperparameter, the standard deviation of popularity effects. Two-fold
cross-validation selects it, from no effects to large ones: a larger value is used only if the
fit to each half of the reports has a significantly higher held-out log-likelihood on the other
half. So people who visit all places equally, and reports that are too noisy, lead to a prior
with equally popular places.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np

from nomadp.errors import DomainError, InvalidArgument
from nomadp.inference.estimate import Floats
from nomadp.inference.movement import log_bayes_factor_of_steps
from nomadp.inference.penalised_likelihood import (
    Fit,
    Group,
    fit_scores,
    log_marginals,
    uniform_fit,
    with_features,
)
from nomadp.inference.prior import Features, Prior
from nomadp.locations import LocationSet

__all__ = ["Group", "Fitter", "Progress", "fit_prior_to_groups"]

EFFECT_STDS = (0.0, 0.05, 0.1, 0.2)
"""Standard deviations of the popularity effect of a cell on each level, tried in turn."""
STD_ERRORS_MIN = 2.0
"""The gain in held-out log-likelihood that is significant, in standard errors."""
LOG_BAYES_FACTOR_MIN = 3.0
"""Step lengths are fitted if the Bayes factor for them is at least e^3 = 20: strong evidence
(Kass and Raftery 1995)."""
REPORTS_MIN = 30
"""With fewer reports, the normal approximation of the gain is not reliable."""
_SPLIT_SEED = 0  # of the two halves, which are the same in every run

Progress = Callable[[int], None]
"""Called with the number of pieces of work that were finished since the last call."""
_Halves = tuple[list[Floats], list[Floats]]
_Pair = tuple[Fit, Fit]


def fit_prior_to_groups(
    locations: LocationSet,
    groups: Sequence[Group],
    effect_std: float | None = None,
    progress: Progress | None = None,
) -> Prior:
    """Fit a prior to groups of reports, possibly of several mechanisms and epsilons.

    Cross-validation selects the standard deviation of popularity effects, unless
    ``effect_std`` is given. Raises `DomainError` if there are no reports.
    """
    return Fitter(locations, groups, effect_std, progress).fit()


class Fitter:
    """Fits priors to the same distinct reports, with the original or with resampled counts."""

    def __init__(
        self,
        locations: LocationSet,
        groups: Sequence[Group],
        effect_std: float | None = None,
        progress: Progress | None = None,
    ) -> None:
        if not sum(group.total for group in groups):
            raise DomainError(
                "there must be at least one report to fit a prior to, got none",
                code="no_reports",
            )
        if effect_std is not None and not 0 <= effect_std < np.inf:
            raise InvalidArgument(
                f"effect_std must be a finite number from 0, got {effect_std}",
                code="spread_out_of_range",
                effect_std=effect_std,
            )
        self._features = Features(locations)
        self._progress = progress or (lambda pieces: None)
        self._rows = [with_features(self._features, group.evidence) for group in groups]
        self._counts = [group.counts for group in groups]
        self.effect_std: float | None = effect_std
        self._fit = (
            self._selected()
            if effect_std is None
            else self._fit_counts(self._counts, effect_std)
        )

    def fit(self, groups: Sequence[Group] | None = None) -> Prior:
        """The prior for the original counts, or for other counts of the same reports.

        Resampled counts are fitted with the selected ``effect_std``.
        """
        fit = self._fit
        if groups is not None and self.effect_std is not None:
            fit = self._fit_counts([group.counts for group in groups], self.effect_std, fit)
        return self._prior(fit, fit.scores)

    @cached_property
    def points_independent(self) -> bool:
        """Whether the Bayes factor gives no strong evidence for step lengths.

        The baseline is then uniform and independent points. What reports do not determine is
        not taken from public random walks, which people may not resemble.
        """
        with_steps = [row.evidence.support.shape[1] > 1 for row in self._rows]
        if not any(with_steps):
            return False
        return log_bayes_factor_of_steps(self._rows, self._counts) < LOG_BAYES_FACTOR_MIN

    def baseline_prior(self) -> Prior:
        """The prior with equally popular places, and with the fitted step lengths, if any."""
        fit = uniform_fit(self._rows, self._counts) if self.points_independent else self._fit
        return self._prior(self._fit, fit.baseline)

    def _selected(self) -> Fit:
        """The fit with the best held-out log-likelihood; also sets ``effect_std``."""
        # Step 1: the public model, random walks between equally popular places.
        halves = _halves(self._counts)
        walk = Fit(*np.zeros((2, len(self._features))))
        if sum(float(count.sum()) for count in self._counts) < REPORTS_MIN:
            return walk
        # Step 2: independent uniform points, the other model that reports do not influence.
        best, log_likelihoods = walk, self._held_out_log_likelihoods((walk, walk))
        independent = uniform_fit(self._rows, self._counts)
        candidate = self._held_out_log_likelihoods((independent, independent))
        if _is_better(candidate, log_likelihoods, halves):
            best, log_likelihoods = independent, candidate
        # Step 3: fitted models, from small to large effects; each fit starts from the previous
        # one. Once a positive effect size was accepted, the first one that is no improvement
        # ends the search.
        fits: _Pair | None = None
        for effect_std in EFFECT_STDS:
            fits = self._fit_halves(halves, effect_std, fits)
            candidate = self._held_out_log_likelihoods(fits)
            if _is_better(candidate, log_likelihoods, halves):
                self.effect_std, log_likelihoods = effect_std, candidate
            elif self.effect_std:
                break
        if self.effect_std is None:
            return best
        return self._fit_counts(self._counts, self.effect_std)

    def _fit_halves(self, halves: _Halves, effect_std: float, starts: _Pair | None) -> _Pair:
        with ThreadPoolExecutor(2) as threads:
            futures = [
                threads.submit(self._fit_counts, half, effect_std, start)
                for half, start in zip(halves, starts or (None, None), strict=True)
            ]
            first, second = (future.result() for future in futures)
        return first, second

    def _fit_counts(
        self, counts: list[Floats], effect_std: float, start: Fit | None = None
    ) -> Fit:
        fit = fit_scores(self._rows, counts, effect_std, start)
        self._progress(1)
        return fit

    def _held_out_log_likelihoods(self, fits: _Pair) -> Floats:
        """Log marginal probabilities of all reports under each of two fits, concatenated."""
        return np.concatenate(
            [values for fit in fits for values in log_marginals(self._rows, fit.scores)]
        )

    def _prior(self, fit: Fit, scores: Floats) -> Prior:
        centred = self._features.centred(scores)
        return Prior(self._features, centred, fit.history, fit.converged, self.effect_std)


def _halves(counts: list[Floats]) -> _Halves:
    """A random partition of the reports into two halves."""
    # Each report goes to either half with probability 1/2, as if they were single reports.
    rng = np.random.default_rng(_SPLIT_SEED)
    first = [rng.binomial(count.astype(np.int64), 0.5).astype(np.float64) for count in counts]
    return first, [count - half for count, half in zip(counts, first, strict=True)]


def _is_better(candidate: Floats, current: Floats, halves: _Halves) -> bool:
    """Whether the candidate has a significantly higher held-out log-likelihood.

    Each half is evaluated under the fit to the other: a paired z-test over all reports.
    """
    counts = np.concatenate([*halves[1], *halves[0]])
    gains = candidate - current
    mean = counts @ gains / counts.sum()
    # Reports are independent, so the variance of the sum is the sum of squared deviations.
    std_error = np.sqrt(counts @ (gains - mean) ** 2)
    return bool(counts @ gains > STD_ERRORS_MIN * std_error)
