"""Private sequences of locations, stored as columns.

A location here is an index into a public `LocationSet`. What people did is never printed:
not by `repr`, not by an error.
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
"""Of a week."""
PUBLIC_HOUR = 0
"""What a device reports where it cannot read when: the same for everybody."""


@dataclass(frozen=True, eq=False, repr=False)
class TrajectorySet(Sequences):
    """Trajectory k is `locations[offsets[k]:offsets[k + 1]]`. Private: nothing is printed.

    `from_lists` makes one of indices into a set of ``size`` locations and, if there are any,
    the ``tids`` that name the trajectories and the ``hours`` of the week when they begin.
    Raises `DomainError` for a location outside.

    >>> import nomadp
    >>> trips = nomadp.TrajectorySet.from_lists([[0, 1], [2]], ["to work", "home"], size=3)
    >>> trips
    TrajectorySet(2 trajectories, contents withheld)
    >>> trips.lengths.tolist()
    [2, 1]
    """

    hours: Indices | None = None  # (n_rows,)
    """Of the week, when each begins: 0 is Monday from 0 to 1 h, local. None: nobody knows."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hours is None:
            return
        hours = np.array(self.hours, dtype=np.int64)
        if hours.shape != (len(self),) or not ((hours >= 0) & (hours < HOURS)).all():
            raise DomainError(
                f"every trajectory must have one hour of the week, from 0 to {HOURS - 1}, and "
                "some have not; they are withheld as private",
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
        """Sequences of indices into a set of `size` locations, named by position by default."""
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
        found = cls(offsets, locations, tuple(names), hours)
        found.check_size(size)
        return found

    @property
    def tids(self) -> tuple[str, ...]:
        """What each trajectory is called; its random words are found by it."""
        return self.names

    def resampled(self, length: int) -> "TrajectorySet":
        """Every trajectory at ``length`` evenly spaced positions, each the nearest there is.

        A public length tells nothing of how long a journey was. Longer ones lose points,
        shorter ones repeat some.
        """
        if length < 1:
            raise DomainError(
                f"a length must be at least 1, got length={length}",
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
