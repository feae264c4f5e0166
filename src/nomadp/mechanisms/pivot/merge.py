"""Merge two perturbed copies into one reported trajectory (post-processing).

Differs from the paper: its Eq. 7 selects the location with the smallest summed distance to both
copies. By the triangle inequality, the locations of both copies always attain the minimum, so
the equation does not decide between them. These rules do.
"""

from collections.abc import Callable

import numpy as np

from nomadp.drawing import Choose
from nomadp.laws import Ints, Uniform, distance_rows_km
from nomadp.locations import LocationSet

__all__ = ["MERGES", "merge_many"]

Points = tuple[int, ...]
_DISTANCES_AT_ONCE = 2**21  # in memory
_SAME_KM = 1e-9  # a micrometre, far above rounding: sums of distances this close are a tie


def _coin(locations: LocationSet, first: Points, second: Points, choose: Choose) -> Points:
    """A fair coin for every position."""
    coins = choose.each([(_toss, None) for _ in first])
    return tuple(
        pair[coin] for coin, pair in zip(coins, zip(first, second, strict=True), strict=True)
    )


def _toss(secret: None, choose: Choose) -> int:
    return choose("merge", Uniform(2), secret)


def _first_index(
    locations: LocationSet, first: Points, second: Points, choose: Choose
) -> Points:
    """The minimiser of Eq. 7 with the lowest index, which is what public code reports."""
    return tuple(_lowest_minimiser(locations, a, b) for a, b in zip(first, second, strict=True))


def _lowest_minimiser(locations: LocationSet, a: int, b: int) -> int:
    total = distance_rows_km(locations, a) + distance_rows_km(locations, b)
    lowest = (total <= total.min(axis=-1, keepdims=True) + _SAME_KM).argmax(axis=-1)
    return int(lowest) if lowest.ndim == 0 else lowest


def _direction(locations: LocationSet, first: Points, second: Points, choose: Choose) -> Points:
    """The copy in which the position was a target, so that directions restricted it."""
    # Index 0, 2, ... are the odd positions: pivots of the first copy, targets of the second.
    return tuple(pair[1 - i % 2] for i, pair in enumerate(zip(first, second, strict=True)))


Merge = Callable[[LocationSet, Points, Points, Choose], Points]
MERGES: dict[str, Merge] = {"coin": _coin, "first-index": _first_index, "direction": _direction}


def merge_many(
    rule: str, locations: LocationSet, copies: Ints, coins: Ints, positions: Ints
) -> Ints:
    """Merge all points of many trajectories by the same rules; ``copies`` is (2, points)."""
    first, second = copies[0], copies[1]
    merged: Ints = np.where(coins == 0, first, second)
    if rule == "direction":
        merged = np.where(positions % 2 == 0, second, first)
    elif rule == "first-index":
        rows = max(1, _DISTANCES_AT_ONCE // len(locations))
        for start in range(0, len(first), rows):
            batch = slice(start, start + rows)
            merged[batch] = _lowest_minimiser(locations, first[batch], second[batch])
    return merged
