"""Shares as people read them: in percent, with as many digits as their intervals bear."""

from collections.abc import Mapping
from math import floor, log10
from typing import Any

import numpy as np

from nomadp.answers.geometry import value_column
from nomadp.theme import theme

__all__ = ["PERCENT", "decimals_of", "has_intervals", "percent"]

PERCENT = "\u00a0%"
"""No line ends before the sign."""
MOST = 4


def percent(share: float, decimals: int | None = None) -> str:
    """With so many digits after the point, or three in all; never 0 for what is not."""
    if decimals is None:
        if share <= 0:
            return f"0{PERCENT}"
        return f"< 0.01{PERCENT}" if share < 1e-4 else f"{100 * share:.3g}{PERCENT}"
    least = 10.0**-decimals
    if 0 < 100 * share < least / 2:
        return f"< {least:.{decimals}f}{PERCENT}"
    return f"{100 * max(share, 0.0):.{decimals}f}{PERCENT}"


def has_intervals(columns: Mapping[str, Any]) -> bool:
    """Whether every row says from where to where the truth may lie."""
    named = {"ci_low", "ci_high"} <= columns.keys()
    return named and not np.isnan(columns["ci_low"]).any()


def decimals_of(columns: Mapping[str, Any]) -> int | None:
    """Of all shares of an answer, so that they stand under each other; None without intervals.

    The usual width of an interval has two digits then; more would be noise.
    """
    value = value_column(columns)
    if value not in columns or not has_intervals(columns) or not len(columns[value]):
        return None
    first = np.argsort(-columns[value], kind="stable")[: theme()["rows_most"]]
    width = 100 * float(np.median((columns["ci_high"] - columns["ci_low"])[first]))
    return min(max(1 - floor(log10(width)), 0), MOST) if width > 0 else None
