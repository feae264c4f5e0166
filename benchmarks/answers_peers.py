"""Simulated support counts of labels for several frequency oracles.

Estimators only need the counts, so only the counts are drawn, from their exact distributions.
For OUE and for hashing with uniform functions, the counts of different labels are independent
binomials. For GRR they are multinomial. For subset selection each count is the same binomial;
the fixed size of its reports correlates two labels by -1/(d - 1), which is neglected.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.random import Generator

from nomadp.laws import law_of_labels

__all__ = ["LAWS", "SupportCounts", "grr", "olh", "oue", "projected", "subset"]

Floats = Any
Ints = Any


@dataclass(frozen=True, eq=False)
class SupportCounts:
    """How many of ``total`` reports support each label, and the probabilities of support."""

    support: Ints
    total: int
    true_chance: float
    other_chance: float

    @property
    def unbiased(self) -> Floats:
        """Unbiased estimates of the shares, which may be negative."""
        gain = self.true_chance - self.other_chance
        return (self.support / self.total - self.other_chance) / gain


def projected(shares: Floats) -> Floats:
    """The Euclidean projection onto the probability simplex."""
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(shares) + 1)
    return np.maximum(shares - excess[np.flatnonzero(falling > excess)[-1]], 0.0)


def oue(people: Ints, epsilon: float, rng: Generator) -> SupportCounts:
    """Optimised unary encoding (Wang, Blocki, Li and Jha 2017): a bit for every label."""
    return _independent(people, 0.5, 1 / (math.exp(epsilon) + 1), rng)


def olh(people: Ints, epsilon: float, rng: Generator) -> SupportCounts:
    """Optimised local hashing (the same paper): GRR of a hash with about e^eps + 1 values."""
    values = round(math.exp(epsilon)) + 1
    truth = math.exp(epsilon) / (math.exp(epsilon) + values - 1)
    return _independent(people, truth, 1 / values, rng)


def subset(people: Ints, epsilon: float, rng: Generator) -> SupportCounts:
    """Subset selection, with the law of our frequency oracles."""
    law = law_of_labels(len(people), Fraction(epsilon))
    return _independent(people, float(law.true_chance), float(law.other_chance), rng)


def grr(people: Ints, epsilon: float, rng: Generator) -> SupportCounts:
    """Generalised randomised response: the truth, or any other label."""
    count, total = len(people), int(people.sum())
    truth = math.exp(epsilon) / (math.exp(epsilon) + count - 1)
    other = (1 - truth) / (count - 1)
    # An equivalent law: with probability truth - other a report is the true label, otherwise
    # it is uniform over all labels, including the true one.
    true = rng.binomial(people, truth - other)
    support = true + rng.multinomial(total - true.sum(), np.full(count, 1 / count))
    return SupportCounts(support, total, truth, other)


LAWS = {"subset": subset, "oue": oue, "olh": olh, "grr": grr}


def _independent(people: Ints, truth: float, other: float, rng: Generator) -> SupportCounts:
    total = int(people.sum())
    support = rng.binomial(people, truth) + rng.binomial(total - people, other)
    return SupportCounts(support, total, truth, other)
