"""Heavy hitters: labels far above their surroundings, which hierarchical shrinkage smooths.

A split gives the parts of a group what the group has, so one busy label in a quiet region is
shrunk too much. Therefore each label may exceed its split share by one of many amounts. The
mixture of amounts is estimated from all labels by expectation maximisation (nonparametric
empirical Bayes with sparse effects; Kiefer and Wolfowitz 1956,
doi:10.1214/aoms/1177728066). The likelihood is normal with the known variance.
"""

import math

import numpy as np

from nomadp.inference.estimate import Floats

__all__ = ["with_heavy_hitters"]

_FAR = 2.0
"""Candidates exceed their split share by at least this many standard errors. All other labels
count as having no effect, which keeps the table of likelihoods small."""
_AMOUNTS = 32  # effect sizes in the mixture, in geometric progression
_NULL_PSEUDO_COUNT = 5.0  # labels without an effect that EM adds to the observed ones
_EFFECTS_FIRST = 0.1  # initial weight of all effects together
_ROUNDS = 60


def with_heavy_hitters(
    split: Floats, unbiased: Floats, variance: tuple[Floats, Floats]
) -> Floats:
    """Split shares, with the effects of heavy hitters added where they are beyond chance.

    ``variance`` is that of ``unbiased`` at share 0, and its increase from share 0 to 1. Effects
    are shrunk by log(labels), the evidence that chance alone gives among so many labels.
    """
    variance_at_zero, variance_slope = variance
    split_variance = variance_at_zero + variance_slope * split
    far = np.flatnonzero(unbiased - split > _FAR * np.sqrt(split_variance))
    if not len(far):
        return split
    excess = unbiased[far] - split[far]
    effect, log_evidence = _posterior_effect(
        excess, split_variance[far], variance_slope[far], len(split)
    )
    by_chance = math.log(1 + len(split))
    if log_evidence <= by_chance:
        return split
    shares: Floats = split.copy()
    shares[far] += (1 - by_chance / log_evidence) * effect
    shares /= shares.sum()
    return shares


def _posterior_effect(
    excess: Floats, variance: Floats, variance_slope: Floats, labels: int
) -> tuple[Floats, float]:
    """The posterior mean effect of each candidate, and the log Bayes factor of all effects."""
    # Log likelihood ratio of every effect size against no effect, (candidates, amounts).
    amounts = np.geomspace(np.sqrt(variance).min() / 2, max(excess.max(), 1e-12), _AMOUNTS)
    effect_variance = variance[:, None] + variance_slope[:, None] * amounts
    log_ratio = excess[:, None] ** 2 / (2 * variance[:, None])
    log_ratio = log_ratio - (excess[:, None] - amounts) ** 2 / (2 * effect_variance)
    log_ratio -= np.log(effect_variance / variance[:, None]) / 2
    top = np.maximum(log_ratio.max(axis=1), 0.0)  # scaled so that nothing overflows
    ratio, null_ratio = np.exp(log_ratio - top[:, None]), np.exp(-top)
    weight = np.full(_AMOUNTS, _EFFECTS_FIRST / _AMOUNTS)
    null_weight = 1 - _EFFECTS_FIRST
    for _ in range(_ROUNDS):
        # E step: responsibilities of candidates. M step: their sums; labels that are no
        # candidates belong to the null component.
        marginal = ratio @ weight + null_ratio * null_weight
        weight = weight * (ratio / marginal[:, None]).sum(axis=0)
        null_count = null_weight * float((null_ratio / marginal).sum())
        null_weight = null_count + labels - len(excess) + _NULL_PSEUDO_COUNT
        total = weight.sum() + null_weight
        weight, null_weight = weight / total, null_weight / total
    marginal = ratio @ weight + null_ratio * null_weight
    log_evidence = float((np.log(marginal) + top).sum())
    log_evidence += (labels - len(excess)) * math.log(null_weight)
    return (ratio * amounts) @ weight / marginal, log_evidence
