"""ATLAS: which journey each trajectory reports."""

from typing import Any

import numpy as np

from nomadp.mechanisms.kernels.compiling import kernel
from nomadp.mechanisms.kernels.draws import below

__all__ = ["kth_smallest", "report_journeys"]

_BINS = 1024


@kernel
def report_journeys(places: Any, words: Any, distance_km: Any, book: Any, law: Any) -> Any:
    """The reported row of the atlas for each row of places, with one word each.

    ``book`` holds the atlas by position, (length, size); ``law`` is (near_count, heavy, light).
    """
    near_count, heavy, light = law
    size = book.shape[1]
    reported = np.empty(len(places), dtype=np.int64)
    total_km = np.empty(size)
    for k in range(len(places)):
        row_km, column = distance_km[places[k, 0]], book[0]
        for journey in range(size):
            total_km[journey] = row_km[column[journey]]
        for position in range(1, places.shape[1]):
            row_km, column = distance_km[places[k, position]], book[position]
            for journey in range(size):
                total_km[journey] += row_km[column[journey]]
        target = below(words[k], 0, near_count * heavy + (size - near_count) * light)
        reported[k] = _pick(total_km, target, law)
    return reported


@kernel
def _pick(total_km: Any, target: int, law: Any) -> int:
    """The cell of the cumulated weights that ``target`` falls into."""
    near_count, heavy, light = law
    limit, closer = kth_smallest(total_km, near_count)
    tied_near = near_count - closer
    reached = 0
    for journey in range(len(total_km)):
        near = total_km[journey] < limit
        if total_km[journey] == limit and tied_near > 0:
            near = True
            tied_near -= 1
        reached += light + near * (heavy - light)
        if target < reached:
            return journey
    return len(total_km) - 1


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
