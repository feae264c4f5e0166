"""How many journeys should count as near: what errs least on journeys the atlas has not seen.

With k near ones of K, weights e^epsilon to 1, and S_k the summed distance of the k nearest, a
reported journey is off by (S_k (e^epsilon - 1) + S_K) / (k (e^epsilon - 1) + K) on average. It
is averaged over fresh walks of the atlas' recipe, as people's journeys are: not in the atlas.
Its own journeys would each find themselves at distance 0, so that few near ones seem to be
enough: at a large epsilon k would come out too small. Everything here is public.
"""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nomadp.mechanisms.atlas.book import Atlas, fresh_journeys

__all__ = ["best_near_count"]

_FRESH = 512  # walks it is averaged over: another number is another k, and another law


@lru_cache(maxsize=256)
def best_near_count(atlas: Atlas, epsilon: Fraction) -> int:
    """The k with the smallest expected error of the reported journey itself."""
    sums, gain = _sums_km(atlas), math.expm1(float(epsilon))
    count = np.arange(1, len(sums) + 1)
    return int(count[np.argmin((sums * gain + sums[-1]) / (count * gain + len(sums)))])


@lru_cache(maxsize=32)
def _sums_km(atlas: Atlas) -> NDArray[np.float64]:
    """Summed distances of the k nearest journeys, for every k, over fresh walks."""
    total = np.zeros(atlas.size)
    for journey in fresh_journeys(atlas, _FRESH):
        total += np.sort(atlas.distances_km(journey.astype(np.int64)))
    return np.cumsum(total)
