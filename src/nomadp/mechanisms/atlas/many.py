"""ATLAS, many trajectories at once: those of one length together."""

import numpy as np
from numpy.typing import NDArray

from nomadp.drawing import draw
from nomadp.laws import Ints
from nomadp.mechanisms.atlas.charts import chart_of
from nomadp.mechanisms.atlas.long import control_positions, interpolated
from nomadp.mechanisms.atlas.mechanism import WholeJourney
from nomadp.mechanisms.atlas.response import JourneyResponse
from nomadp.mechanisms.base import Reported
from nomadp.randomness import Words
from nomadp.sequences import by_length
from nomadp.trajectory import TrajectorySet

__all__ = ["draw_many"]


def draw_many(mechanism: WholeJourney, trajectories: TrajectorySet, words: Words) -> Reported:
    numbers = np.empty(len(trajectories), dtype=np.int64)
    locations = np.empty(len(trajectories.locations), dtype=np.int64)
    for length, these in by_length(trajectories):
        channel = mechanism.channel(length)
        positions = control_positions(length, mechanism.control_points)
        places = trajectories.locations[trajectories.offsets[these][:, None] + positions]
        numbers[these] = _rows(channel, places, words.rows(these, 1))
        control = channel.atlas.journeys[numbers[these]].T
        where = trajectories.offsets[these] + np.arange(length)[:, None]
        locations[where] = np.stack(interpolated(mechanism.locations, control, length))
    return Reported(locations, numbers)


def _rows(channel: JourneyResponse, places: Ints, words: NDArray[np.uint64]) -> Ints:
    """One report for each row of places, with the first word of its row."""
    from nomadp.mechanisms.atlas.kernel import report_journeys

    law = channel.near_count, channel.heavy, channel.light
    reports = np.asarray(report_journeys(places, words, chart_of(channel.atlas), law))
    for row in np.flatnonzero(reports < 0):
        reports[row] = draw(channel, places[row], int(words[row, 0]))
    return reports
