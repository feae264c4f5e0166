"""Feldman-Cousins confidence intervals of a share from an unbiased estimate of known variance.

The interval contains every share under which the estimate is likely, relative to the most
likely share from 0 to 1 (Feldman and Cousins 1998, doi:10.1103/PhysRevD.57.3873). Therefore no
interval is empty, and empty zones have the same coverage as others; an interval that is merely
cut off at 0 would cover them too often. The variance is that of the share that is tested, not
an estimate.
"""

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from nomadp.inference.estimate import Floats, check_level

__all__ = ["share_interval"]

_HALVINGS = 50  # bisection to about 1e-15
_GRID = 256  # distances from the border at which limits are tabulated
_AT_BORDER = 1e-100  # stands for 0 where it is a divisor


def share_interval(
    estimate: Floats,
    variance_at_zero: Floats,
    variance_slope: Floats,
    level: float,
    people: float = math.inf,
) -> tuple[Floats, Floats]:
    """The lower and the upper confidence limit of each share s.

    The variance of the estimate is variance_at_zero + variance_slope * s + s (1 - s) / people,
    where the last term is the sampling variance of that number of people.
    """
    check_level(level)
    if level == 1:
        return np.zeros(len(estimate)), np.ones(len(estimate))
    border, limit = _limits(level)

    def errors(share: Floats) -> tuple[Floats, Floats, Floats]:
        """The error of the estimate in standard errors, and its limits up and down."""
        variance = variance_at_zero + variance_slope * share + share * (1 - share) / people
        deviation = np.sqrt(np.maximum(variance, np.finfo(float).tiny))
        # The distance to the nearer border, 0 or 1, in standard errors.
        distance = np.maximum(np.minimum(share, 1 - share) / deviation, _AT_BORDER)
        inward = np.interp(distance, border, limit)
        outward = np.where(distance < border[-1], (distance + inward**2 / distance) / 2, inward)
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
    """The end of a condition that holds from 0 on, by bisection; 0 if it never holds."""
    low, high = np.zeros(size), np.ones(size)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        inside = holds(middle)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return np.where(holds(np.ones(size)), 1.0, low)


def _limits(level: float) -> tuple[Floats, Floats]:
    """The largest inward error in the interval, by the distance of the share from the border.

    Both are in standard errors. At distance m from the border, an inward error of b has the
    same likelihood ratio as an outward error of (m + b^2 / m) / 2, if that crosses the border:
    there the best share is the border itself. Bisection finds the b with the wanted coverage.
    """
    from scipy.special import ndtr  # slow to import

    two_sided = NormalDist().inv_cdf((1 + level) / 2)  # far from the border
    distance = np.linspace(0, two_sided, _GRID)
    distance[0] = _AT_BORDER
    low, high = np.zeros(_GRID), np.full(_GRID, two_sided)
    for _ in range(_HALVINGS):
        inward = (low + high) / 2
        coverage = ndtr(inward) - ndtr(-(distance + inward**2 / distance) / 2)
        low = np.where(coverage < level, inward, low)
        high = np.where(coverage < level, high, inward)
    return distance, high
