"""How often each label is supported when many people answer one question, by several laws.

Only the counts matter to an estimator, so only they are drawn, from their exact laws. Of OUE
and of hashing by uniform functions the counts of different labels are independent binomials,
of GRR they are multinomials. Subset selection has the same binomials, label by label; that its
reports are all of one size ties the counts of two labels together by -1/(d - 1) of their
variance, which is left out.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.random import Generator

from nomadp.laws import law_of_labels

__all__ = ["LAWS", "Answered", "grr", "olh", "oue", "projected", "subset"]

Floats = Any
Ints = Any


@dataclass(frozen=True, eq=False)
class Answered:
    """In how many of ``total`` reports each label is supported, and by what chances."""

    support: Ints
    total: int
    true_chance: float
    other_chance: float

    @property
    def unbiased(self) -> Floats:
        """Shares that are right on average, and may be negative."""
        gain = self.true_chance - self.other_chance
        return (self.support / self.total - self.other_chance) / gain


def projected(shares: Floats) -> Floats:
    """The nearest shares that are not negative and add up to 1, by least squares."""
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(shares) + 1)
    return np.maximum(shares - excess[np.flatnonzero(falling > excess)[-1]], 0.0)


def oue(people: Ints, epsilon: float, rng: Generator) -> Answered:
    """Optimised unary encoding (Wang, Blocki, Li and Jha 2017): a bit for every label."""
    return _independent(people, 0.5, 1 / (math.exp(epsilon) + 1), rng)


def olh(people: Ints, epsilon: float, rng: Generator) -> Answered:
    """Optimised local hashing (the same paper): GRR of a hash with about e^eps + 1 values."""
    values = round(math.exp(epsilon)) + 1
    truth = math.exp(epsilon) / (math.exp(epsilon) + values - 1)
    return _independent(people, truth, 1 / values, rng)


def subset(people: Ints, epsilon: float, rng: Generator) -> Answered:
    """Subset selection, by the law of our own questions."""
    law = law_of_labels(len(people), Fraction(epsilon))
    return _independent(people, float(law.true_chance), float(law.other_chance), rng)


def grr(people: Ints, epsilon: float, rng: Generator) -> Answered:
    """Generalised randomised response: the truth, or any other label."""
    count, total = len(people), int(people.sum())
    truth = math.exp(epsilon) / (math.exp(epsilon) + count - 1)
    other = (1 - truth) / (count - 1)
    # The same law: some tell the truth, all others any label, be it the true one or not.
    true = rng.binomial(people, truth - other)
    support = true + rng.multinomial(total - true.sum(), np.full(count, 1 / count))
    return Answered(support, total, truth, other)


LAWS = {"subset": subset, "oue": oue, "olh": olh, "grr": grr}


def _independent(people: Ints, truth: float, other: float, rng: Generator) -> Answered:
    total = int(people.sum())
    support = rng.binomial(people, truth) + rng.binomial(total - people, other)
    return Answered(support, total, truth, other)
