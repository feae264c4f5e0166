"""Resample a trajectory of any length to the public length of its task."""

from collections.abc import Sequence
from typing import TypeVar

from nomadp.errors import DomainError

__all__ = ["resample"]

T = TypeVar("T")


def resample(points: Sequence[T], length: int) -> list[T]:
    """Evenly spaced points with both ends; a shorter trajectory repeats its last point.

    Point k of ``length`` is point k (n - 1) / (length - 1) of n, rounded half up in integers,
    so that every device picks the same points. For length 1 it is the first point.
    """
    count = len(points)
    if not count:
        raise DomainError(
            "a trajectory must have at least one point, got none", code="empty_trajectories"
        )
    if count <= length:
        return [*points, *[points[-1]] * (length - count)]
    gaps = max(1, length - 1)
    # floor(x + 1/2) with x = k (count - 1) / gaps, in integers
    return [points[(2 * k * (count - 1) + gaps) // (2 * gaps)] for k in range(length)]
