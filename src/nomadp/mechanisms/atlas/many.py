"""ATLAS, many trajectories at once: those of one length together."""

import numpy as np

from nomadp.drawing import high_product
from nomadp.mechanisms.atlas.long import control_positions, interpolated
from nomadp.mechanisms.atlas.mechanism import Atlas
from nomadp.mechanisms.base import Reported
from nomadp.mechanisms.fast.limits import rows_at_once
from nomadp.randomness import RandomSource
from nomadp.sequences import by_length
from nomadp.trajectory import TrajectorySet

__all__ = ["draw_many"]

_PAIRS_AT_ONCE = 2**22  # of a trajectory and a journey, or a point


def draw_many(
    mechanism: Atlas, trajectories: TrajectorySet, randomness: RandomSource
) -> Reported:
    numbers = np.empty(len(trajectories), dtype=np.int64)
    locations = np.empty(len(trajectories.locations), dtype=np.int64)
    for length, these in by_length(trajectories):
        channel = mechanism.channel(length)
        positions = control_positions(length, channel.atlas.length)
        step = rows_at_once(_PAIRS_AT_ONCE, max(channel.size, length))
        for some in np.split(these, range(step, len(these), step)):
            where = trajectories.offsets[some] + np.arange(length)[:, None]
            weights = channel.weights(trajectories.locations[where[positions]])
            target = high_product(randomness.rows(some, 1)[:, 0], channel.total)
            numbers[some] = (np.cumsum(weights, axis=1) <= target[:, None]).sum(axis=1)
            control = channel.atlas.codewords[numbers[some]].T
            locations[where] = interpolated(mechanism.locations, control, length)
    return Reported(locations, numbers)
