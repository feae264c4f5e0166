"""Where people go, learned from their reports with the exact law.

How far to go is not guessed but tried, from knowing nothing to places that differ widely: one
half of the reports foretells the other, and a bolder claim is made only if it foretells better,
beyond chance. So a crowd that goes everywhere alike, or reports too noisy to say, leave all
places as popular as each other.
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
    fitted,
    log_chances,
    prepared,
    uniform_fit,
)
from nomadp.inference.prior import Features, Prior
from nomadp.locations import LocationSet

__all__ = ["Group", "Fitter", "Progress", "fit_prior_to_groups"]

EFFECT_STDS = (0.0, 0.05, 0.1, 0.2)
"""Standard deviations of the log-appeal of a cell, on each level, that are tried in turn."""
SURE = 2.0
"""A bolder claim must foretell better by so many standard deviations."""
DEMANDED = 3.0
"""Steps are believed if reports are so much likelier for them, as a logarithm: twenty times."""
FEWEST = 30
"""Of fewer reports nobody can say what is beyond chance."""
_SPLIT_SEED = 0  # which reports foretell which; a coin for each, the same in every run

Progress = Callable[[int], None]
"""Told of every piece of learning that is done."""
_Halves = tuple[list[Floats], list[Floats]]
_Pair = tuple[Fit, Fit]


def fit_prior_to_groups(
    locations: LocationSet,
    groups: Sequence[Group],
    effect_std: float | None = None,
    progress: Progress | None = None,
) -> Prior:
    """The prior under which the reports are likeliest, held back where they say little.

    How far places may differ is found out, unless ``effect_std`` is given.
    """
    return Fitter(locations, groups, effect_std, progress).fit()


class Fitter:
    """Learns from the same distinct reports, however often each came in."""

    def __init__(
        self,
        locations: LocationSet,
        groups: Sequence[Group],
        effect_std: float | None = None,
        progress: Progress | None = None,
    ) -> None:
        if not sum(group.total for group in groups):
            raise DomainError(
                "there must be at least one report to learn from, got none", code="no_reports"
            )
        if effect_std is not None and not 0 <= effect_std < np.inf:
            raise InvalidArgument(
                f"a spread must be a number from 0, got {effect_std}",
                code="spread_out_of_range",
                effect_std=effect_std,
            )
        self._features = Features(locations)
        self._told = progress or (lambda pieces: None)
        self._rows = [prepared(self._features, group.evidence) for group in groups]
        self._counts = [group.counts for group in groups]
        self.effect_std: float | None = effect_std
        self._fit = (
            self._chosen() if effect_std is None else self._fitted(self._counts, effect_std)
        )

    def fit(self, groups: Sequence[Group] | None = None) -> Prior:
        """From the counts of the groups themselves, or from others of the same reports."""
        fit = self._fit
        if groups is not None and self.effect_std is not None:
            fit = self._fitted([group.counts for group in groups], self.effect_std, fit)
        return self._prior(fit, fit.scores)

    @cached_property
    def points_independent(self) -> bool:
        """Whether reports do not demand steps: then people are taken to be anywhere.

        What no report tells is not taken from the public walk, which they may not be on.
        """
        moving = [row.evidence.support.shape[1] > 1 for row in self._rows]
        if not any(moving):
            return False
        return log_bayes_factor_of_steps(self._rows, self._counts) < DEMANDED

    def baseline_prior(self) -> Prior:
        """The same with all places as popular as each other: only steps are learned, if any."""
        apart = uniform_fit(self._rows, self._counts) if self.points_independent else self._fit
        return self._prior(self._fit, apart.ground)

    def _chosen(self) -> Fit:
        """What foretells best; also sets the spread that it takes."""
        halves = _halves(self._counts)
        walk = Fit(*np.zeros((2, len(self._features))))
        if sum(float(count.sum()) for count in self._counts) < FEWEST:
            return walk
        best, told = walk, self._foretold((walk, walk))
        points_independent = uniform_fit(self._rows, self._counts)
        if _better(
            found := self._foretold((points_independent, points_independent)), told, halves
        ):
            best, told = points_independent, found
        starts: _Pair | None = None
        for effect_std in EFFECT_STDS:
            starts = self._by_halves(halves, effect_std, starts)
            if _better(found := self._foretold(starts), told, halves):
                self.effect_std, told = effect_std, found
            elif self.effect_std:
                break
        return best if self.effect_std is None else self._fitted(self._counts, self.effect_std)

    def _by_halves(self, halves: _Halves, effect_std: float, starts: _Pair | None) -> _Pair:
        with ThreadPoolExecutor(2) as threads:
            work = [
                threads.submit(self._fitted, half, effect_std, start)
                for half, start in zip(halves, starts or (None, None), strict=True)
            ]
            one, other = (each.result() for each in work)
        return one, other

    def _fitted(self, counts: list[Floats], effect_std: float, start: Fit | None = None) -> Fit:
        fit = fitted(self._rows, counts, effect_std, start)
        self._told(1)
        return fit

    def _foretold(self, fits: _Pair) -> Floats:
        """Log-chances of all reports by each of two fits, one after the other."""
        return np.concatenate(
            [chances for fit in fits for chances in log_chances(self._rows, fit.scores)]
        )

    def _prior(self, fit: Fit, scores: Floats) -> Prior:
        centred = self._features.centred(scores)
        return Prior(self._features, centred, fit.history, fit.converged, self.effect_std)


def _halves(counts: list[Floats]) -> _Halves:
    """Every report in one of two halves, by a coin."""
    rng = np.random.default_rng(_SPLIT_SEED)
    one = [rng.binomial(count.astype(np.int64), 0.5).astype(np.float64) for count in counts]
    return one, [count - some for count, some in zip(counts, one, strict=True)]


def _better(found: Floats, before: Floats, halves: _Halves) -> bool:
    """Whether each half is foretold better than before by the other, beyond chance."""
    counts = np.concatenate([*halves[1], *halves[0]])
    gains = found - before
    mean = counts @ gains / counts.sum()
    deviation = np.sqrt(counts @ (gains - mean) ** 2)
    return bool(counts @ gains > SURE * deviation)
