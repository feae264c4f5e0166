"""Weights of their own for all possible truths, where there are reports enough to tell.

Scores of cells and steps cannot say that people go from here to there. So every truth gets a
weight; the fitted prior only speaks for some more reports that would be as it foretells (a
Dirichlet law). The fewer it speaks for, the sharper: of what reports tell apart, with enough of
them, nothing is left of it; of what they do not, all. The likeliest weights are found by
expectation-maximisation, which has one highest point here and goes up in every round.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nomadp.inference.estimate import Floats
from nomadp.inference.fitting import Rows
from nomadp.inference.prior import softmax

__all__ = ["Pool", "pools"]

ROUNDS_MAX = 300
TOLERANCE = 0.1
"""Rounds end when one gains less than this log-likelihood of all reports: no test sees it."""
_TINY = np.finfo(float).tiny  # a weight that ran out is not the logarithm of nothing

Counts = Sequence[Floats]


@dataclass(frozen=True, eq=False)
class Pool:
    """Groups with the same possible truths, and so with one weight for each of them."""

    members: tuple[int, ...]
    """Which groups, of all there are."""
    rows: tuple[Rows, ...]

    def of(self, counts: Counts) -> list[Floats]:
        """The counts of the members."""
        return [counts[k] for k in self.members]

    def base(self, scores: Floats) -> Floats:
        """The weights by scores alone."""
        return softmax(self.rows[0].matrix @ scores)

    def log_chances(self, weights: Floats) -> Floats:
        """Of every distinct report, member by member."""
        return np.log(np.concatenate([row.evidence.chances(weights) for row in self.rows]))

    def sharpened(
        self, counts: Counts, base: Floats, worth: float, start: Floats | None = None
    ) -> Floats:
        """The likeliest weights, where a base is worth so many reports; all counts are given.

        They are looked for from a ``start``, by default the base.
        """
        some = np.concatenate(self.of(counts))
        ends = np.cumsum([len(counts[k]) for k in self.members])[:-1]
        weights, before = base if start is None else start, -np.inf
        for _ in range(ROUNDS_MAX):
            log_chances = self.log_chances(weights)
            value = some @ log_chances + worth * (base @ np.log(np.maximum(weights, _TINY)))
            if value - before < TOLERANCE:
                break
            rates = np.split(some / np.exp(log_chances), ends)
            summed = sum(
                r.evidence.summed(rate) for r, rate in zip(self.rows, rates, strict=True)
            )
            weights, before = (weights * summed + worth * base) / (some.sum() + worth), value
        return weights


def pools(rows: Sequence[Rows]) -> list[Pool]:
    """The groups by what may be true."""
    found: list[list[int]] = []
    for k, row in enumerate(rows):
        for members in found:
            if np.array_equal(rows[members[0]].evidence.support, row.evidence.support):
                members.append(k)
                break
        else:
            found.append([k])
    return [Pool(tuple(some), tuple(rows[k] for k in some)) for some in found]
