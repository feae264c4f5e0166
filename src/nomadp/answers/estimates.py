"""The columns of numbers of an answer: estimates, intervals, and which rows are significant.

Intervals are withheld where they were measured not to hold what they say.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nomadp.inference.shares import BootstrapFit, Shares, fewest_codewords

__all__ = [
    "CODEWORDS_LEAST",
    "Estimates",
    "interval_of",
    "is_apart",
    "significant",
    "withheld_for",
]

CODEWORDS_LEAST = 64
"""In a codebook: with fewer, intervals of 90 % were measured to hold the truth less often."""


@dataclass(frozen=True, eq=False)
class Estimates:
    """Shares of one answer, and how far they are to be trusted."""

    shares: Shares
    """Of all times together."""
    timed: Shares | None
    """Of each time, for questions that ask when."""
    level: float
    withheld: str | None
    """Why there are no intervals; None if there are."""

    def numbers(self, shares: Shares, name: str = "share") -> dict[str, Any]:
        """Estimates, their standard deviations, their intervals if there are any, and flat."""
        low = high = np.full(len(shares.values), np.nan)
        if self.withheld is None:
            low, high = interval_of(shares, self.level)
        return {
            name: np.asarray(shares.values),
            "std_error": np.asarray(shares.std_error),
            "ci_low": low,
            "ci_high": high,
            "baseline": np.asarray(shares.baseline),
        }

    @cached_property
    def significant(self) -> Any:
        """Which rows differ from flat: those of all times together, then those of each."""
        families = [each for each in (self.shares, self.timed) if each is not None]
        flat = np.concatenate([each.baseline for each in families])
        if self.withheld is not None:
            return np.full(len(flat), None)

        def interval(level: float) -> tuple[Any, Any]:
            low, high = zip(*(interval_of(each, level) for each in families), strict=True)
            return np.concatenate(low), np.concatenate(high)

        return is_apart(flat, interval, self.level)

    @property
    def reliability(self) -> Mapping[str, Any]:
        """The level of the intervals and how many rows differ, or why neither is known."""
        if self.withheld is not None:
            return {"no_intervals": self.withheld}
        return {"level": self.level, "significance": significant(self.significant, self.level)}


def withheld_for(bootstrap: BootstrapFit) -> str | None:
    """Why shares of a survey have no intervals; None if they have.

    Where within a codeword people were is taken from public walks. The fewer codewords there
    are, the more depends on that, and intervals know nothing of how wrong it may be.
    """
    size = fewest_codewords(bootstrap)
    if size is None or size >= CODEWORDS_LEAST:
        return None
    many = f"{size} codeword{'' if size == 1 else 's'}"
    return (
        f"the codebook has {many}, and with fewer than {CODEWORDS_LEAST} intervals of 90 % "
        "contained only 62 to 83 of 100 true flows of real trips"
    )


def is_apart(flat: Any, interval: Callable[[float], tuple[Any, Any]], level: float) -> Any:
    """Which rows differ from flat, at most 1 - level of them by chance in expectation.

    One interval in ten leaves flat out by chance alone, which of many rows are many. So the
    fewer rows are claimed, the wider are the intervals that must leave it out: a false
    discovery rate (Benjamini and Hochberg 1995, doi:10.1111/j.2517-6161.1995.tb02031.x).
    ``interval`` gives the intervals of all rows at a level.
    """
    claimed = len(flat)
    apart = np.zeros(claimed, dtype=bool)
    while claimed:
        low, high = interval(1 - (1 - level) * claimed / len(flat))
        apart = (flat < low) | (high < flat)
        if (found := int(apart.sum())) == claimed:
            break
        claimed = found
    return apart


def significant(rows: Any, level: float) -> dict[str, Any]:
    """How many rows differ from flat, and how many of these may by chance."""
    return {"significant": int(np.sum(rows)), "false_discovery_rate": round(1 - level, 12)}


def interval_of(shares: Shares, level: float) -> tuple[Any, Any]:
    """From where to where each share may be, itself included.

    Of a direct question the interval lies around what was counted, and the estimate, which is
    drawn towards larger areas, may lie beyond it.
    """
    low, high = shares.interval(level)
    return np.minimum(low, shares.values), np.maximum(high, shares.values)
