"""ATLAS: which journeys count as near to each possible truth."""

from typing import Any

import numpy as np

from nomadp.mechanisms.atlas.kernel_search import mark_near, scratch_for
from nomadp.mechanisms.atlas.kernel_values import Chart
from nomadp.mechanisms.fast.compiling import kernel

__all__ = ["near_journeys"]


@kernel
def near_journeys(places: Any, chart: Chart, near_count: int) -> Any:
    """The ``near_count`` nearest rows of the atlas to each row of places, in their order.

    Ties go to the lower row. A row that begins with -1 is one the reference must find.
    """
    size = chart.book.shape[1]
    near = np.empty((len(places), near_count), dtype=np.int32)
    scratch = scratch_for(size)
    for k in range(len(places)):
        limit, decided = mark_near(places[k], near_count, chart, scratch)
        found = 0
        for journey in range(size):
            if scratch.total_km[journey] < limit:
                near[k, found] = journey
                found += 1
        if not decided:
            near[k, 0] = -1
    return near
