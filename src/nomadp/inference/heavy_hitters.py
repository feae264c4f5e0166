"""Labels that stand out from their surroundings, which no splitting of a group finds.

A split gives parts what their group has: one busy label in a quiet region is hardly seen. So
each label may hold more than the splits say, by one of many amounts, and how many hold how
much is learned from all of them by expectation-maximisation (nonparametric empirical Bayes;
Kiefer and Wolfowitz 1956, doi:10.1214/aoms/1177728066). The likelihood is a normal one with the
known variance.
"""

import math

import numpy as np

from nomadp.inference.estimate import Floats

__all__ = ["with_heavy_hitters"]

_FAR = 2.0
"""Deviations above what is split from which on a label may stand out: few are looked at."""
_AMOUNTS = 32
_ALIKE = 5.0  # labels that hold no more, beside those that are seen
_FIRST = 0.1  # of labels, so many hold more at first
_ROUNDS = 60


def with_heavy_hitters(split: Floats, found: Floats, variance: tuple[Floats, Floats]) -> Floats:
    """Split shares, with more where that is told beyond chance; ``found`` are unbiased ones.

    ``variance`` is that of ``found`` where the share is 0, and how much more where it is 1.
    Chance would tell the logarithm of how many labels there are, so that is not believed.
    """
    none, more = variance
    here = none + more * split
    far = np.flatnonzero(found - split > _FAR * np.sqrt(here))
    if not len(far):
        return split
    above, told = _expected(found[far] - split[far], here[far], more[far], len(split))
    chance = math.log(1 + len(split))
    if told <= chance:
        return split
    shares: Floats = split.copy()
    shares[far] += (1 - chance / told) * above
    shares /= shares.sum()
    return shares


def _expected(
    above: Floats, variance: Floats, more: Floats, labels: int
) -> tuple[Floats, float]:
    """By how much labels are above, and how much likelier that is than none, as a logarithm."""
    amounts = np.geomspace(np.sqrt(variance).min() / 2, max(above.max(), 1e-12), _AMOUNTS)
    spread = variance[:, None] + more[:, None] * amounts
    log_ratio = above[:, None] ** 2 / (2 * variance[:, None])
    log_ratio = log_ratio - (above[:, None] - amounts) ** 2 / (2 * spread)
    log_ratio -= np.log(spread / variance[:, None]) / 2
    top = np.maximum(log_ratio.max(axis=1), 0.0)
    ratio, alike = np.exp(log_ratio - top[:, None]), np.exp(-top)
    weight = np.full(_AMOUNTS, _FIRST / _AMOUNTS)
    none = 1 - _FIRST
    for _ in range(_ROUNDS):
        chance = ratio @ weight + alike * none
        weight = weight * (ratio / chance[:, None]).sum(axis=0)
        none = none * float((alike / chance).sum()) + labels - len(above) + _ALIKE
        total = weight.sum() + none
        weight, none = weight / total, none / total
    chance = ratio @ weight + alike * none
    told = float((np.log(chance) + top).sum()) + (labels - len(above)) * math.log(none)
    return (ratio * amounts) @ weight / chance, told
