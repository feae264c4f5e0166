"""Weights of their own for all possible truths, where there are reports enough to tell.

Scores of cells and steps cannot say that people go from here to there. So every truth gets a
weight; the fitted prior only speaks for some more reports that would be as it foretells (a
Dirichlet law). The fewer it speaks for, the sharper: of what reports tell apart, with enough of
them, nothing is left of it; of what they do not, all. There is one likeliest set of weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nomadp.inference.estimate import Floats
from nomadp.inference.fitting import Rows, highest
from nomadp.inference.prior import softmax

__all__ = ["Pool", "pools"]

TOLERANCE = 0.01
"""Rounds end when one gains less than this log-likelihood of all reports: no test sees it."""

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
        chances = [row.evidence.chances(weights) for row in self.rows]
        found: Floats = np.log(np.concatenate(chances))
        return found

    def sharpened(
        self, counts: Counts, base: Floats, worth: float, start: Floats | None = None
    ) -> Floats:
        """The likeliest weights, where a base is worth so many reports; all counts are given.

        They are looked for from a ``start``, by default the base.
        """
        some = self.of(counts)
        total = sum(float(count.sum()) for count in some) + worth

        def value(log_odds: Floats) -> tuple[float, Floats]:
            weights = softmax(log_odds)
            slope, likely = worth * base - total * weights, worth * float(base @ _log(weights))
            for row, count in zip(self.rows, some, strict=True):
                chances = row.evidence.chances(weights)
                likely += float(count @ np.log(chances))
                slope += weights * row.evidence.summed(count / chances)
            return likely / total, slope / total

        begin = _log(base if start is None else start)
        return softmax(highest(value, begin, TOLERANCE / total)[0])


def _log(weights: Floats) -> Floats:
    """A weight that ran out is not the logarithm of nothing."""
    return np.log(np.maximum(weights, np.finfo(float).tiny))


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
