"""What share of people's visits or trips falls where, with its uncertainty.

Never counts of reported points, which noise spreads out: the posterior expectation under a
prior, by reports, learned again from resampled reports (the bootstrap) to see how far it can be
trusted. What cannot be told from chance is given up, twice: the estimate is flat if nothing
that was learned foretells reports (`learning.py`), and else drawn towards people of the same
steps for whom all places are alike, all the way unless reports changed it by more signal than
noise. That guards against noise, not against people who move unlike the public walk.

A book of journeys has fewer reports than there are possible truths, and leaves open which of
those behind a report it was. What a learned prior says of that no report can correct. So there
the prior is that places are alike, sharpened by a few rounds of expectation maximisation: with
many reports each round brings the estimate nearer to the truth (in Kullback-Leibler divergence:
Csiszar and Tusnady 1984), if the truth is among the possible ones.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.random import Generator

from nomadp.inference.estimate import Floats, check_level
from nomadp.inference.evidence import TrajectoryEvidence
from nomadp.inference.learning import Fitter, Group, Progress
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
    "zones_differ",
]

REPEATS = 10
"""How often the reports are resampled."""
SHARPENED = 3
"""Rounds of expectation maximisation before the one that counts; more follow noise."""
_AT_ONCE = 1 << 22  # shares of reports that are held at a time

Tally = Callable[[Ints], Any]
"""From journeys (rows of locations) to a sparse table of what each has, one row for each."""


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares that add up to 1, each with its standard deviation."""

    values: Floats
    std_error: Floats
    """From learning (resampled reports), from chance in what people did, and from what reports
    cannot resolve. Nothing public says how large that is, so it is assumed: single locations
    differ as exponential variables do, by as much as their mean, and m locations together by
    m^(1/4) times less, half-way between neighbours that are alike and that are independent; a
    pair of zones differs as both of them do, however many pairs of locations it holds."""
    baseline: Floats
    """What somebody without reports would say."""
    shrinkage_weight: float
    """How much was kept of what was learned about places: 0 is nothing, 1 all of it."""

    def interval(self, level: float = 0.9) -> tuple[Floats, Floats]:
        """From where to where each share may be, to hold the truth with this probability."""
        check_level(level)
        reach = NormalDist().inv_cdf((1 + level) / 2) if level < 1 else np.inf
        half = np.where(self.std_error > 0, reach, 0.0) * self.std_error
        return np.maximum(self.values - half, 0.0), np.minimum(self.values + half, 1.0)


@dataclass(frozen=True, eq=False)
class BootstrapFit:
    """What was learned from reports, and again from resampled ones: for all questions."""

    locations: LocationSet
    groups: tuple[Group, ...]
    prior: Prior
    baseline_prior: Prior
    """The same steps, but all places as popular as each other."""
    points_independent: bool
    """Whether, instead, people may be anywhere at any time."""
    resamples: tuple[tuple[tuple[Group, ...], Prior], ...]


def bootstrap_fit(
    locations: LocationSet,
    groups: Sequence[Group],
    rng: Generator,
    progress: Progress | None = None,
) -> BootstrapFit:
    """Learn from reports, and from `REPEATS` bootstrap samples: as many, drawn at random."""
    learner = Fitter(locations, groups, progress=progress)
    prior = learner.learn()
    some = [tuple(_resampled(group, rng) for group in groups) for _ in range(REPEATS)]
    priors = [prior] * REPEATS
    if any(_tells_all(group) for group in groups):  # else nobody reads what is learned
        with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
            priors = list(threads.map(learner.learn, some))
    resamples = tuple(zip(some, priors, strict=True))
    baseline_prior = learner.baseline_prior()
    return BootstrapFit(
        locations, tuple(groups), prior, baseline_prior, learner.points_independent, resamples
    )


def estimated_shares(
    learned: BootstrapFit, tally: Tally, places: Ints, differ: Floats | None = None
) -> Shares:
    """Shares of what ``tally`` counts, drawn towards what is said when places are alike.

    ``places`` tells how many locations (or pairs of them) each share stands for, ``differ`` the
    variance that is assumed of each, as a part of its square: by default that of locations.
    """
    baseline = places / places.sum()
    tables = [tally(group.evidence.support).T.tocsr() for group in learned.groups]
    counted = _counted(learned.prior, learned, learned.groups, tables)
    found = counted / counted.sum()
    resamples = [
        _counted(prior, learned, groups, tables) for groups, prior in learned.resamples
    ]
    learning = np.var([each / each.sum() for each in resamples], axis=0, ddof=1)
    baseline_prior, shrinkage_weight = baseline, 0.0
    if learned.prior.effect_std is not None:  # else reports told nothing, not even of steps
        baseline_prior = _expected(learned.baseline_prior, learned.groups, tables)
        shrinkage_weight = _kept(found - baseline_prior, float(learning.sum()))
    moved = shrinkage_weight * (found - baseline_prior)
    # Possible truths are a sample, but what it is to be anywhere is known without one.
    values = np.maximum(
        moved + (baseline if learned.points_independent else baseline_prior), 0.0
    )
    values /= values.sum()
    differ = zones_differ(places) if differ is None else differ
    open_left = _unresolved(values, differ, learned, tables)
    variance = learning + values / counted.sum() + open_left
    return Shares(values, np.sqrt(variance), baseline, shrinkage_weight)


def _counted(
    prior: Prior, learned: BootstrapFit, groups: Sequence[Group], tables: list[Any]
) -> Floats:
    """How much of each label there truly is, expectedly."""
    total: Floats = np.zeros(tables[0].shape[0])
    for group, table in zip(groups, tables, strict=True):
        weights = effective_prior(prior, learned.baseline_prior, group)
        total += table @ group.evidence.expected_counts(weights, group.counts)
    return total


def effective_prior(prior: Prior, baseline_prior: Prior, group: Group) -> Floats:
    """The prior of possible truths by which the reports of a group are read."""
    evidence = group.evidence
    if _tells_all(group):
        return prior.weights(evidence.support)
    weights = baseline_prior.weights(evidence.support)
    for _ in range(SHARPENED):
        weights = evidence.expected_counts(weights, group.counts)
        weights = weights / weights.sum()
    return weights


def _tells_all(group: Group) -> bool:
    """Whether there are reports enough to tell all possible truths apart."""
    return group.evidence.outputs >= len(group.evidence.support)


def fewest_codewords(learned: BootstrapFit) -> int | None:
    """In the smallest codebook that reports are of; None for reports of single points."""
    books = [group.evidence for group in learned.groups]
    return min((b.outputs for b in books if isinstance(b, TrajectoryEvidence)), default=None)


def _expected(prior: Prior, groups: Sequence[Group], tables: list[Any]) -> Floats:
    """The shares by a prior alone, in the lengths that occur."""
    total: Floats = np.zeros(tables[0].shape[0])
    for group, table in zip(groups, tables, strict=True):
        total += group.total * (table @ prior.weights(group.evidence.support))
    shares: Floats = total / total.sum()
    return shares


def zones_differ(places: Ints) -> Floats:
    """The variance of the share of so many locations together, as a part of its square."""
    return np.asarray(1 / np.sqrt(np.maximum(places, 1)))


def _unresolved(
    values: Floats, differ: Floats, learned: BootstrapFit, tables: list[Any]
) -> Floats:
    """The variance of what is assumed of differences, after what reports say about them.

    Alone, without any smoothing, a share that reports place rightly only in part would have
    the variance of a count over that part squared; the two combine as precisions do.
    """
    reports = sum(group.total for group in learned.groups)
    elsewhere = np.maximum(1 - values, np.finfo(float).tiny)  # 0 for a share of everything
    rightly = np.clip((_placed(learned, tables) - values) / elsewhere, 0.0, 1.0)
    found: Floats = values**2 / (1 / differ + values * reports * rightly**2)
    return found


def _placed(learned: BootstrapFit, tables: list[Any]) -> Floats:
    """Of people truly there, the part that their own reports place there, for each label.

    By Bayes: the mean square of the posterior shares of all reports, over their mean.
    """
    mean: Floats = np.zeros(tables[0].shape[0])
    square: Floats = np.zeros(tables[0].shape[0])
    for group, table in zip(learned.groups, tables, strict=True):
        prior = effective_prior(learned.prior, learned.baseline_prior, group)
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


def _kept(difference: Floats, variance: float) -> float:
    """How much to keep of what reports changed, given its noise.

    A change d = s + noise, whose signal s is the true one or a part of it, brings the
    estimate nearer to the truth if |s|^2 exceeds the variance. |d|^2 is expected to be the sum
    of the two, so nothing is kept until it is twice the variance; then James and Stein's part.
    """
    squared = float(difference @ difference)
    return 1 - variance / squared if squared > 2 * variance else 0.0
