"""Whether reports demand steps: people who are on walks, against people who may be anywhere.

A book of K journeys tells K - 1 numbers, how often each is reported. Places that differ explain
a few numbers as well as steps do, so no fit decides between the two, however many people
report. Bayes does: how likely would these numbers be of people who take steps, and how likely
of people who may be anywhere at any time, if the appeal of places is anybody's guess? Near its
mean each is a normal law of K - 1 dimensions, by the slope of the chances of reports.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nomadp.inference.estimate import Floats
from nomadp.inference.penalised_likelihood import STEP_EFFECT_STD, Counts, Rows, uniform_fit
from nomadp.inference.prior import softmax

__all__ = ["log_bayes_factor_of_steps"]

PLACES = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8)
"""How far places may differ, as deviations of the log-appeal of a cell: each crowd has that
which suits it best."""
NUMBERS_MAX = 512
"""Of more kinds of reports so many sums are looked at, each of random signs."""
_SEED = 0


class _Seen(NamedTuple):
    """How often reports of a group came in, as a few numbers: a sum over reports for each."""

    row: Rows
    sums: Floats
    often: Floats
    total: float


class _Law(NamedTuple):
    """The numbers as a crowd makes them: expected, their noise, and how they move."""

    mean: Floats
    noise: Floats
    by_places: Floats
    by_steps: Floats


def log_bayes_factor_of_steps(rows: Sequence[Rows], counts: Counts) -> float:
    """How much likelier these reports are of people who take steps, as a logarithm."""
    seen = [_seen(*each, len(rows)) for each in zip(rows, counts, strict=True) if each[1].any()]
    often = np.concatenate([each.often for each in seen])
    walking = _law(seen, uniform_fit(rows, counts, steps=False).scores)
    uniform_counts = _law(seen, uniform_fit(rows, counts).scores)
    uniform_counts = uniform_counts._replace(by_steps=np.zeros_like(uniform_counts.by_steps))
    return _log_evidence(walking, often) - _log_evidence(uniform_counts, often)


def _seen(row: Rows, counts: Floats, groups: int) -> _Seen:
    kinds, most = len(counts), max(1, NUMBERS_MAX // groups)
    if kinds > most:
        signs = np.random.default_rng(_SEED).integers(0, 2, (most, kinds))
        sums = (2.0 * signs - 1.0) / np.sqrt(kinds)
    else:  # if every kind came in, the others tell how often the last one did
        sums = np.eye(kinds)[: kinds - (kinds == row.evidence.outputs)]
    total = float(counts.sum())
    return _Seen(row, sums, sums @ counts / total, total)


def _law(seen: Sequence[_Seen], scores: Floats) -> _Law:
    means, slopes, blocks = [], [], []
    for row, sums, _, total in seen:
        prior = softmax(row.matrix @ scores)
        chance, had = row.evidence.marginals(prior), row.transposed @ prior
        mean = sums @ chance
        joint = [
            row.transposed @ (prior * row.evidence.weighted_likelihood(one)) for one in sums
        ]
        slopes += [each - one * had for each, one in zip(joint, mean, strict=True)]
        blocks.append(((sums * chance) @ sums.T - np.outer(mean, mean)) / total)
        means.append(mean)
    noise, size = np.zeros((sum(map(len, means)),) * 2), 0
    for block in blocks:
        own = slice(size, size := size + len(block))
        noise[own, own] = block
    slope, is_step = np.array(slopes).reshape(size, len(scores)), seen[0].row.is_step
    places, steps = slope[:, ~is_step], STEP_EFFECT_STD * slope[:, is_step]
    return _Law(np.concatenate(means), noise, places @ places.T, steps @ steps.T)


def _log_evidence(law: _Law, often: Floats) -> float:
    """Of the numbers, by the normal law of the spread of places that suits them best."""
    away, found = often - law.mean, []
    for effect_std in PLACES:
        root = np.linalg.cholesky(law.noise + law.by_steps + effect_std**2 * law.by_places)
        units = np.linalg.solve(root, away)
        found.append(-float(units @ units) / 2 - float(np.log(np.diag(root)).sum()))
    return max(found)
