"""The cheapest way through states of which not every one may follow every other."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["cheapest_way"]


def cheapest_way(costs: list[NDArray[np.float64]], possible: NDArray[np.bool_]) -> list[Any]:
    """The state at each position with the smallest total cost over possible steps (Viterbi)."""
    blocked = np.where(possible, 0.0, np.inf)
    best, came_from = costs[0], []
    for cost in costs[1:]:
        total = best[..., :, None] + blocked
        came_from.append(total.argmin(axis=-2))
        best = total.min(axis=-2) + cost
    way = [best.argmin(axis=-1)]
    for back in reversed(came_from):
        way.append(np.take_along_axis(back, way[-1][..., None], axis=-1)[..., 0])
    return way[::-1]
