"""Private sequences of locations, stored as columns.

A location here is an index into a public `LocationSet`. What people did is never printed:
not by `repr`, not by an error.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from nomadp.errors import DomainError, SchemaError
from nomadp.sequences import Sequences, joined

__all__ = ["TrajectorySet"]


@dataclass(frozen=True, eq=False, repr=False)
class TrajectorySet(Sequences):
    """Trajectory k is `locations[offsets[k]:offsets[k + 1]]`. Private: nothing is printed."""

    @classmethod
    def from_lists(
        cls,
        trajectories: Sequence[ArrayLike],
        tids: Sequence[str] | None = None,
        *,
        size: int,
    ) -> "TrajectorySet":
        """Sequences of indices into a set of `size` locations, named by position by default."""
        offsets, locations = joined(trajectories)
        count = len(trajectories)
        if tids is not None and len(tids) != count:
            raise DomainError(
                f"every trajectory must have one tid, got {len(tids)} for {count}"
            )
        names = map(str, range(count)) if tids is None else tids
        found = cls(offsets, locations, tuple(names))
        found.check_size(size)
        return found

    @property
    def tids(self) -> tuple[str, ...]:
        """What each trajectory is called; its random words are found by it."""
        return self.names

    def check_unique(self) -> None:
        """Refuse a tid of two trajectories: they would share their words."""
        repeated = len(self) - len(set(self.names))
        if repeated:
            raise SchemaError(
                f"every tid must name one trajectory, got {repeated} repeated of {len(self)}; "
                "number the trajectories, or keep only one of each tid"
            )

    def __repr__(self) -> str:
        return f"TrajectorySet({len(self)} trajectories, contents withheld)"
