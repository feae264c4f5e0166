"""Where people go, learned from their reports with the exact law.

How far to go is not guessed but tried, from knowing nothing over places that differ to journeys
that do: one half of the reports foretells the other, and a bolder claim is made only if it
foretells better, beyond chance. So a crowd that goes everywhere alike, or reports too noisy to
say, leave all places as popular as each other, and the more reports, the less is assumed.
"""

from collections.abc import Callable, Sequence

import numpy as np

from nomadp.inference.estimate import Floats
from nomadp.inference.fitting import Fit, Group, at_random, fitted, prepared
from nomadp.inference.prior import Features, Prior
from nomadp.inference.sharpening import Pool, pools
from nomadp.laws import Ints
from nomadp.locations import LocationSet

__all__ = ["Group", "Learner", "Progress", "learn"]

SPREADS = (0.0, 0.05, 0.1)
"""Standard deviations of the log-appeal of a cell, on each level, that are tried in turn. Wider
ones foretell reports better and people worse: they tell apart places that no report does."""
WORTHS = tuple(4.0**-k for k in range(-1, 11))
"""What the fitted prior is worth in reports, as a part of those there are, tried in turn."""
SURE = 2.0
"""A bolder claim must foretell better by so many standard deviations."""
FEWEST = 30
"""Of fewer reports nobody can say what is beyond chance."""
_SPLIT_SEED = 0  # which reports foretell which; a coin for each, the same in every run

Progress = Callable[[int], None]
"""Told of every piece of learning that is done."""
_Halves = tuple[list[Floats], list[Floats]]
_Pair = tuple[Fit, Fit]
_Sharp = tuple[tuple[Ints, Floats], ...]


def learn(
    locations: LocationSet,
    groups: Sequence[Group],
    spread: float | None = None,
    progress: Progress | None = None,
) -> Prior:
    """The prior under which the reports are likeliest, held back where they say little.

    How far places may differ is found out, unless a ``spread`` of their log-appeal is given.
    """
    return Learner(locations, groups, spread, progress).learn()


class Learner:
    """Learns from the same distinct reports, however often each came in."""

    def __init__(
        self,
        locations: LocationSet,
        groups: Sequence[Group],
        spread: float | None = None,
        progress: Progress | None = None,
    ) -> None:
        if not sum(group.total for group in groups):
            raise ValueError("there must be at least one report to learn from, got none")
        if spread is not None and not 0 <= spread < np.inf:
            raise ValueError(f"a spread must be a number from 0, got {spread}")
        self._features = Features(locations)
        self._told = progress or (lambda pieces: None)
        self._rows = [prepared(self._features, group.evidence) for group in groups]
        self._counts = [group.counts for group in groups]
        self._pools = pools(self._rows)
        self._worths: list[float] = [np.inf] * len(self._pools)
        self.spread: float | None = spread
        self._fit = self._chosen() if spread is None else self._fitted(self._counts, spread)
        self._sharp = self._sharpened(self._fit, self._counts)

    def learn(self, groups: Sequence[Group] | None = None) -> Prior:
        """From the counts of the groups themselves, or from others of the same reports."""
        fit, sharp = self._fit, self._sharp
        if groups is not None and self.spread is not None:
            counts = [group.counts for group in groups]
            fit = self._fitted(counts, self.spread, fit)
            sharp = self._sharpened(fit, counts, self._sharp)
        return self._prior(fit, fit.scores, sharp)

    def alike(self) -> Prior:
        """The same with all places as popular as each other: only steps are learned."""
        return self._prior(self._fit, self._fit.ground)

    def _chosen(self) -> Fit:
        """What foretells best; also sets the spread that it takes, and what it is worth."""
        halves = _halves(self._counts)
        walk = Fit(*np.zeros((2, len(self._features))))
        if sum(float(count.sum()) for count in self._counts) < FEWEST:
            return walk
        counts = np.concatenate([_crossed(pool, halves) for pool in self._pools])
        told = self._foretold(walk)
        anywhere = self._foretold(at_random(self._rows, self._counts))
        if _better(anywhere, told, counts):
            told = anywhere
        starts: _Pair | None = None
        for spread in SPREADS:
            starts = self._by_halves(halves, spread, starts)
            tried = [self._sharpest(pool, halves, starts) for pool in self._pools]
            if _better(found := np.concatenate([each for _, each in tried]), told, counts):
                self.spread, self._worths, told = spread, [worth for worth, _ in tried], found
            elif spread > 0:
                break
        return walk if self.spread is None else self._fitted(self._counts, self.spread)

    def _sharpest(self, pool: Pool, halves: _Halves, fits: _Pair) -> tuple[float, Floats]:
        """The fewest reports that fits are worth and foretell better by, and how they do."""
        counts, reports = _crossed(pool, halves), sum(map(np.sum, pool.of(self._counts)))
        bases = weights = [pool.base(fit.scores) for fit in fits]
        worth, told = np.inf, np.concatenate(list(map(pool.log_chances, bases)))
        for part in WORTHS if reports >= FEWEST else ():
            weights = [
                pool.sharpened(half, base, part * reports, start)
                for half, base, start in zip(halves, bases, weights, strict=True)
            ]
            self._told(1)
            found = np.concatenate(list(map(pool.log_chances, weights)))
            if not _better(found, told, counts):
                break
            worth, told = part * reports, found
        return worth, told

    def _sharpened(self, fit: Fit, counts: list[Floats], starts: _Sharp = ()) -> _Sharp:
        """The weights of the truths of every pool that has its own."""
        chosen = [
            (pool, worth)
            for pool, worth in zip(self._pools, self._worths, strict=True)
            if worth < np.inf
        ]
        found = []
        for k, (pool, worth) in enumerate(chosen):
            start = starts[k][1] if starts else None
            weights = pool.sharpened(counts, pool.base(fit.scores), worth, start)
            found.append((pool.rows[0].evidence.support, weights))
        return tuple(found)

    def _by_halves(self, halves: _Halves, spread: float, starts: _Pair | None) -> _Pair:
        one, other = starts or (None, None)
        return self._fitted(halves[0], spread, one), self._fitted(halves[1], spread, other)

    def _fitted(self, counts: list[Floats], spread: float, start: Fit | None = None) -> Fit:
        fit = fitted(self._rows, counts, spread, start)
        self._told(1)
        return fit

    def _foretold(self, fit: Fit) -> Floats:
        """Log-chances of all reports, pool by pool and twice: for one half and the other."""
        told = (pool.log_chances(pool.base(fit.scores)) for pool in self._pools)
        return np.concatenate([np.tile(each, 2) for each in told])

    def _prior(self, fit: Fit, scores: Floats, sharp: _Sharp = ()) -> Prior:
        centred = self._features.centred(scores)
        return Prior(self._features, centred, fit.history, fit.settled, self.spread, sharp)


def _halves(counts: list[Floats]) -> _Halves:
    """Every report in one of two halves, by a coin."""
    rng = np.random.default_rng(_SPLIT_SEED)
    one = [rng.binomial(count.astype(np.int64), 0.5).astype(np.float64) for count in counts]
    return one, [count - some for count, some in zip(counts, one, strict=True)]


def _crossed(pool: Pool, halves: _Halves) -> Floats:
    """How often each report is foretold by the half it is not in: first by the first one."""
    return np.concatenate([*pool.of(halves[1]), *pool.of(halves[0])])


def _better(found: Floats, before: Floats, counts: Floats) -> bool:
    """Whether reports that came in so often are foretold better, beyond chance."""
    gains = found - before
    mean = counts @ gains / counts.sum()
    deviation = np.sqrt(counts @ (gains - mean) ** 2)
    return bool(counts @ gains > SURE * deviation)
