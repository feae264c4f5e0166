"""NGRAM, many trajectories at once: those of one length together.

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

_AT_ONCE = 2**20  # pairs of regions looked at together where steps are blocked


class Grams(NamedTuple):
    """The laws of regions as cumulated weights, for trajectories of one length."""

    mechanism: Ngram
    ends: Ints  # (regions, regions)
    steps: Ints  # (pairs, possible pairs), a pair being from * regions + to


def draw_many(
    mechanism: Ngram, trajectories: TrajectorySet, randomness: RandomSource
) -> Reported:
    reported = np.empty(len(trajectories.locations), dtype=np.int64)
    region = mechanism.regions.of[trajectories.locations]
    for length, these in by_length(trajectories):
        where = trajectories.offsets[these][:, None] + np.arange(length)
        rows = randomness.rows(these, 3 * length + 1)  # regions, coins, locations
        reported[where] = _points(region[where], rows, _grams(mechanism, length))
    return Reported(reported, None)


@lru_cache(maxsize=8)
def _grams(mechanism: Ngram, length: int) -> Grams:
    """The laws at this length as tables: half a megabyte with 16 regions, 13 with 36."""
    regions, share = mechanism.regions, mechanism.split(length).shares()["end"]
    end, step = mechanism._end_law(share), mechanism._step_law(share)  # a step's is the same
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


def _picked(cumulated: Ints, secrets: Ints, words: Words) -> Ints:
    """The column that each word picks, in the row of cumulated weights of each secret."""
    secret, last = secrets.reshape(-1), cumulated.shape[1] - 1
    target = high_product(words.reshape(-1), cumulated[secret, -1])
    picked = leading(lambda at: cumulated[secret, at] <= target, len(secret), last)
    return picked.reshape(secrets.shape)


def _reconciled(regions: Ints, words: Words, grams: Grams) -> Ints:
    """One region for each position, of the two drawn for it."""
    mechanism, length = grams.mechanism, regions.shape[1]
    possible, count = mechanism._pairs[1], len(mechanism.regions)
    ends = _picked(grams.ends, regions[:, [0, -1]], words[:, [0, length]])
    pairs = regions[:, :-1] * count + regions[:, 1:]
    steps = possible[_picked(grams.steps, pairs, words[:, 1:length])]
    # By what leads to a position, and by what follows it.
    before = np.concatenate([ends[:, :1], steps % count], axis=1)
    after = np.concatenate([steps // count, ends[:, 1:]], axis=1)
    coins = high_product(words[:, length + 1 : 2 * length + 1], 2)
    tossed = np.where(coins == 1, after, before)
    if mechanism._possible.all():
        return tossed
    rows = rows_at_once(_AT_ONCE, count**2)
    for start in range(0, len(tossed), rows):
        some = slice(start, start + rows)
        way = mechanism._possible_way(before[some].T, after[some].T, tossed[some].T)
        tossed[some] = np.stack(way, axis=1)
    return tossed
