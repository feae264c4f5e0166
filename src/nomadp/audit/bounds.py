"""Exact binomial tests of counts, and the deviations that they could miss (Clopper-Pearson).

An event of probability p under the law occurs T times in N independent draws, T ~ Bin(N, p).
It is flagged if T > c, where c is the smallest count with P(T > c) <= alpha. If its real
probability is q, the flag is missed with P(Bin(N, q) <= c) = 1 - I_q(c + 1, N - c), I being the
regularised incomplete beta function. That falls with q, and is 1 - POWER at the one-sided upper
Clopper-Pearson limit q* = I^-1(POWER; c + 1, N - c): whatever is likelier than q* is flagged
with a probability of at least POWER. The lower side mirrors it: flagged if T < c, the limit is
I^-1(1 - POWER; c, N - c + 1).

The draws need not have the same probability. If draw i has the event with probability p_i and p
is their mean, the tails of T beyond its mean are at most the binomial ones (Hoeffding 1956,
theorem 4), so both the test and the limit err on the safe side.

Two families of events are tested, each with half of `ALPHA`: every output of every trajectory
(Bonferroni), and one pooled event, the most sensitive to a leak. ``pooled_event`` is a boolean
table (inputs, outputs) of the reports that count as this event.
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


def p_value(counts: Ints, law: Floats, pooled_event: Floats) -> float:
    """The p-value of all counts together, adjusted for the number of events."""
    draws = counts.sum(axis=1, keepdims=True)
    pooled_count = np.sum(counts * pooled_event.astype(np.int64))
    # The smallest of n p-values is at most a with probability n a or less, even if the events
    # depend on each other. The factor 2 splits the error between the two families.
    per_output = counts.size * float(_two_sided(counts, draws, law).min())
    pooled = _two_sided(
        np.asarray(pooled_count), np.asarray(counts.sum()), _pooled(law, pooled_event)
    )
    return min(1.0, 2 * per_output, 2 * float(pooled))


def _two_sided(count: Ints, draws: Ints, probability: Floats) -> Floats:
    """Twice the smaller binomial tail. Unlike chi-square, exact for small counts as well."""
    from scipy import stats  # an extra

    lower = stats.binom.cdf(count, draws, probability)
    upper = stats.binom.sf(count - 1, draws, probability)
    return np.asarray(2 * np.minimum(lower, upper))


def _pooled(law: Floats, pooled_event: Floats) -> Floats:
    """The mean probability of the event over all inputs, which are drawn equally often."""
    return np.asarray(np.clip(np.sum(law * pooled_event) / len(law), 0.0, 1.0))


def limits(probability: Floats, draws: int, alpha: float) -> tuple[Floats, Floats]:
    """The smallest and largest real probability that the test of an event could have missed."""
    from scipy import special, stats

    probability = np.asarray(probability)
    # Critical counts: the test flags every count above ``most`` and below ``least``. The lower
    # tail is the upper tail of the complementary event.
    most = np.where(probability > 0, stats.binom.isf(alpha, draws, probability), 0)
    least = np.where(
        probability < 1, draws - stats.binom.isf(alpha, draws, 1 - probability), draws
    )
    with np.errstate(invalid="ignore"):
        high = special.betaincinv(most + 1, np.maximum(draws - most, 1), POWER)
        low = special.betaincinv(np.maximum(least, 1), draws - least + 1, 1 - POWER)
    # A side that no count can flag has the trivial limit.
    return np.where(least > 0, low, 0.0), np.where(most < draws, high, 1.0)


def leaked_share(law: Floats, pooled_event: Floats, draws: int) -> float:
    """The largest share of reports that leak their trajectory and could have been missed.

    If a share f of reports always is in ``pooled_event`` and the others follow the law, the
    event has probability p + f (1 - p). It is flagged from q* on, so f* = (q* - p) / (1 - p).
    """
    probability = _pooled(law, pooled_event)
    # `p_value` halves the error twice: for the two families, and for the two sides.
    _, high = limits(probability, draws * len(law), ALPHA / 4)
    return float((high - probability) / (1 - probability)) if probability < 1 else 1.0


def loss_missed(law: Floats, draws: int) -> float:
    """The largest loss that could have been missed.

    The real probability of every output is within its limits, or it is flagged. So the ratio of
    two of them is at most that of the largest upper and the smallest lower limit.
    """
    low, high = limits(law, draws, ALPHA / (4 * law.size))
    with np.errstate(divide="ignore"):
        return float((np.log(high.max(axis=0)) - np.log(low.min(axis=0))).max())


def differing_share(compared: int) -> float:
    """The largest share of differing reports that could have been missed among equal ones.

    If each report differs with probability f, all are equal with (1 - f)^compared = 1 - POWER.
    """
    return float(1 - (1 - POWER) ** (1 / compared))


def loss_of_leak(law: Floats, share: float) -> float:
    """The loss if a share f of every input's reports is always one output of its own.

    The other reports follow the law. The probability of that output is (1 - f) p + f under its
    own input, and (1 - f) p' under any other, whose leaked reports are elsewhere.
    """
    largest, smallest = law.max(axis=0), law.min(axis=0)
    with np.errstate(divide="ignore"):
        loss = np.log((1 - share) * largest + share) - np.log((1 - share) * smallest)
    return float(loss.max())
