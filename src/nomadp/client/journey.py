"""A private journey, brought to what its task reports: checked before anything is charged.

A journey far from every location is reported all the same, at the nearest: whether a device
reports must not tell where somebody was.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from nomadp.errors import DomainError
from nomadp.geometry import Floats, distance_km, places
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.protocol import Kit, brought_to_length
from nomadp.trajectory import HOURS

__all__ = ["FAR_KM", "POINTS_MAX", "PrivateJourney", "farthest_km"]

POINTS_MAX = 4096
"""A direct question reads at most so many points of a journey, evenly spaced if it has more."""
FAR_KM = 50.0
"""A person is told, on their own terminal, of points farther than this from all locations."""
_PAIRS_AT_ONCE = 1 << 21


@dataclass(frozen=True, eq=False, repr=False)
class PrivateJourney:
    """Location indices of the task, and the hour of the week if it asks when."""

    locations: Ints
    hour: int | None

    @classmethod
    def of(cls, journey: Any, kit: Kit, hour: int | None) -> "PrivateJourney":
        """From pairs of degrees (lat, lng) or location indices; refused if it is neither."""
        steps = _steps(journey)
        length = kit.task.length or min(len(steps), POINTS_MAX)
        kept = np.asarray(brought_to_length(steps, length))
        is_named = kept.ndim == 1
        found = (
            _indices(kept, len(kit.locations)) if is_named else _nearest(kept, kit.locations)
        )
        return cls(found, _hour(hour, is_asked=kit.mechanism.timed))

    def __repr__(self) -> str:
        return "PrivateJourney(withheld)"


def farthest_km(journey: Any, locations: LocationSet) -> float:
    """How far the farthest point is from every location: private, for its owner's eyes."""
    steps = _steps(journey)
    if steps.ndim == 1:
        return 0.0
    return max(float(row.min(axis=1).max()) for row in _rows_km(steps, locations))


def _steps(journey: Any) -> Any:
    """(n,) indices or (n, 2) degrees. No refusal says what was wrong where, or how many."""
    try:
        steps = np.asarray(journey if isinstance(journey, np.ndarray) else list(journey))
        degrees = steps.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        steps, degrees = np.empty((0, 0)), np.empty((0, 0))
    is_named = steps.ndim == 1 and steps.dtype.kind in "iu"
    is_placed = steps.ndim == 2 and steps.shape[1:] == (2,) and steps.dtype.kind in "iuf"
    limit = np.array([90.0, 180.0])
    if not len(steps) or not (is_named or (is_placed and (np.abs(degrees) <= limit).all())):
        raise DomainError(
            "a journey must be at least one pair of degrees (lat, lng), or at least one index "
            "of a location; its points are withheld because they are private"
        )
    return steps if is_named else degrees


def _indices(steps: Any, size: int) -> Ints:
    if steps.min() < 0 or steps.max() >= size:
        raise DomainError(
            f"every location must be an index into the public set of {size}; the values are "
            "withheld because they are private"
        )
    found: Ints = steps.astype(np.int64)
    return found


def _nearest(degrees: Floats, locations: LocationSet) -> Ints:
    """The nearest, the lowest index in a tie: `LocationSet.nearest` without scipy."""
    found = [row.argmin(axis=1) for row in _rows_km(degrees, locations)]
    return np.concatenate(found).astype(np.int64)


def _rows_km(degrees: Floats, locations: LocationSet) -> Iterator[Floats]:
    every = places(locations.lat, locations.lng)
    step = max(1, _PAIRS_AT_ONCE // len(locations))
    for first in range(0, len(degrees), step):
        some = degrees[first : first + step]
        yield distance_km(places(some[:, :1], some[:, 1:]), every)


def _hour(hour: Any, *, is_asked: bool) -> int | None:
    if not is_asked:
        return None
    if isinstance(hour, bool) or not isinstance(hour, int | np.integer):
        hour = -1
    if not 0 <= hour < HOURS:
        raise DomainError(
            f"this task asks when: it must be told the hour of the week, a whole number from 0 "
            f"(Monday from 0 to 1 h) to {HOURS - 1}; what came is withheld"
        )
    return int(hour)
