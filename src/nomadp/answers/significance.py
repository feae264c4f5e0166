"""Which rows differ from the baseline, and how strong the evidence is: p-values.

Every p-value inverts the interval that the row shows: it is the smallest 1 - level at which
that interval excludes the baseline. All rows of an estimate are tested together, so p-values
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
    "adjusted_p_values",
    "share_intervals",
    "p_values",
    "significance_counts",
    "significant_rows",
    "wilson_interval",
    "wilson_p_values",
]

Interval = Callable[[float], tuple[Any, Any]]
"""Maps a confidence level to the lower and upper limits of all rows."""


def share_intervals(shares: Shares, level: float) -> tuple[Any, Any]:
    """The interval of each share, which always includes the estimate.

    The interval of a frequency oracle lies around the unbiased estimate. The estimate that is
    shown is shrunk towards larger areas, and may lie outside.
    """
    low, high = shares.interval(level)
    return np.minimum(low, shares.values), np.maximum(high, shares.values)


def significant_rows(baseline: Any, interval: Interval, level: float) -> Any:
    """The rows that differ from the baseline at a false discovery rate of 1 - level.

    One 90 % interval in ten excludes the baseline by chance alone. Therefore, this is the
    step-up procedure of Benjamini and Hochberg (1995, doi:10.1111/j.2517-6161.1995.tb02031.x):
    the fewer rows are significant, the wider the intervals that must exclude the baseline.
    """
    size = count = len(baseline)
    significant = np.zeros(size, dtype=bool)
    # Find the largest count such that exactly `count` intervals exclude the baseline at the
    # level that Benjamini and Hochberg prescribe for it.
    while count:
        low, high = interval(1 - (1 - level) * count / size)
        significant = (baseline < low) | (high < baseline)
        remaining = int(significant.sum())
        if remaining == count:
            break
        count = remaining
    return significant


def adjusted_p_values(p: Any, significant: Any, level: float) -> Any:
    """Benjamini-Hochberg adjusted p-values, in the order of the rows.

    The limits of intervals are less exact than p-values, so the two could disagree at the
    threshold. ``significant`` decides: exactly its rows have p-values of at most 1 - level.
    """
    size = len(p)
    order = np.argsort(p, kind="stable")
    scaled = np.asarray(p)[order] * size / np.arange(1, size + 1)
    # Step up: no p-value is larger than that of a row with weaker evidence.
    monotone = np.minimum.accumulate(scaled[::-1])[::-1]
    p_adjusted = np.empty(size)
    p_adjusted[order] = np.minimum(monotone, 1.0)
    threshold = 1 - level
    not_significant = np.maximum(p_adjusted, np.nextafter(threshold, np.inf))
    return np.where(significant, np.minimum(p_adjusted, threshold), not_significant)


def p_values(shares: Shares) -> Floats:
    """For each share, the smallest 1 - level at which its interval excludes the baseline."""
    if not isinstance(shares, OracleShares):
        distance = np.abs(shares.values - shares.baseline)
        return _two_sided(_standardised(distance, shares.std_error))
    if len(shares.unbiased) == 1:  # the share is 1, and the interval is a point
        return np.where(shares.unbiased == shares.baseline, 1.0, 0.0)
    sign = np.sign(shares.unbiased - shares.baseline)
    p = _likelihood_ratio_p_values(shares)
    # Intervals include the estimate that is shown (`share_intervals`). If the baseline lies
    # between that and the unbiased estimate, no interval excludes it.
    return np.where(sign * (shares.values - shares.baseline) > 0, p, 1.0)


def _likelihood_ratio_p_values(shares: OracleShares) -> Floats:
    """The p-value of the baseline, which inverts `share_interval`.

    That accepts the estimates whose likelihood ratio against the best share from 0 to 1 is
    largest (Feldman and Cousins 1998). If the nearer border of [0, 1] is m < t standard errors
    away, an error of t away from it has the same ratio as one of (m + t^2 / m) / 2 towards it.
    The p-value is the probability of both tails.
    """
    from scipy.special import ndtr  # slow to import

    share = shares.baseline
    variance = (
        shares.variance_at_zero
        + shares.variance_slope * share
        + share * (1 - share) / shares.people
    )
    std_error = np.sqrt(np.maximum(variance, np.finfo(float).tiny))
    error = (shares.unbiased - share) / std_error
    border = np.maximum(np.minimum(share, 1 - share) / std_error, np.finfo(float).tiny)  # m
    # t: the error away from the border that has the same likelihood ratio as the observed one.
    is_away = (error > 0) == (share < 0.5)
    size = np.abs(error)
    mirrored = np.where(size > border, np.sqrt(border * np.maximum(2 * size - border, 0)), size)
    t = np.where(is_away, size, mirrored)
    towards = np.where(t > border, (border + t**2 / border) / 2, t)
    p: Floats = ndtr(-t) + ndtr(-towards)
    return p


def significance_counts(significant: Any, level: float) -> dict[str, Any]:
    """The number of significant rows, and the expected fraction of false discoveries."""
    return {
        "significant": int(np.sum(significant)),
        "false_discovery_rate": round(1 - level, 12),
    }


def wilson_interval(share: Any, total: float, level: float) -> tuple[Any, Any]:
    """Wilson's score interval (1927) for shares of ``total`` reports."""
    if level == 1:
        return np.zeros(len(share)), np.ones(len(share))
    z = NormalDist().inv_cdf((1 + level) / 2)
    centre = share + z**2 / (2 * total)
    half = z * np.sqrt(share * (1 - share) / total + z**2 / (4 * total**2))
    scale = 1 + z**2 / total
    return np.maximum((centre - half) / scale, 0.0), np.minimum((centre + half) / scale, 1.0)


def wilson_p_values(share: Any, total: float, baseline: Any) -> Floats:
    """P-values of the score test, which inverts Wilson's interval."""
    # The variance under the null hypothesis, not at the observed share.
    std_error = np.sqrt(baseline * (1 - baseline) / total)
    return _two_sided(_standardised(np.abs(share - baseline), std_error))


def _standardised(distance: Any, std_error: Any) -> Floats:
    """Distances in standard errors. If the error is 0, a distance is 0 or infinite."""
    z = np.where(distance > 0, np.inf, 0.0)
    np.divide(distance, std_error, out=z, where=std_error > 0)
    return z


def _two_sided(z: Floats) -> Floats:
    from scipy.special import ndtr  # slow to import

    p: Floats = 2 * ndtr(-z)
    return p
