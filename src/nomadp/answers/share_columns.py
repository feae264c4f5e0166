"""The columns of numbers of an estimate: values, intervals, p-values and significance.

Intervals and significance are withheld where measurements showed that they do not hold.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nomadp.answers.significance import (
    adjusted,
    interval_of,
    p_values,
    significance_counts,
    significant_rows,
)
from nomadp.inference.shares import BootstrapFit, Shares, fewest_codewords

__all__ = ["CODEWORDS_LEAST", "ShareColumns", "withheld_for"]

CODEWORDS_LEAST = 64
"""In a codebook: with fewer, 90 % intervals were measured to contain the truth less often."""


@dataclass(frozen=True, eq=False)
class ShareColumns:
    """The shares of one estimate, and how reliable they are."""

    shares: Shares
    """Of all times of day combined."""
    timed: Shares | None
    """Of each time of day, if the frequency oracle has slots."""
    level: float
    withheld: str | None
    """Why there are no intervals; None if there are."""

    def numbers(self, shares: Shares, name: str = "share") -> dict[str, Any]:
        """Values, standard errors, intervals (NaN if withheld) and the baseline."""
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

    @property
    def tests(self) -> dict[str, Any]:
        """The columns ``p_value`` and ``significant``, all rows being one family of tests.

        First come the rows of all times combined, then those of each time.
        """
        if self.withheld is not None:
            return {
                "p_value": np.full(len(self.significant), np.nan),
                "significant": self.significant,
            }
        p = np.concatenate([p_values(shares) for shares in self._families])
        return {
            "p_value": adjusted(p, self.significant, self.level),
            "significant": self.significant,
        }

    @property
    def _families(self) -> list[Shares]:
        return [self.shares] if self.timed is None else [self.shares, self.timed]

    @cached_property
    def significant(self) -> Any:
        """Which rows differ significantly from the baseline; None where that is withheld."""
        baseline = np.concatenate([shares.baseline for shares in self._families])
        if self.withheld is not None:
            return np.full(len(baseline), None)

        def interval(level: float) -> tuple[Any, Any]:
            intervals = [interval_of(shares, level) for shares in self._families]
            low, high = zip(*intervals, strict=True)
            return np.concatenate(low), np.concatenate(high)

        return significant_rows(baseline, interval, self.level)

    @property
    def reliability(self) -> Mapping[str, Any]:
        """The level of the intervals and how many rows are significant, or why neither is."""
        if self.withheld is not None:
            return {"no_intervals": self.withheld}
        counts = significance_counts(self.significant, self.level)
        return {"level": self.level, "significance": counts}


def withheld_for(bootstrap: BootstrapFit) -> str | None:
    """Why the shares of a survey have no intervals; None if they have.

    Where people were within the cell of a codeword is taken from public random-walk
    trajectories. The fewer codewords there are, the more depends on that, and intervals do not
    include how wrong it may be.
    """
    size = fewest_codewords(bootstrap)
    if size is None or size >= CODEWORDS_LEAST:
        return None
    many = f"{size} codeword{'' if size == 1 else 's'}"
    return (
        f"the codebook has {many}, and with fewer than {CODEWORDS_LEAST} intervals of 90 % "
        "contained only 62 to 83 of 100 true flows of real trips"
    )
