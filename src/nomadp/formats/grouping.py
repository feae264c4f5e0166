"""Rows that belong together, numbered by appearance."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["grouped", "split_at_gaps"]

Indices = NDArray[np.int64]


def grouped(keys: Sequence[Indices]) -> tuple[Indices, Indices]:
    """The group of each row, and the first row of each group; equal keys, equal group."""
    pair = np.zeros(len(keys[0]), dtype=np.int64)
    for key in keys:
        _, pair = np.unique(pair * (int(key.max(initial=0)) + 1) + key, return_inverse=True)
    _, first, inverse = np.unique(pair, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse], np.sort(first)


def split_at_gaps(user: Indices, moment_us: Indices, gap_us: int) -> Indices:
    """Where a trajectory begins: at a new user, or more than `gap_us` after the last point."""
    new_user = np.diff(user, prepend=-1) != 0
    return np.flatnonzero(new_user | (np.diff(moment_us, prepend=0) > gap_us))
