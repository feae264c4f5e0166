"""Weights of their own for all possible truths, where there are reports enough to tell.

Scores of cells and steps cannot say that people go from here to there. So every truth gets a
weight; the fitted prior only speaks for some more reports that would be as it foretells (a
Dirichlet law). The fewer it speaks for, the sharper: of what reports tell apart, with enough of
them, nothing is left of it; of what they do not, all. The likeliest weights are found by
expectation-maximisation, which has one highest point here and goes up in every round.
"""

from collections.abc import Sequence

import numpy as np

from nomadp.inference.estimate import Floats
from nomadp.inference.evidence import Evidence

__all__ = ["pools", "sharpened"]

ROUNDS_MAX = 300
TOLERANCE = 1e-6
"""Rounds end when one gains less than this log-likelihood per report."""
_TINY = np.finfo(float).tiny  # a weight that ran out is not the logarithm of nothing


def pools(evidence: Sequence[Evidence]) -> list[list[int]]:
    """Which groups have the same possible truths, and so one weight for each."""
    found: list[list[int]] = []
    for k, each in enumerate(evidence):
        for pool in found:
            if np.array_equal(evidence[pool[0]].support, each.support):
                pool.append(k)
                break
        else:
            found.append([k])
    return found


def sharpened(
    evidence: Sequence[Evidence],
    counts: Sequence[Floats],
    base: Floats,
    worth: float,
    start: Floats | None = None,
) -> Floats:
    """The likeliest weights of the truths of a pool, where a base is worth so many reports."""
    reports = sum(float(count.sum()) for count in counts)
    weights, before = base if start is None else start, -np.inf
    for _ in range(ROUNDS_MAX):
        chances = [each.chances(weights) for each in evidence]
        value = worth * float(base @ np.log(np.maximum(weights, _TINY)))
        value += sum(
            float(c @ np.log(chance)) for c, chance in zip(counts, chances, strict=True)
        )
        if value - before <= TOLERANCE * reports:
            break
        before, summed = value, np.zeros(len(base))
        for each, count, chance in zip(evidence, counts, chances, strict=True):
            summed += each.summed(count / chance)
        weights = (weights * summed + worth * base) / (reports + worth)
    return weights
