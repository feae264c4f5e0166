"""Chi-square tests of the sampler: millions of draws of each kind of law against its weights.

The exact audit covers the laws; this test covers the code that draws from them.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from nomadp import laws
from nomadp.audit.maps import family_map
from nomadp.budget import as_epsilon
from nomadp.drawing import draw_many
from nomadp.extras import require
from nomadp.randomness import SeededRandom

__all__ = ["SamplerRow", "check_sampler", "example_channels", "noncentrality"]

ALPHA = 1e-6
"""Significance level: the probability that a test flags a correct sampler."""
POWER = 0.99
"""The probability with which a deviation of the stated size is detected."""
_BLOCK = 1_000_000  # words in memory at a time


@dataclass(frozen=True)
class SamplerRow:
    """The result of the test of one channel."""

    law: str
    draws: int
    outputs: int
    chi_square: float
    limit: float
    detectable_bias: float
    """The smallest error of one output's probability that is detected with `POWER`."""

    @property
    def ok(self) -> bool:
        return self.chi_square <= self.limit

    def as_dict(self) -> dict[str, Any]:
        return {
            "law": self.law,
            "draws": self.draws,
            "outputs": self.outputs,
            "chi_square": round(self.chi_square, 3),
            "limit": round(self.limit, 3),
            "detectable_bias": float(f"{self.detectable_bias:.2g}"),
            "ok": self.ok,
        }


def example_channels() -> dict[str, tuple[laws.Channel, int]]:
    """One channel of every kind, with a secret for it."""
    locations = family_map("random", 7)
    everywhere, span_km = np.arange(7), locations.diameter_km
    share = as_epsilon(1)
    nearest_3, nearest_7 = (laws.NearestLocations(locations, count) for count in (3, 7))
    table_km = laws.distance_rows_km(locations, everywhere)
    return {
        "randomised response": (laws.RandomizedResponse(6, share), 2),
        "exponential": (laws.Exponential(locations, everywhere, span_km, share), 3),
        "square wave": (laws.SquareWave(64, share), 20),
        "exponential of a table": (
            laws.TableExponential(table_km, everywhere, span_km, share),
            5,
        ),
        "subset": (laws.Subset(7, 3, nearest_3, share), 4),
        "staircase": (laws.Staircase(7, 3, nearest_7, share), 1),
        "uniform": (laws.Uniform(6), 6),
    }


def check_sampler(
    name: str, channel: laws.Channel, secret: int, draws: int, seed: int = 0
) -> SamplerRow:
    """Draw from a channel, and test the counts of its outputs against the law."""
    require("analysis")
    from scipy import stats  # slow to import, and few mechanisms' audits need it

    stream = SeededRandom(seed).bound_to(name).stream(0)
    order = np.argsort(channel.outputs)
    counts = np.zeros(len(channel.outputs), dtype=np.int64)
    for start in range(0, draws, _BLOCK):
        drawn = draw_many(channel, secret, stream.take(min(_BLOCK, draws - start)))
        output_index = order[np.searchsorted(channel.outputs, drawn, sorter=order)]
        counts += np.bincount(output_index, minlength=len(counts))
    # Pearson's test: the statistic is chi-square distributed with one degree of freedom less
    # than there are outputs, because the counts add up to the number of draws.
    probability = laws.probabilities(channel, secret)
    expected = draws * probability
    freedom, largest = len(counts) - 1, float(probability.max())
    # Moving probability d to an output of probability p, in proportion from all others, adds
    # draws d^2 / (p (1 - p)) to the statistic. It is hardest to detect for the largest p.
    bias = math.sqrt(noncentrality(freedom, ALPHA) * largest * (1 - largest) / draws)
    return SamplerRow(
        law=name,
        draws=draws,
        outputs=len(counts),
        chi_square=float(((counts - expected) ** 2 / expected).sum()),
        limit=float(stats.chi2.isf(ALPHA, freedom)),
        detectable_bias=bias,
    )


def noncentrality(freedom: int, alpha: float) -> float:
    """The noncentrality at which the statistic exceeds its limit with probability `POWER`.

    Under a wrong law, Pearson's statistic approximately has a noncentral chi-square
    distribution.
    """
    from scipy import optimize, stats

    limit = stats.chi2.isf(alpha, freedom)

    def excess_miss_rate(noncentral: float) -> float:
        return float(stats.ncx2.cdf(limit, freedom, noncentral)) - (1 - POWER)

    return float(optimize.brentq(excess_miss_rate, 1e-3, 100 * limit))
