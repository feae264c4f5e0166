"""ATLAS: which journey each trajectory reports."""

from typing import Any

import numpy as np

from nomadp.mechanisms.atlas.kernel_rough import count_below
from nomadp.mechanisms.atlas.kernel_search import mark_near, scratch_for
from nomadp.mechanisms.atlas.kernel_values import Chart
from nomadp.mechanisms.fast.compiling import kernel, part
from nomadp.mechanisms.fast.draws import below

__all__ = ["pick", "report_journeys"]

_BLOCK = 128  # journeys whose weights are added at once


@kernel
def report_journeys(places: Any, words: Any, chart: Chart, law: Any) -> Any:
    """The reported row of the atlas for each row of places, with one word each.

    ``law`` is (near_count, heavy, light). A row of -1 is one the reference must draw.
    """
    near_count, heavy, light = law
    size = chart.book.shape[1]
    total = near_count * heavy + (size - near_count) * light
    reported = np.empty(len(places), dtype=np.int64)
    scratch = scratch_for(size)
    for k in range(len(places)):
        limit, decided = mark_near(places[k], near_count, chart, scratch)
        reported[k] = (
            pick(below(words[k], 0, total), limit, law, scratch.total_km) if decided else -1
        )
    return reported


@part
def pick(target: int, limit: float, law: Any, total_km: Any) -> int:
    """The cell of the cumulated weights that ``target`` falls into."""
    _, heavy, light = law
    size, reached = len(total_km), 0
    for start in range(0, size, _BLOCK):
        some_km = total_km[start : start + _BLOCK]
        after = reached + len(some_km) * light + count_below(some_km, limit) * (heavy - light)
        if target < after:
            for k in range(len(some_km)):
                reached += heavy if some_km[k] < limit else light
                if target < reached:
                    return start + k
        reached = after
    return size - 1
