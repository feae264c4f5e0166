"""Rows of words for many trajectories at once, as long as their draws turn out to need.

The laws are those of the reference program. The exponential law uses words differently, so the
same words give different reports here, with the same distribution.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from nomadp.laws import Ints, heaviest
from nomadp.laws.channel import UNIT
from nomadp.mechanisms.fast.values import Batch, Drawn
from nomadp.randomness import RandomSource
from nomadp.trajectory import TrajectorySet

__all__ = ["ceiling", "draw_rows", "point_words"]

_WORDS_MAX = 2**22  # in memory at a time: longer rows for fewer trajectories


def ceiling(share: Fraction) -> int:
    """The largest weight of the exponential law at this share."""
    return heaviest(UNIT, share / 2)


def point_words(trajectories: TrajectorySet, randomness: RandomSource) -> NDArray[np.uint64]:
    """One word for each point: the words its trajectory would have alone, in their order."""
    lengths = trajectories.lengths
    found = np.empty(len(trajectories.locations), dtype=np.uint64)
    # Rows are as wide as the longest of them: short trajectories do not pay for long ones.
    width = 2 ** np.ceil(np.log2(lengths)).astype(np.int64)
    for one in np.unique(width):
        these = np.flatnonzero(width == one)
        rows = randomness.rows(these, int(lengths[these].max()))
        has_point = np.arange(rows.shape[1]) < lengths[these][:, None]
        found[_points_of(trajectories.offsets, these)] = rows[has_point]
    return found


def draw_rows(
    run: Callable[[Batch, Drawn], None],
    trajectories: TrajectorySet,
    randomness: RandomSource,
    means: Ints,
    width: int = 64,
) -> Drawn:
    """Run a loop over all trajectories, and again with longer rows for those that need them.

    Rows begin with ``width`` words.
    """
    result = _nothing_drawn(len(trajectories.locations), len(trajectories))
    pending = np.arange(len(trajectories))
    while len(pending):
        short = []
        for these in _batches(pending, width):
            whole = len(these) == len(trajectories)
            some = trajectories if whole else trajectories.select(these)
            drawn = _nothing_drawn(len(some.locations), len(some))
            row = randomness.rows(these, width)
            run(Batch(some.offsets, some.locations, row, means[these]), drawn)
            where = _points_of(trajectories.offsets, these)
            result.copies[:, where], result.coins[where] = drawn.copies, drawn.coins
            # A longer row begins with the same words, so running it again repeats all draws.
            short.append(these[drawn.used > width])
        pending, width = np.concatenate(short), 4 * width
    return result


def _batches(pending: Ints, width: int) -> list[Ints]:
    rows = max(1, _WORDS_MAX // width)
    return [pending[start : start + rows] for start in range(0, len(pending), rows)]


def _nothing_drawn(points: int, trajectories: int) -> Drawn:
    def zeros(*shape: int) -> Ints:
        return np.zeros(shape, dtype=np.int64)

    return Drawn(zeros(2, points), zeros(points), zeros(trajectories))


def _points_of(offsets: Ints, chosen: Ints) -> Ints:
    """Where the points of these trajectories stand."""
    lengths = np.diff(offsets)[chosen]
    before = np.cumsum(lengths) - lengths
    return np.repeat(offsets[chosen] - before, lengths) + np.arange(lengths.sum())
