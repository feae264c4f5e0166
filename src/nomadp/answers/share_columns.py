"""Columns of an estimate: shares, confidence intervals, p-values and significance.

Intervals and significance are withheld where measurements showed that they do not hold.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nomadp.answers.significance import (
    adjusted_p_values,
    p_values,
    share_intervals,
    significance_counts,
    significant_rows,
)
from nomadp.inference.shares import BootstrapFit, Shares, fewest_codewords

__all__ = ["MIN_CODEWORDS", "ShareColumns", "reason_without_intervals"]

MIN_CODEWORDS = 64
"""With fewer codewords, 90 % intervals were measured to contain the truth less often."""


@dataclass(frozen=True, eq=False)
class ShareColumns:
    """The shares of one estimate, and how reliable they are."""

    shares: Shares
    """Shares of all times of day combined."""
    timed: Shares | None
    """Shares of each time of day, if the frequency oracle has slots."""
    level: float
    withheld: str | None
    """Why there are no intervals; None if there are."""

    def value_columns(self, shares: Shares, name: str = "share") -> dict[str, Any]:
        """Values, standard errors, intervals (NaN if withheld) and the baseline."""
        low = high = np.full(len(shares.values), np.nan)
        if self.withheld is None:
            low, high = share_intervals(shares, self.level)
        return {
            name: np.asarray(shares.values),
            "std_error": np.asarray(shares.std_error),
            "ci_low": low,
            "ci_high": high,
            "baseline": np.asarray(shares.baseline),
        }

    @property
    def significance_columns(self) -> dict[str, Any]:
        """The columns ``p_value`` and ``significant``. All rows are one family of tests.

        The rows of all times combined come first, then those of each time.
        """
        if self.withheld is not None:
            return {
                "p_value": np.full(len(self.significant), np.nan),
                "significant": self.significant,
            }
        p = np.concatenate([p_values(shares) for shares in self._family])
        p = adjusted_p_values(p, self.significant, self.level)
        return {"p_value": p, "significant": self.significant}

    @property
    def _family(self) -> list[Shares]:
        return [self.shares] if self.timed is None else [self.shares, self.timed]

    @cached_property
    def significant(self) -> Any:
        """Which rows differ significantly from the baseline; None where that is withheld."""
        baseline = np.concatenate([shares.baseline for shares in self._family])
        if self.withheld is not None:
            return np.full(len(baseline), None)

        def interval(level: float) -> tuple[Any, Any]:
            intervals = [share_intervals(shares, level) for shares in self._family]
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


def reason_without_intervals(bootstrap: BootstrapFit) -> str | None:
    """Why estimates from these reports have no intervals; None if they have.

    The positions of people within the cell of a codeword come from public random-walk
    trajectories. The fewer codewords there are, the more the estimate depends on this
    assumption, and intervals do not include the error of the assumption.
    """
    size = fewest_codewords(bootstrap)
    if size is None or size >= MIN_CODEWORDS:
        return None
    codewords = f"{size} codeword{'' if size == 1 else 's'}"
    return (
        f"the codebook has {codewords}; with fewer than {MIN_CODEWORDS}, 90 % intervals "
        "contained only 62 to 83 of 100 true flows of real trips"
    )
