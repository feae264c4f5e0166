"""Many trajectories to reports, those of one length together."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nomadp.drawing import draw
from nomadp.laws import Ints
from nomadp.mechanisms.atlas.charts import chart_of
from nomadp.mechanisms.atlas.response import JourneyResponse
from nomadp.mechanisms.fast.compiling import is_compiled
from nomadp.trajectory import TrajectorySet

__all__ = ["by_length", "report_rows"]


def by_length(trajectories: TrajectorySet) -> Iterator[tuple[int, Ints]]:
    """Each length that occurs, and the trajectories that have it."""
    lengths = trajectories.lengths
    for length in np.unique(lengths).tolist():
        yield length, np.flatnonzero(lengths == length)


def report_rows(channel: JourneyResponse, places: Ints, words: NDArray[np.uint64]) -> Ints:
    """One report for each row of places, with the first word of its row."""
    if not is_compiled():
        # Without the accelerator numpy's own loops are faster than ours.
        drawn = [
            draw(channel, row, int(word[0])) for row, word in zip(places, words, strict=True)
        ]
        return np.array(drawn, dtype=np.int64)
    from nomadp.mechanisms.atlas.kernel import report_journeys

    law = channel.near_count, channel.heavy, channel.light
    reports = np.asarray(report_journeys(places, words, chart_of(channel.atlas), law))
    for row in np.flatnonzero(reports < 0):
        reports[row] = draw(channel, places[row], int(words[row, 0]))
    return reports
