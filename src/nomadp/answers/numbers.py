"""Shares in percent, with as many digits as their confidence intervals justify."""

from collections.abc import Mapping
from math import floor, log10
from typing import Any

import numpy as np

from nomadp.answers.geometry import value_column
from nomadp.theme import theme

__all__ = ["PERCENT", "decimals_of", "has_intervals", "percent"]

PERCENT = "\u00a0%"
"""With a no-break space, so that no line ends before the sign."""
MAX_DECIMALS = 4


def percent(share: float, decimals: int | None = None) -> str:
    """A share with this many decimals, or three significant digits; 0 only if it is 0."""
    if decimals is None:
        if share <= 0:
            return f"0{PERCENT}"
        return f"< 0.01{PERCENT}" if share < 1e-4 else f"{100 * share:.3g}{PERCENT}"
    smallest = 10.0**-decimals
    if 0 < 100 * share < smallest / 2:
        return f"< {smallest:.{decimals}f}{PERCENT}"
    return f"{100 * max(share, 0.0):.{decimals}f}{PERCENT}"


def has_intervals(columns: Mapping[str, Any]) -> bool:
    """Whether every row has an interval."""
    has_columns = {"ci_low", "ci_high"} <= columns.keys()
    return has_columns and not np.isnan(columns["ci_low"]).any()


def decimals_of(columns: Mapping[str, Any]) -> int | None:
    """The same number of decimals for all shares of an estimate; None without intervals.

    The median width of the largest shares' intervals gets two significant digits. More digits
    of a share would be noise.
    """
    value = value_column(columns)
    if value not in columns or not has_intervals(columns) or not len(columns[value]):
        return None
    largest = np.argsort(-columns[value], kind="stable")[: theme()["rows_most"]]
    width = 100 * float(np.median((columns["ci_high"] - columns["ci_low"])[largest]))
    return min(max(1 - floor(log10(width)), 0), MAX_DECIMALS) if width > 0 else None
