"""ATLAS, many trajectories at once: those of one length together."""

import numpy as np
from numpy.typing import NDArray

from nomadp.drawing import high_product
from nomadp.laws import Ints
from nomadp.mechanisms.atlas.long import control_positions, interpolated
from nomadp.mechanisms.atlas.mechanism import WholeJourney
from nomadp.mechanisms.atlas.response import JourneyResponse
from nomadp.mechanisms.base import Reported
from nomadp.randomness import Words
from nomadp.sequences import by_length
from nomadp.trajectory import TrajectorySet

__all__ = ["draw_many"]

_PAIRS_AT_ONCE = 2**22  # of a trajectory and a journey


def draw_many(mechanism: WholeJourney, trajectories: TrajectorySet, words: Words) -> Reported:
    numbers = np.empty(len(trajectories), dtype=np.int64)
    locations = np.empty(len(trajectories.locations), dtype=np.int64)
    for length, these in by_length(trajectories):
        channel = mechanism.channel(length)
        positions = control_positions(length, channel.atlas.length)
        places = trajectories.locations[trajectories.offsets[these][:, None] + positions]
        word = words.rows(these, 1)[:, 0]
        step = max(1, _PAIRS_AT_ONCE // channel.atlas.size)
        for start in range(0, len(these), step):
            some = slice(start, start + step)
            numbers[these[some]] = _rows(channel, places[some], word[some])
        control = channel.atlas.journeys[numbers[these]].T
        where = trajectories.offsets[these] + np.arange(length)[:, None]
        locations[where] = np.stack(interpolated(mechanism.locations, control, length))
    return Reported(locations, numbers)


def _rows(channel: JourneyResponse, places: Ints, words: NDArray[np.uint64]) -> Ints:
    """One report for each row of places, bit for bit that of `draw`."""
    target = high_product(words, channel.total)
    reached = np.cumsum(channel.weights(places.T), axis=1)
    return np.asarray((reached <= target[:, None]).sum(axis=1), dtype=np.int64)
