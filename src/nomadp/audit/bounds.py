"""Exact tests of counts, and what they cannot see: binomial tails and Clopper-Pearson limits.

An event of probability p under the law occurs T times in N independent draws, T ~ Bin(N, p).
It is flagged if T > c, where c is the smallest count with P(T > c) <= alpha. If it really has
probability q, the flag is missed with P(Bin(N, q) <= c) = 1 - I_q(c + 1, N - c), I being the
regularised incomplete beta function. That falls with q, and is 1 - POWER at the one-sided upper
Clopper-Pearson limit q* = I^-1(POWER; c + 1, N - c): whatever is likelier than q* is found with
a probability of POWER at least. The lower side mirrors it: flagged if T < c, the limit is
I^-1(1 - POWER; c, N - c + 1).

The draws need not be alike. If draw i has the event with probability p_i and p is their mean,
the tails of T beyond its mean are at most the binomial ones (Hoeffding 1956, theorem 4), so
that both the test and the limit err to the safe side.
"""

import numpy as np

from nomadp.audit.sampler import ALPHA, POWER
from nomadp.geometry import Floats
from nomadp.laws import Ints

__all__ = [
    "differing_share",
    "leaked_share",
    "limits",
    "loss_missed",
    "loss_of_leak",
    "p_value",
]


def p_value(counts: Ints, law: Floats, telling: Floats) -> float:
    """How likely counts at least as far off are, of all events together (Bonferroni).

    Half of the error is for each output of each trajectory, half for the ``telling`` reports.
    """
    draws = counts.sum(axis=1, keepdims=True)
    pooled = np.sum(counts * telling.astype(np.int64))
    each = counts.size * float(_two_sided(counts, draws, law).min())
    truths = _two_sided(np.asarray(pooled), np.asarray(counts.sum()), _pooled(law, telling))
    return min(1.0, 2 * each, 2 * float(truths))


def _two_sided(count: Ints, draws: Ints, chance: Floats) -> Floats:
    from scipy import stats  # an extra

    low, high = stats.binom.cdf(count, draws, chance), stats.binom.sf(count - 1, draws, chance)
    return np.asarray(2 * np.minimum(low, high))


def _pooled(law: Floats, telling: Floats) -> Floats:
    return np.asarray(np.clip(np.sum(law * telling) / len(law), 0.0, 1.0))


def limits(chance: Floats, draws: int, alpha: float) -> tuple[Floats, Floats]:
    """The least and the greatest probability that the test of an event could have missed."""
    from scipy import special, stats

    chance = np.asarray(chance)
    most = np.where(chance > 0, stats.binom.isf(alpha, draws, chance), 0)
    least = np.where(chance < 1, draws - stats.binom.isf(alpha, draws, 1 - chance), draws)
    with np.errstate(invalid="ignore"):
        high = special.betaincinv(most + 1, np.maximum(draws - most, 1), POWER)
        low = special.betaincinv(np.maximum(least, 1), draws - least + 1, 1 - POWER)
    return np.where(least > 0, low, 0.0), np.where(most < draws, high, 1.0)


def leaked_share(law: Floats, telling: Floats, draws: int) -> float:
    """The largest share of reports that tell their trajectory and could have been missed.

    A share f of reports that are always ``telling``, while the others follow the law, gives the
    event the probability p + f (1 - p); it is found from q* on, so f* = (q* - p) / (1 - p).
    """
    chance = _pooled(law, telling)
    _, high = limits(chance, draws * len(law), ALPHA / 4)
    return float((high - chance) / (1 - chance)) if chance < 1 else 1.0


def loss_missed(law: Floats, draws: int) -> float:
    """The largest loss of a path none of whose probabilities is beyond what is found.

    A path that loses more has an output beyond its limits for one of two trajectories.
    """
    low, high = limits(law, draws, ALPHA / (4 * law.size))
    with np.errstate(divide="ignore"):
        return float((np.log(high.max(axis=0)) - np.log(low.min(axis=0))).max())


def differing_share(compared: int) -> float:
    """The same for reports that were compared and all equal: (1 - f)^compared = 1 - POWER."""
    return float(1 - (1 - POWER) ** (1 / compared))


def loss_of_leak(law: Floats, share: float) -> float:
    """What reports lose if so many of one trajectory always are one output, its own.

    All others follow the law.
    """
    likely, unlikely = law.max(axis=0), law.min(axis=0)
    with np.errstate(divide="ignore"):
        lost = np.log((1 - share) * likely + share) - np.log((1 - share) * unlikely)
    return float(lost.max())
