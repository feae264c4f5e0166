"""EXP: every point on its own, over a set of any size."""

import numpy as np

from nomadp.geometry import Floats, Places, distance_km
from nomadp.laws import Ints
from nomadp.mechanisms.fast.arrays import below_and_rest, weights
from nomadp.mechanisms.fast.values import Balls, Batch, Drawn

__all__ = ["independent_points"]


def independent_points(batch: Batch, balls: Balls, law: Floats, drawn: Drawn) -> None:
    """As the kernel: ``law`` holds (scale, ceiling) by length.

    A proposal takes one word, whoever makes it. So the k-th proposals of all trajectories are
    made together, each for the point at which its trajectory has arrived.
    """
    width, size = batch.words.shape[1], len(balls.rows)
    point, end = batch.offsets[:-1].copy(), batch.offsets[1:]
    scale, ceiling = law[end - point, 0], law[end - point, 1].astype(np.int64)
    drawn.copies[0] = 0
    drawn.used[:] = width + 1
    pending = np.arange(len(point))
    for k in range(width):
        proposed, threshold = below_and_rest(batch.words[pending, k], size, ceiling[pending])
        apart_km = _apart_km(balls.rows, batch.locations[point[pending]], proposed)
        accepted = threshold < weights(apart_km, scale[pending], ceiling[pending])
        arrived = pending[accepted]
        drawn.copies[0, point[arrived]] = proposed[accepted]
        point[arrived] += 1
        drawn.used[arrived[point[arrived] == end[arrived]]] = k + 1
        pending = pending[point[pending] < end[pending]]
        if not len(pending):
            return


def _apart_km(rows: Floats, here: Ints, there: Ints) -> Floats:
    return distance_km(Places(*rows[here].T), Places(*rows[there].T))
