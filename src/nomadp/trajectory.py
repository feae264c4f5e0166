"""Private trajectories: sequences of locations, stored as columns.

A location is an index into a public `LocationSet`. Neither `repr` nor an error ever shows the
contents of a trajectory.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nomadp.errors import DomainError
from nomadp.sequences import Indices, Sequences, joined

__all__ = ["HOURS", "PUBLIC_HOUR", "TrajectorySet"]

HOURS = 7 * 24
"""Hours in a week."""
PUBLIC_HOUR = 0
"""The hour that a device perturbs if the time is unknown: a public constant."""


@dataclass(frozen=True, eq=False, repr=False)
class TrajectorySet(Sequences):
    """Private trajectories. Trajectory k is `locations[offsets[k]:offsets[k + 1]]`.

    `from_lists` creates a set from lists of indices into a location set of ``size`` locations.
    Optional ``tids`` name the trajectories; optional ``hours`` say in which hour of the week
    each begins. Raises `DomainError` for an index outside the location set. `repr` and error
    messages never show the contents.

    >>> import nomadp
    >>> trips = nomadp.TrajectorySet.from_lists([[0, 1], [2]], ["to work", "home"], size=3)
    >>> trips
    TrajectorySet(2 trajectories, contents withheld)
    >>> trips.lengths.tolist()
    [2, 1]
    """

    hours: Indices | None = None  # (n_rows,)
    """The hour of the week in which each trajectory begins: 0 is Monday, 0 to 1 h, local time.
    None if the hours are unknown."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hours is None:
            return
        hours = np.array(self.hours, dtype=np.int64)
        if hours.shape != (len(self),) or not ((hours >= 0) & (hours < HOURS)).all():
            raise DomainError(
                f"every trajectory must have one hour of the week, from 0 to {HOURS - 1}, got "
                "some without; they are private, so they are not shown",
                code="invalid_hours",
            )
        hours.flags.writeable = False
        object.__setattr__(self, "hours", hours)

    @classmethod
    def from_lists(
        cls,
        trajectories: Sequence[ArrayLike],
        tids: Sequence[str] | None = None,
        *,
        size: int,
        hours: Indices | None = None,
    ) -> "TrajectorySet":
        """Create a set from lists of location indices.

        Args:
            trajectories: For each trajectory, its location indices in order.
            tids: The name of each trajectory; by default its position in the list.
            size: The number of locations in the public set.
            hours: The hour of the week in which each trajectory begins (0: Monday, 0 to 1 h).

        Returns:
            The trajectories.

        Raises:
            DomainError: A trajectory is empty, an index is outside the location set, an hour is
                outside 0 to 167, or the number of tids or hours is not that of trajectories.
        """
        offsets, locations = joined(trajectories)
        count = len(trajectories)
        if tids is not None and len(tids) != count:
            raise DomainError(
                f"every trajectory must have one tid, got {len(tids)} for {count}",
                code="tid_count_differs",
                tids=len(tids),
                trajectories=count,
            )
        names = map(str, range(count)) if tids is None else tids
        trajectory_set = cls(offsets, locations, tuple(names), hours)
        trajectory_set.check_size(size)
        return trajectory_set

    @property
    def tids(self) -> tuple[str, ...]:
        """The name of each trajectory. A keyed random source draws its words by this name."""
        return self.names

    def resampled(self, length: int) -> "TrajectorySet":
        """Every trajectory resampled to ``length`` points at evenly spaced positions.

        Longer trajectories lose points and shorter ones repeat some (nearest neighbour). All
        lengths are then equal and public, so they reveal nothing about the original ones.
        Raises `DomainError` if ``length`` is below 1.
        """
        if length < 1:
            raise DomainError(
                f"length must be at least 1, got length={length}",
                code="length_out_of_range",
                length=length,
            )
        sizes, kind = np.unique(self.lengths, return_inverse=True)
        position = [np.rint(np.linspace(0, size - 1, length)) for size in sizes]
        within = np.array(position, dtype=np.int64).reshape(-1, length)[kind]
        locations = self.locations[self.offsets[:-1, None] + within].ravel()
        return replace(self, offsets=np.arange(len(self) + 1) * length, locations=locations)

    def _columns(self, chosen: Indices) -> dict[str, Any]:
        return {"hours": None if self.hours is None else self.hours[chosen]}

    def __eq__(self, other: object) -> bool:
        equal = super().__eq__(other)
        if not isinstance(other, TrajectorySet) or equal is not True:
            return equal
        if self.hours is None or other.hours is None:
            return self.hours is other.hours
        return np.array_equal(self.hours, other.hours)

    __hash__ = None  # content-equal and too large to hash

    def __repr__(self) -> str:
        return f"TrajectorySet({len(self)} trajectories, contents withheld)"
