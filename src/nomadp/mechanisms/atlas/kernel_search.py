"""ATLAS: which journeys count as near to a trajectory: exactly those of the reference.

Rough totals leave few journeys in doubt. Those are measured: with a table of distances by the
very sums of the reference, in a large set by its operations up to the last bits of an
arctangent. Where those bits could decide, the search says so and the reference decides.
"""

from typing import Any

import numpy as np

from nomadp.mechanisms.atlas.kernel_rough import rough_totals
from nomadp.mechanisms.atlas.kernel_select import doubtful
from nomadp.mechanisms.atlas.kernel_values import Chart, Scratch
from nomadp.mechanisms.fast.compiling import kernel, part
from nomadp.mechanisms.large.pairs import km_between

__all__ = ["kth_smallest", "mark_near", "scratch_for"]

_BINS = 1024
_SAMPLED = 2048  # from this size on a sample tells roughly where the limit is
_EVERY = 17  # odd: the scales of an atlas take turns in fours


@kernel
def scratch_for(size: int) -> Scratch:
    """Where to search an atlas of this size."""
    return Scratch(
        np.empty(size, dtype=np.float32),
        np.empty(size // _EVERY if size >= _SAMPLED else 0, dtype=np.float32),
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.float32),
        np.empty(size, dtype=np.float64),
    )


@kernel
def mark_near(places: Any, near_count: int, chart: Chart, scratch: Scratch) -> Any:
    """The limit below which ``scratch.total_km`` is that of a near journey; is it decided?

    Afterwards exactly ``near_count`` totals are below the limit, ties by index.
    """
    rough_totals(places, chart, scratch.total_km)
    for k in range(len(scratch.sample_km)):
        scratch.sample_km[k] = scratch.total_km[_EVERY * k]
    limit, sure, found = doubtful(near_count, chart, scratch)
    missing = near_count - sure
    if missing == found:
        for k in range(found):
            scratch.total_km[scratch.journey[k]] = -np.inf
        return limit, True
    _measure(places, chart, scratch, found)
    limit_km, closer = kth_smallest(scratch.exact_km[:found], missing)
    tied = missing - closer
    for k in range(found):
        near = scratch.exact_km[k] < limit_km
        if scratch.exact_km[k] == limit_km and tied > 0:
            near, tied = True, tied - 1
        scratch.total_km[scratch.journey[k]] = -np.inf if near else np.inf
    return limit, chart.blur_km == 0 or _is_decided(limit_km, (missing, found), chart, scratch)


@part
def _measure(places: Any, chart: Chart, scratch: Scratch, found: int) -> None:
    """The exact totals of the doubtful journeys, added up in the reference's order."""
    for k in range(found):
        journey, total_km = scratch.journey[k], 0.0
        for position in range(len(places)):
            here, there = places[position], chart.book[position, journey]
            if len(chart.table_km):
                total_km += chart.table_km[here, there]
            else:
                total_km += km_between(chart.rows, here, there)
        scratch.exact_km[k] = total_km


@part
def _is_decided(limit_km: float, counts: Any, chart: Chart, scratch: Scratch) -> bool:
    """Whether the reference, with totals a hair off, must find the same journeys near.

    It must where as many are close to the limit as are missing, or where these all go through
    the same places: then it sees a tie as well.
    """
    missing, found = counts
    closer, close, first = 0, 0, -1
    same = True
    for k in range(found):
        if scratch.exact_km[k] < limit_km - 2 * chart.blur_km:
            closer += 1
        elif scratch.exact_km[k] <= limit_km + 2 * chart.blur_km:
            close += 1
            first = scratch.journey[k] if first < 0 else first
            same = same and _same_places(chart, first, scratch.journey[k])
    return same or closer + close == missing


@part
def _same_places(chart: Chart, one: int, other: int) -> bool:
    for position in range(len(chart.book)):
        here, there = chart.book[position, one], chart.book[position, other]
        for column in range(chart.rows.shape[1]):
            if chart.rows[here, column] != chart.rows[there, column]:
                return False
    return True


@kernel
def kth_smallest(values: Any, k: int) -> Any:
    """The k-th smallest value, counted from 1, and how many are smaller still.

    Values are counted into bins; only the bin that holds the k-th is sorted.
    """
    low = high = values[0]
    for value in values:
        low, high = min(low, value), max(high, value)
    if low == high:
        return low, 0
    scale = (_BINS - 1) / (high - low)
    counts = np.zeros(_BINS, dtype=np.int64)
    for value in values:
        counts[int((value - low) * scale)] += 1
    chosen = before = 0
    while before + counts[chosen] < k:
        before += counts[chosen]
        chosen += 1
    inside = np.empty(counts[chosen])
    found = 0
    for value in values:
        if int((value - low) * scale) == chosen:
            inside[found] = value
            found += 1
    inside.sort()
    limit = inside[k - 1 - before]
    return limit, before + np.searchsorted(inside, limit)
