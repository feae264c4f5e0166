"""ATLAS: which journeys may be the last that counts as near, judging by rough totals.

Selection of the k-th smallest as quickselect does it, by values instead of pivots: a sample
tells roughly where the limit is; what lies around it is set apart and halved until few are
left. Whatever the sample says, the answer is the same: where it misleads, everything is set
apart.
"""

import math
from typing import Any

import numpy as np

from nomadp.mechanisms.atlas.kernel_rough import count_below
from nomadp.mechanisms.atlas.kernel_values import Chart, Scratch
from nomadp.mechanisms.fast.compiling import part

__all__ = ["bracket", "doubtful"]

_FEW = 8  # journeys that are measured sooner than told apart
_TRIES = 64  # halvings after which only ties are left


@part
def doubtful(near_count: int, chart: Chart, scratch: Scratch) -> Any:
    """Below what total a journey is certainly near, how many are, and how many are in doubt.

    Those in doubt are then in ``scratch.journey``, in their order. A total and the limit of the
    near ones may both be off, in opposite directions.
    """
    nothing, top = np.float32(0), np.float32(chart.top_km)
    margin = np.float32(2 * chart.off_km)
    low, high = _likely(scratch.sample_km, near_count / len(scratch.total_km), top)
    low, high = max(nothing, low - margin), min(top, high + margin)
    before, found = _set_apart(low, high, scratch)
    first, last = bracket(scratch.rough_km[:found], near_count - before, low, high)
    if (low > nothing and first - margin < low) or (high < top and last + margin >= high):
        # The doubt reaches beyond what was set apart, or the sample misled to there.
        low, high = nothing, top
        before, found = _set_apart(low, high, scratch)
        first, last = bracket(scratch.rough_km[:found], near_count, low, high)
    sure, left = _keep(first - margin, last + margin, found, scratch)
    return first - margin, before + sure, left


@part
def _likely(sample_km: Any, share: float, top: Any) -> Any:
    """Limits that the total with this share below it probably lies between."""
    low, high, size = np.float32(0), top, len(sample_km)
    if size == 0:
        return low, high
    rank, spread = share * size, 2.5 * math.sqrt(share * (1 - share) * size) + 2
    first, last = int(rank - spread), int(rank + spread) + 1
    if first >= 1:
        low, _ = bracket(sample_km, first, low, top)
    if last <= size:
        _, high = bracket(sample_km, last, low, top)
    return low, high


@part
def bracket(values: Any, count: int, low: Any, high: Any) -> Any:
    """Limits that the ``count``-th smallest value lies between, with few others.

    Fewer than ``count`` values are below ``low``, and at least as many below ``high``.
    """
    before, within = 0, len(values)
    for _ in range(_TRIES):
        middle = low + (high - low) * np.float32(0.5)
        if within - before <= _FEW or not low < middle < high:
            break
        smaller = count_below(values, middle)
        if smaller < count:
            low, before = middle, smaller
        else:
            high, within = middle, smaller
    return low, high


@part
def _set_apart(low: Any, high: Any, scratch: Scratch) -> Any:
    """How many totals are below ``low``, and how many from there to below ``high``."""
    total_km, journey, rough_km = scratch.total_km, scratch.journey, scratch.rough_km
    before = found = 0
    for k in range(len(total_km)):
        total = total_km[k]
        journey[found], rough_km[found] = k, total  # without a branch to guess
        before += total < low
        found += (total >= low) & (total < high)
    return before, found


@part
def _keep(low: Any, high: Any, found: int, scratch: Scratch) -> Any:
    """Of those set apart, how many are below ``low``; the ones up to ``high`` are kept."""
    journey, rough_km = scratch.journey, scratch.rough_km
    kept = 0
    for k in range(found):
        journey[kept] = journey[k]
        kept += (rough_km[k] >= low) & (rough_km[k] <= high)
    return count_below(rough_km[:found], low), kept
