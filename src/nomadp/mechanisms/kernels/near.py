"""ATLAS: which journeys count as near to each possible truth."""

from typing import Any

import numpy as np

from nomadp.mechanisms.kernels.compiling import kernel
from nomadp.mechanisms.kernels.journeys import kth_smallest

__all__ = ["near_journeys"]


@kernel
def near_journeys(places: Any, distance_km: Any, book: Any, near_count: int) -> Any:
    """The ``near_count`` nearest rows of the atlas to each row of places, in their order.

    ``book`` holds the atlas by position, (length, size). Ties go to the lower row.
    """
    size = book.shape[1]
    near = np.empty((len(places), near_count), dtype=np.int32)
    total_km = np.empty(size)
    for k in range(len(places)):
        total_km[:] = 0.0
        for position in range(places.shape[1]):
            row_km, column = distance_km[places[k, position]], book[position]
            for journey in range(size):
                total_km[journey] += row_km[column[journey]]
        limit, closer = kth_smallest(total_km, near_count)
        tied_near = near_count - closer
        found = 0
        for journey in range(size):
            if total_km[journey] > limit:
                continue
            if total_km[journey] == limit:
                if tied_near == 0:
                    continue
                tied_near -= 1
            near[k, found] = journey
            found += 1
    return near
