"""NGRAM: regions, steps between them, their reconciliation and a location of each."""

from typing import TYPE_CHECKING

import numpy as np

from nomadp.laws import Ints
from nomadp.mechanisms.fast.arrays import Words, below, leading
from nomadp.mechanisms.ngram.viterbi import cheapest_way

if TYPE_CHECKING:
    from nomadp.mechanisms.ngram.kernel import Grams

__all__ = ["ngram_points"]

_AT_ONCE = 2**20  # pairs of regions looked at together where steps are blocked


def ngram_points(regions: Ints, words: Words, grams: "Grams", out: Ints) -> None:
    """Locations for rows of regions, (n, length), each row with its own row of words."""
    length = regions.shape[1]
    if length == 1:
        chosen, used = _picked(grams.ends, regions, words[:, :1]), 1
    else:
        chosen, used = _reconciled(regions, words, grams), 2 * length + 1
    index = below(words[:, used : used + length], grams.sizes[chosen])
    out[:] = grams.members[chosen, index]


def _picked(cumulated: Ints, secrets: Ints, words: Words) -> Ints:
    """The column that each word picks, in the row of cumulated weights of each secret."""
    secret, last = secrets.reshape(-1), cumulated.shape[1] - 1
    target = below(words.reshape(-1), cumulated[secret, -1])
    picked = leading(lambda at: cumulated[secret, at] <= target, len(secret), last)
    return picked.reshape(secrets.shape)


def _reconciled(regions: Ints, words: Words, grams: "Grams") -> Ints:
    """One region for each position, of the two drawn for it."""
    length, count = regions.shape[1], len(grams.sizes)
    ends = _picked(grams.ends, regions[:, [0, -1]], words[:, [0, length]])
    pairs = regions[:, :-1] * count + regions[:, 1:]
    steps = grams.possible[_picked(grams.steps, pairs, words[:, 1:length])]
    # By what leads to a position, and by what follows it.
    before = np.concatenate([ends[:, :1], steps % count], axis=1)
    after = np.concatenate([steps // count, ends[:, 1:]], axis=1)
    coins = below(words[:, length + 1 : 2 * length + 1], 2)
    tossed = np.where(coins == 1, after, before)
    if not grams.blocked.max() > 0:
        return tossed
    rows = max(1, _AT_ONCE // count**2)
    for start in range(0, len(tossed), rows):
        some = slice(start, start + rows)
        tossed[some] = _possible_way(before[some], after[some], tossed[some], grams)
    return tossed


def _possible_way(before: Ints, after: Ints, tossed: Ints, grams: "Grams") -> Ints:
    """The possible regions nearest to those drawn, and to the coins' where that is a tie."""
    between, every = grams.between_km, np.arange(len(grams.sizes))
    costs_km = [
        between[a] + between[b] + grams.tie_km * (every != region[:, None])
        for a, b, region in zip(before.T, after.T, tossed.T, strict=True)
    ]
    return np.stack(cheapest_way(costs_km, grams.blocked == 0), axis=1)
