"""Intervals for a share, from an unbiased estimate of known variance.

A share is held if it makes the estimate likely against the best share from 0 to 1 (Feldman
and Cousins 1998, doi:10.1103/PhysRevD.57.3873). So no interval is empty, and an empty zone is
covered as often as any other, which one that is merely cut off at 0 would cover more often.
The variance is that of the share that is tried, not one that is estimated.
"""

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from nomadp.inference.estimate import Floats, check_level

__all__ = ["share_interval"]

_HALVINGS = 50
_GRID = 256
_AT_BORDER = 1e-100  # is divided by


def share_interval(
    estimate: Floats,
    variance_at_zero: Floats,
    variance_slope: Floats,
    level: float,
    people: float = math.inf,
) -> tuple[Floats, Floats]:
    """The least and the greatest share s that fit, at a variance of at_none + per_share * s.

    To that comes s (1 - s) / people if the estimate is from a sample of so many.
    """
    check_level(level)
    if level == 1:
        return np.zeros(len(estimate)), np.ones(len(estimate))
    border, tight = _limits(level)

    def errors(share: Floats) -> tuple[Floats, Floats, Floats]:
        """That of the estimate in deviations, and the greatest ones up and down that fit."""
        variance = variance_at_zero + variance_slope * share + share * (1 - share) / people
        deviation = np.sqrt(np.maximum(variance, np.finfo(float).tiny))
        near = np.maximum(np.minimum(share, 1 - share) / deviation, _AT_BORDER)
        inward = np.interp(near, border, tight)
        outward = np.where(near < border[-1], (near + inward**2 / near) / 2, inward)
        low = share < 0.5
        error = (estimate - share) / deviation
        return error, np.where(low, inward, outward), np.where(low, outward, inward)

    def too_low(share: Floats) -> NDArray[np.bool_]:
        error, up, _ = errors(share)
        return error > up

    def not_too_high(share: Floats) -> NDArray[np.bool_]:
        error, _, down = errors(share)
        return error >= -down

    size = len(estimate)
    return _last(too_low, size), _last(not_too_high, size)


def _last(holds: Callable[[Floats], NDArray[np.bool_]], size: int) -> Floats:
    """Where a condition that holds from 0 on ends; 0 if it does not, 1 if it always does."""
    low, high = np.zeros(size), np.ones(size)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        inside = holds(middle)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return np.where(holds(np.ones(size)), 1.0, low)


def _limits(level: float) -> tuple[Floats, Floats]:
    """How far inward an estimate may err, by how far the share is from its border.

    Both in deviations. An error of b inward is as likely, against the best share, as one of
    (m + b^2 / m) / 2 outward, if that is beyond the border at m.
    """
    from scipy.special import ndtr  # slow to import

    middle = NormalDist().inv_cdf((1 + level) / 2)
    near = np.linspace(0, middle, _GRID)
    near[0] = _AT_BORDER
    low, high = np.zeros(_GRID), np.full(_GRID, middle)
    for _ in range(_HALVINGS):
        tight = (low + high) / 2
        held = ndtr(tight) - ndtr(-(near + tight**2 / near) / 2)
        low, high = np.where(held < level, tight, low), np.where(held < level, high, tight)
    return near, high
