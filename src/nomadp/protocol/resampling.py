"""A journey of any length brought to the one public length of its task."""

from collections.abc import Sequence
from typing import TypeVar

from nomadp.errors import DomainError

__all__ = ["resample"]

T = TypeVar("T")


def resample(points: Sequence[T], length: int) -> list[T]:
    """Evenly spaced positions along the way, both ends kept; a short one repeats its last.

    Position k of a longer journey of n points is (k (n - 1)) / (length - 1), rounded with
    halves upwards, in whole numbers: every device picks the same. Of length 1, the first.
    """
    count = len(points)
    if not count:
        raise DomainError(
            "a journey must have at least one point, got none", code="empty_trajectories"
        )
    if count <= length:
        return [*points, *[points[-1]] * (length - count)]
    steps = max(1, length - 1)
    return [points[(2 * k * (count - 1) + steps) // (2 * steps)] for k in range(length)]
