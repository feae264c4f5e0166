"""Rows of words for many trajectories at once, extended for those that need more words.

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
    """One word for each point: the first words of its trajectory's stream, in order."""
    lengths = trajectories.lengths
    words = np.empty(len(trajectories.locations), dtype=np.uint64)
    # All rows of a batch have the width of the longest one. Batches of similar lengths (up to a
    # factor of 2) generate at most about twice as many words as are used.
    size_class = 2 ** np.ceil(np.log2(lengths)).astype(np.int64)
    for size in np.unique(size_class):
        batch = np.flatnonzero(size_class == size)
        rows = randomness.rows(batch, int(lengths[batch].max()))
        has_point = np.arange(rows.shape[1]) < lengths[batch][:, None]
        words[_points_of(trajectories.offsets, batch)] = rows[has_point]
    return words


def draw_rows(
    run: Callable[[Batch, Drawn], None],
    trajectories: TrajectorySet,
    randomness: RandomSource,
    means: Ints,
    width: int = 64,
) -> Drawn:
    """Run a loop over all trajectories, and again with longer rows for those that need them.

    The first rows have ``width`` words. ``means`` are the indices of mean locations (ATP).
    """
    result = _empty_result(len(trajectories.locations), len(trajectories))
    pending = np.arange(len(trajectories))
    while len(pending):
        too_short = []
        for rows in _batches(pending, width):
            is_all = len(rows) == len(trajectories)
            batch = trajectories if is_all else trajectories.select(rows)
            drawn = _empty_result(len(batch.locations), len(batch))
            words = randomness.rows(rows, width)
            run(Batch(batch.offsets, batch.locations, words, means[rows]), drawn)
            where = _points_of(trajectories.offsets, rows)
            result.copies[:, where], result.coins[where] = drawn.copies, drawn.coins
            # A longer row begins with the same words, so running it again repeats all draws.
            # Drawing it with fresh words instead would favour outcomes that take few words.
            too_short.append(rows[drawn.used > width])
        pending, width = np.concatenate(too_short), 4 * width
    return result


def _batches(pending: Ints, width: int) -> list[Ints]:
    rows = max(1, _WORDS_MAX // width)
    return [pending[start : start + rows] for start in range(0, len(pending), rows)]


def _empty_result(points: int, trajectories: int) -> Drawn:
    def zeros(*shape: int) -> Ints:
        return np.zeros(shape, dtype=np.int64)

    return Drawn(zeros(2, points), zeros(points), zeros(trajectories))


def _points_of(offsets: Ints, chosen: Ints) -> Ints:
    """The indices of the points of the chosen trajectories."""
    lengths = np.diff(offsets)[chosen]
    before = np.cumsum(lengths) - lengths
    return np.repeat(offsets[chosen] - before, lengths) + np.arange(lengths.sum())
