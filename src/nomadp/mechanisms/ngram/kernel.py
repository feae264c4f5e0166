"""NGRAM: regions, steps between them, their reconciliation and a location of each.

Every value is the one that the reference draws from the same word, in the same order.
"""

from typing import Any, NamedTuple

import numpy as np

from nomadp.mechanisms.fast.compiling import kernel, part
from nomadp.mechanisms.fast.draws import below

__all__ = ["Grams", "ngram_points"]


class Grams(NamedTuple):
    """What is public about the regions, for trajectories of one length."""

    ends: Any  # (regions, regions): weights of an end, cumulated
    steps: Any  # (pairs, possible pairs): those of a step
    possible: Any  # the pairs that a step may be, as from * regions + to
    blocked: Any  # (regions, regions): 0 where a step is possible, else inf
    between_km: Any  # (regions, regions)
    tie_km: float  # what following the coin is worth
    sizes: Any
    members: Any  # (regions, largest)


@kernel
def ngram_points(regions: Any, words: Any, grams: Grams, out: Any) -> None:
    """Locations for rows of regions, (n, length), each row with its own row of words."""
    length, count = regions.shape[1], len(grams.sizes)
    covered = np.empty((2, length), dtype=np.int64)
    chosen = np.empty(length, dtype=np.int64)
    costs, came_from = np.empty((length, count)), np.empty((length, count), dtype=np.int64)
    has_blocked = grams.blocked.max() > 0
    for k in range(len(regions)):
        if length == 1:
            chosen[0] = _picked(grams.ends[regions[k, 0]], words[k], 0)
            used = 1
        else:
            _cover(regions[k], words[k], grams, covered)
            for i in range(length):
                chosen[i] = covered[below(words[k], length + 1 + i, 2), i]
            used = 2 * length + 1
            if has_blocked:
                _costs(covered, chosen, grams, costs)
                _cheapest_way(costs, grams.blocked, came_from, chosen)
        for i in range(length):
            index = below(words[k], used + i, grams.sizes[chosen[i]])
            out[k, i] = grams.members[chosen[i], index]


@part
def _picked(cumulated: Any, words: Any, used: int) -> Any:
    """The column that the next word picks."""
    target = below(words, used, cumulated[-1])
    low, high = 0, len(cumulated) - 1
    while low < high:
        middle = (low + high) // 2
        if cumulated[middle] <= target:
            low = middle + 1
        else:
            high = middle
    return low


@part
def _cover(region: Any, words: Any, grams: Grams, covered: Any) -> None:
    """The two regions drawn for every position: by what leads to it, and by what follows."""
    length, count = len(region), len(grams.sizes)
    covered[0, 0] = _picked(grams.ends[region[0]], words, 0)
    for i in range(length - 1):
        secret = region[i] * count + region[i + 1]
        step = grams.possible[_picked(grams.steps[secret], words, i + 1)]
        covered[1, i], covered[0, i + 1] = step // count, step % count
    covered[1, length - 1] = _picked(grams.ends[region[length - 1]], words, length)


@part
def _costs(covered: Any, tossed: Any, grams: Grams, costs: Any) -> None:
    for i in range(len(tossed)):
        for region in range(costs.shape[1]):
            tie_km = grams.tie_km if region != tossed[i] else 0.0
            to_first = grams.between_km[covered[0, i], region]
            costs[i, region] = to_first + grams.between_km[covered[1, i], region] + tie_km


@part
def _cheapest_way(costs: Any, blocked: Any, came_from: Any, way: Any) -> None:
    """The region at each position with the smallest total over possible steps (Viterbi)."""
    length, count = costs.shape
    for i in range(1, length):
        for region in range(count):
            best, via = np.inf, 0
            for before in range(count):
                total = costs[i - 1, before] + blocked[before, region]
                if total < best:
                    best, via = total, before
            costs[i, region] += best
            came_from[i, region] = via
    last = 0
    for region in range(count):
        if costs[length - 1, region] < costs[length - 1, last]:
            last = region
    for i in range(length - 1, -1, -1):
        way[i] = last
        last = came_from[i, last]
