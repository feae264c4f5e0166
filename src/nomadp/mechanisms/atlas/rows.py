"""Many trajectories to reports, those of one length together."""

from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from nomadp.drawing import draw
from nomadp.laws import Ints
from nomadp.mechanisms.atlas.response import JourneyResponse
from nomadp.mechanisms.bulk import tables_of
from nomadp.trajectory import TrajectorySet

__all__ = ["by_length", "report_rows"]


def by_length(trajectories: TrajectorySet) -> Iterator[tuple[int, Ints]]:
    """Each length that occurs, and the trajectories that have it."""
    lengths = trajectories.lengths
    for length in np.unique(lengths).tolist():
        yield length, np.flatnonzero(lengths == length)


def report_rows(channel: JourneyResponse, places: Ints, words: NDArray[np.uint64]) -> Ints:
    """One report for each row of places, with the first word of its row."""
    if find_spec("numba") is None:
        # Without the accelerator numpy's own loops are faster than ours.
        drawn = [
            draw(channel, row, int(word[0])) for row, word in zip(places, words, strict=True)
        ]
        return np.array(drawn, dtype=np.int64)
    from nomadp.mechanisms.kernels.journeys import report_journeys

    distance_km = tables_of(channel.atlas.locations).distance_km
    book = np.ascontiguousarray(channel.atlas.journeys.T)
    law = channel.near_count, channel.heavy, channel.light
    return np.asarray(report_journeys(places, words, distance_km, book, law))
