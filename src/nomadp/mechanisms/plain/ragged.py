"""Lists of unequal length, one after the other."""

from itertools import pairwise

import numpy as np

from nomadp.laws import Ints

__all__ = ["pieces", "runs"]


def runs(start: Ints, size: Ints) -> tuple[Ints, Ints]:
    """The numbers of each run, from its start on, and which run each belongs to."""
    owner = np.repeat(np.arange(len(size)), size)
    begin = np.cumsum(size) - size
    return (start - begin)[owner] + np.arange(len(owner)), owner


def pieces(sizes: Ints, most: int) -> list[slice]:
    """Consecutive lists of about ``most`` entries together, or of one list that has more."""
    if not len(sizes):
        return []
    group = (np.cumsum(sizes) - sizes) // most
    bounds = [0, *(np.flatnonzero(np.diff(group)) + 1).tolist(), len(sizes)]
    return [slice(a, b) for a, b in pairwise(bounds)]
