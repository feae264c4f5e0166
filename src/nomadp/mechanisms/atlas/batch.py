"""The fast path of ATLAS: trajectories of one length together, bit for bit as one by one."""

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

_PAIRS_AT_ONCE = 2**22  # of a trajectory and a codeword or a point, in memory


def draw_many(
    mechanism: Atlas, trajectories: TrajectorySet, randomness: RandomSource
) -> Reported:
    numbers = np.empty(len(trajectories), dtype=np.int64)
    locations = np.empty(len(trajectories.locations), dtype=np.int64)
    for length, rows in by_length(trajectories):
        channel = mechanism.channel(length)
        positions = control_positions(length, channel.atlas.length)
        step = rows_at_once(_PAIRS_AT_ONCE, max(channel.size, length))
        for batch in np.split(rows, range(step, len(rows), step)):
            where = trajectories.offsets[batch] + np.arange(length)[:, None]
            weights = channel.weights(trajectories.locations[where[positions]])
            # Inverse transform sampling, as in `Channel.draw`: one word for each trajectory.
            target = high_product(randomness.rows(batch, 1)[:, 0], channel.total)
            numbers[batch] = (np.cumsum(weights, axis=1) <= target[:, None]).sum(axis=1)
            control = channel.atlas.codewords[numbers[batch]].T
            locations[where] = interpolated(mechanism.locations, control, length)
    return Reported(locations, numbers)
