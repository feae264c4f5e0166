"""Which rows differ from the baseline, and how strong the evidence is: p-values.

Every p-value inverts the interval that the row shows: it is the smallest 1 - level at which
that interval leaves out the baseline. All rows of an estimate are tested together, so p-values
are adjusted to bound the false discovery rate.
"""

from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np

from nomadp.inference.estimate import Floats
from nomadp.inference.frequencies import OracleShares
from nomadp.inference.shares import Shares

__all__ = [
    "adjusted",
    "interval_of",
    "p_values",
    "significance_counts",
    "significant_rows",
    "wilson_interval",
    "wilson_p_values",
]

Interval = Callable[[float], tuple[Any, Any]]
"""The intervals of all rows at a level: their low and their high ends."""


def interval_of(shares: Shares, level: float) -> tuple[Any, Any]:
    """The interval of each share, which always includes the estimate.

    The interval of a frequency oracle lies around the unbiased estimate. The estimate that is
    shown is shrunk towards larger areas, and may lie outside.
    """
    low, high = shares.interval(level)
    return np.minimum(low, shares.values), np.maximum(high, shares.values)


def significant_rows(baseline: Any, interval: Interval, level: float) -> Any:
    """The rows that differ from the baseline at a false discovery rate of 1 - level.

    One 90 % interval in ten leaves out the baseline by chance alone. So this is the step-up
    procedure of Benjamini and Hochberg (1995, doi:10.1111/j.2517-6161.1995.tb02031.x): the
    fewer rows are called significant, the wider the intervals that must leave it out.
    """
    count = len(baseline)
    significant = np.zeros(count, dtype=bool)
    while count:
        low, high = interval(1 - (1 - level) * count / len(baseline))
        significant = (baseline < low) | (high < baseline)
        remaining = int(significant.sum())
        if remaining == count:
            break
        count = remaining
    return significant


def adjusted(p: Any, significant: Any, level: float) -> Any:
    """P-values adjusted as Benjamini and Hochberg do, in the order of the rows.

    ``significant`` comes from the intervals, whose ends are found to a few digits less. It
    decides the rows at the threshold: an adjusted p-value is at most 1 - level exactly there.
    """
    size = len(p)
    order = np.argsort(p, kind="stable")
    scaled = np.asarray(p)[order] * size / np.arange(1, size + 1)
    # Step up: no p-value is larger than that of a row with weaker evidence.
    stepped = np.minimum.accumulate(scaled[::-1])[::-1]
    found = np.empty(size)
    found[order] = np.minimum(stepped, 1.0)
    threshold = 1 - level
    beyond = np.maximum(found, np.nextafter(threshold, np.inf))
    return np.where(significant, np.minimum(found, threshold), beyond)


def p_values(shares: Shares) -> Floats:
    """For each share, the smallest 1 - level at which its interval leaves out the baseline."""
    if not isinstance(shares, OracleShares):
        distance = np.abs(shares.values - shares.baseline)
        return _two_sided(_in_deviations(distance, shares.std_error))
    if len(shares.unbiased) == 1:  # all of everything: the interval is a point
        return np.where(shares.unbiased == shares.baseline, 1.0, 0.0)
    sign = np.sign(shares.unbiased - shares.baseline)
    p = _likelihood_ratio_p_values(shares)
    # The interval reaches as far as the estimate that is shown.
    return np.where(sign * (shares.values - shares.baseline) > 0, p, 1.0)


def _likelihood_ratio_p_values(shares: OracleShares) -> Floats:
    """The inverse of `share_interval` at the baseline.

    That accepts the estimates whose likelihood ratio against the best share from 0 to 1 is
    largest (Feldman and Cousins). An error of t away from the nearer border is as likely, by
    that ratio, as one of (m + t^2 / m) / 2 towards it, if the border is m < t deviations away.
    """
    from scipy.special import ndtr  # slow to import

    share = shares.baseline
    variance = (
        shares.variance_at_zero
        + shares.variance_slope * share
        + share * (1 - share) / shares.people
    )
    deviation = np.sqrt(np.maximum(variance, np.finfo(float).tiny))
    error = (shares.unbiased - share) / deviation
    border = np.maximum(np.minimum(share, 1 - share) / deviation, np.finfo(float).tiny)
    # t: the error away from the border that is as likely as the one that was made.
    is_away = (error > 0) == (share < 0.5)
    size = np.abs(error)
    towards = np.where(size > border, np.sqrt(border * np.maximum(2 * size - border, 0)), size)
    t = np.where(is_away, size, towards)
    other_side = np.where(t > border, (border + t**2 / border) / 2, t)
    found: Floats = ndtr(-t) + ndtr(-other_side)
    return found


def significance_counts(significant: Any, level: float) -> dict[str, Any]:
    """How many rows are significant, and which part of them may be so by chance."""
    return {
        "significant": int(np.sum(significant)),
        "false_discovery_rate": round(1 - level, 12),
    }


def wilson_interval(share: Any, total: float, level: float) -> tuple[Any, Any]:
    """Wilson's score interval (1927) for shares of ``total`` reports."""
    if level == 1:
        return np.zeros(len(share)), np.ones(len(share))
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle = share + z**2 / (2 * total)
    half = z * np.sqrt(share * (1 - share) / total + z**2 / (4 * total**2))
    scale = 1 + z**2 / total
    return np.maximum((middle - half) / scale, 0.0), np.minimum((middle + half) / scale, 1.0)


def wilson_p_values(share: Any, total: float, baseline: Any) -> Floats:
    """Its inverse: the score test uses the variance at the baseline."""
    deviation = np.sqrt(baseline * (1 - baseline) / total)
    return _two_sided(_in_deviations(np.abs(share - baseline), deviation))


def _in_deviations(distance: Any, deviation: Any) -> Floats:
    """A distance of nothing is 0, whatever the deviation; any other one without it infinite."""
    found = np.where(distance > 0, np.inf, 0.0)
    np.divide(distance, deviation, out=found, where=deviation > 0)
    return found


def _two_sided(z: Floats) -> Floats:
    from scipy.special import ndtr  # slow to import

    found: Floats = 2 * ndtr(-z)
    return found
