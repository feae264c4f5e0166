"""Scores of places and steps by penalised likelihood: likeliest, held back by a prior.

Nobody heard, all places are as popular. The public walk, like every walk in a bounded place,
prefers the middle, so a *ground* of scores evens it out. Differences from the ground have a
normal prior of a given spread, the same for a cell of every level: a few reports move whole
districts, and only many move a single place. Lengths of steps are a handful of scores and
nearly free.
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

__all__ = ["Fit", "Group", "Rows", "uniform_fit", "fitted", "log_chances", "prepared"]

STEP_EFFECT_STD = 1.0
"""Standard deviation of the log-odds of a length of steps."""
PASSES = 2
"""The ground depends on the steps, and the other way round: found by turns."""
_GROUND_RIDGE = 1e-4  # only so that scores nothing depends on stay at 0

Counts = Sequence[Floats]


@dataclass(frozen=True, eq=False)
class Group:
    """Reports with one law: what they say, and how often each distinct one came in."""

    evidence: Evidence
    counts: Floats

    @cached_property
    def total(self) -> float:
        return float(self.counts.sum())


class Rows(NamedTuple):
    """A group with the features of its support."""

    evidence: Evidence
    matrix: Any
    transposed: Any
    uniform_counts: Floats
    """Features of a journey whose every location is uniform."""
    is_step: Any
    """Which features are about steps."""


class Fit(NamedTuple):
    """What was found, and the ground it stands on: the same steps, all places alike."""

    scores: Floats
    ground: Floats
    history: tuple[float, ...] = ()
    """The penalised log-likelihood per report, before the first round and after each; of the
    first pass, for the others only follow the ground."""
    converged: bool = True


def prepared(features: Features, evidence: Evidence) -> Rows:
    matrix = features.table(evidence.support)
    uniform_counts = features.uniform_counts(evidence.support)
    is_step = np.arange(len(features)) >= features.first_step
    return Rows(evidence, matrix, matrix.T, uniform_counts, is_step)


def uniform_fit(rows: Sequence[Rows], counts: Counts, *, steps: bool = True) -> Fit:
    """Scores of people who may be anywhere at any time, whatever was reported.

    Without ``steps`` they take those of the public walk, to places that are all as popular.
    """
    scores = _evened(rows, counts, np.zeros(len(rows[0].is_step)), ~rows[0].is_step | steps)
    return Fit(scores, scores)


def fitted(
    rows: Sequence[Rows], counts: Counts, effect_std: float, start: Fit | None = None
) -> Fit:
    """The likeliest scores whose differences between places have this spread."""
    is_step, history, converged = rows[0].is_step, None, True
    scores, ground, *_ = start or uniform_fit(rows, counts, steps=False)
    effect_stds = np.where(is_step, STEP_EFFECT_STD, effect_std)
    for _ in range(PASSES):
        places = np.where(is_step, 0.0, ground)
        begin = np.where(is_step, scores, scores - ground)
        found, rounds, converged = _climbed(rows, counts, (places, effect_stds), begin)
        history = history or rounds
        above = np.where(is_step, 0.0, found - places)
        ground = _evened(rows, counts, np.where(is_step, found, ground), ~is_step)
        scores = ground + above
    return Fit(scores, ground, history or (), converged)


def log_chances(rows: Sequence[Rows], scores: Floats) -> list[Floats]:
    """The log-probability of every distinct report, group by group."""
    return [np.log(row.evidence.marginals(softmax(row.matrix @ scores))) for row in rows]


def _evened(rows: Sequence[Rows], counts: Counts, start: Floats, free: Any) -> Floats:
    """Scores with which journeys go anywhere alike; only the free ones may change."""
    weights = np.array([count.sum() for count in counts])
    weights /= weights.sum()

    def value(scores: Floats) -> tuple[float, Floats]:
        moved = np.where(free, scores, 0.0)
        total, slope = -_GROUND_RIDGE / 2 * float(moved @ moved), -_GROUND_RIDGE * moved
        for row, weight in zip(rows, weights, strict=True):
            log_odds = row.matrix @ scores
            top = log_odds.max()
            log_total = top + np.log(np.exp(log_odds - top).sum())
            total += weight * float(row.uniform_counts @ scores - log_total)
            slope += weight * (row.uniform_counts - row.transposed @ softmax(log_odds))
        return total, np.where(free, slope, 0.0)

    return maximise(value, start).place


def _climbed(
    rows: Sequence[Rows], counts: Counts, law: tuple[Floats, Floats], begin: Floats
) -> tuple[Floats, tuple[float, ...], bool]:
    """The likeliest scores around the middle of a normal law, from a difference to begin with.

    Works in units of the spread, so that all directions are as steep.
    """
    middle, effect_stds = law
    reports = sum(float(count.sum()) for count in counts)

    def value(units: Floats) -> tuple[float, Floats]:
        total, slope = _likelihood(rows, counts, middle + effect_stds * units)
        total -= float(units @ units) / 2
        return total / reports, (effect_stds * slope - units) / reports

    first = np.divide(begin, effect_stds, out=np.zeros(len(begin)), where=effect_stds > 0)
    units, history, converged = maximise(value, first)
    return middle + effect_stds * units, history, converged


def _likelihood(rows: Sequence[Rows], counts: Counts, scores: Floats) -> tuple[float, Floats]:
    """Of all reports, and its slope: features as reports tell of them, less as expected."""

    def of_group(row: Rows, count: Floats) -> tuple[float, Floats]:
        prior = softmax(row.matrix @ scores)
        chance = row.evidence.marginals(prior)
        explained = prior * row.evidence.weighted_likelihood(count / chance)
        slope: Floats = row.transposed @ (explained - count.sum() * prior)
        return float(count @ np.log(chance)), slope

    parts = list(map(of_group, rows, counts))
    slope: Floats = np.sum([part for _, part in parts], axis=0)
    return sum(value for value, _ in parts), slope
