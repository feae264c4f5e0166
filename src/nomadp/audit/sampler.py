"""Does the sampler follow the law? A chi-square test of millions of draws against it."""

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

__all__ = ["SamplerRow", "check_sampler", "noncentrality", "specimens"]

ALPHA = 1e-6
"""How rarely a right sampler may be called wrong."""
POWER = 0.99
_BLOCK = 1_000_000


@dataclass(frozen=True)
class SamplerRow:
    """How well the draws of one channel fit its law."""

    law: str
    draws: int
    outputs: int
    chi_square: float
    limit: float
    detectable_bias: float
    """The smallest error of one output's probability found with probability `POWER`."""

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


def specimens() -> dict[str, tuple[laws.Channel, int]]:
    """One channel of every kind, with a secret for it."""
    locations = family_map("random", 7)
    everywhere, span_km = np.arange(7), locations.diameter_km
    share = as_epsilon(1)
    near, every = laws.NearestLocations(locations, 3), laws.NearestLocations(locations, 7)
    table_km = laws.distance_rows_km(locations, everywhere)
    return {
        "randomised response": (laws.RandomizedResponse(6, share), 2),
        "exponential": (laws.Exponential(locations, everywhere, span_km, share), 3),
        "square wave": (laws.SquareWave(64, share), 20),
        "exponential of a table": (
            laws.TableExponential(table_km, everywhere, span_km, share),
            5,
        ),
        "subset": (laws.Subset(7, 3, near, share), 4),
        "staircase": (laws.Staircase(7, 3, every, share), 1),
        "uniform": (laws.Uniform(6), 6),
    }


def check_sampler(
    name: str, channel: laws.Channel, secret: int, draws: int, seed: int = 0
) -> SamplerRow:
    """Draw, count, and compare the counts with what the law expects."""
    require("analysis")
    from scipy import stats  # slow to import, and few mechanisms' audits need it

    stream = SeededRandom(seed).bound_to(name).stream(0)
    place = np.argsort(channel.outputs)
    counts = np.zeros(len(channel.outputs), dtype=np.int64)
    for start in range(0, draws, _BLOCK):
        drawn = draw_many(channel, secret, stream.take(min(_BLOCK, draws - start)))
        found = place[np.searchsorted(channel.outputs, drawn, sorter=place)]
        counts += np.bincount(found, minlength=len(counts))
    chance = laws.probabilities(channel, secret)
    expected = draws * chance
    freedom, top = len(counts) - 1, float(chance.max())
    return SamplerRow(
        law=name,
        draws=draws,
        outputs=len(counts),
        chi_square=float(((counts - expected) ** 2 / expected).sum()),
        limit=float(stats.chi2.isf(ALPHA, freedom)),
        detectable_bias=math.sqrt(noncentrality(freedom, ALPHA) * top * (1 - top) / draws),
    )


def noncentrality(freedom: int, alpha: float) -> float:
    """How far off counts must be on average to exceed the limit with probability `POWER`."""
    from scipy import optimize, stats

    limit = stats.chi2.isf(alpha, freedom)

    def missed(excess: float) -> float:
        return float(stats.ncx2.cdf(limit, freedom, excess)) - (1 - POWER)

    return float(optimize.brentq(missed, 1e-3, 100 * limit))
