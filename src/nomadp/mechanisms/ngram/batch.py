"""The fast path of NGRAM: trajectories of one length together, bit for bit as one by one.

Every value is the one that the reference program draws from the same word, in the same order.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from nomadp.drawing import high_product
from nomadp.laws import Ints
from nomadp.mechanisms.base import Reported
from nomadp.mechanisms.fast.arrays import Words, leading
from nomadp.mechanisms.fast.limits import rows_at_once
from nomadp.mechanisms.ngram.mechanism import Ngram
from nomadp.randomness import RandomSource
from nomadp.sequences import by_length
from nomadp.trajectory import TrajectorySet

__all__ = ["draw_many"]

_PAIRS_AT_ONCE = 2**20  # of regions, in memory where some steps are impossible


class Grams(NamedTuple):
    """The laws of regions as cumulative weights, for trajectories of one length."""

    mechanism: Ngram
    ends: Ints  # (regions, regions)
    steps: Ints  # (pairs, possible pairs); the pair from i to j is i * regions + j


def draw_many(
    mechanism: Ngram, trajectories: TrajectorySet, randomness: RandomSource
) -> Reported:
    reported = np.empty(len(trajectories.locations), dtype=np.int64)
    region = mechanism.regions.of[trajectories.locations]
    for length, rows in by_length(trajectories):
        where = trajectories.offsets[rows][:, None] + np.arange(length)
        # length + 1 words for regions, length for coins and length for locations.
        words = randomness.rows(rows, 3 * length + 1)
        reported[where] = _points(region[where], words, _grams(mechanism, length))
    return Reported(reported, None)


@lru_cache(maxsize=8)
def _grams(mechanism: Ngram, length: int) -> Grams:
    """The laws at this length as tables: half a megabyte with 16 regions, 13 with 36."""
    regions, share = mechanism.regions, mechanism.split(length).shares()["end"]
    end, step = mechanism._end_law(share), mechanism._step_law(share)  # equal shares
    return Grams(
        mechanism,
        ends=np.cumsum(end.weights(np.arange(len(regions))), axis=1),
        steps=np.cumsum(step.weights(np.arange(len(regions) ** 2)), axis=1),
    )


def _points(regions: Ints, words: Words, grams: Grams) -> Ints:
    """Locations for rows of regions, (n, length), each row with its own row of words."""
    length = regions.shape[1]
    if length == 1:
        chosen, used = _picked(grams.ends, regions, words[:, :1]), 1
    else:
        chosen, used = _reconciled(regions, words, grams), 2 * length + 1
    public = grams.mechanism.regions
    index = high_product(words[:, used : used + length], public.sizes[chosen])
    points: Ints = public.members[chosen, index]
    return points


def _picked(cumulative: Ints, secrets: Ints, words: Words) -> Ints:
    """The column that each word picks, in the row of cumulative weights of each secret."""
    secret, last = secrets.reshape(-1), cumulative.shape[1] - 1
    target = high_product(words.reshape(-1), cumulative[secret, -1])
    picked = leading(lambda at: cumulative[secret, at] <= target, len(secret), last)
    return picked.reshape(secrets.shape)


def _reconciled(regions: Ints, words: Words, grams: Grams) -> Ints:
    """One region for each position, from the two that were drawn for it."""
    mechanism, length = grams.mechanism, regions.shape[1]
    possible, count = mechanism._pairs[1], len(mechanism.regions)
    ends = _picked(grams.ends, regions[:, [0, -1]], words[:, [0, length]])
    pairs = regions[:, :-1] * count + regions[:, 1:]
    steps = possible[_picked(grams.steps, pairs, words[:, 1:length])]
    # Two regions for each position: from the draw that leads to it, and from the next one.
    before = np.concatenate([ends[:, :1], steps % count], axis=1)
    after = np.concatenate([steps // count, ends[:, 1:]], axis=1)
    coins = high_product(words[:, length + 1 : 2 * length + 1], 2)
    tossed = np.where(coins == 1, after, before)
    if mechanism._possible.all():
        return tossed
    rows = rows_at_once(_PAIRS_AT_ONCE, count**2)
    for start in range(0, len(tossed), rows):
        batch = slice(start, start + rows)
        path = mechanism._possible_path(before[batch].T, after[batch].T, tossed[batch].T)
        tossed[batch] = np.stack(path, axis=1)
    return tossed
