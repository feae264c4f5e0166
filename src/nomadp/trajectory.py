"""Private sequences of locations, stored as columns.

A location here is an index into a public `LocationSet`. What people did is never printed:
not by `repr`, not by an error.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nomadp.errors import DomainError

__all__ = ["Pieces", "TrajectorySet"]

Indices = NDArray[np.int64]


class Pieces:
    """What lies in one column piece after piece: piece k is from offset k to the next."""

    offsets: Indices  # (n_pieces + 1,)

    @property
    def lengths(self) -> Indices:
        return np.diff(self.offsets)

    @property
    def owner(self) -> Indices:
        """The trajectory of each point."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.lengths)

    @property
    def seq(self) -> Indices:
        """The position of each point in its trajectory, from 0."""
        return np.arange(self.offsets[-1]) - np.repeat(self.offsets[:-1], self.lengths)


@dataclass(frozen=True, eq=False, repr=False)
class TrajectorySet(Pieces):
    """Trajectory k is `locations[offsets[k]:offsets[k + 1]]`. Private: nothing is printed.

    `from_lists` makes one of indices into a set of ``size`` locations and, if there are any,
    the ``tids`` that name the trajectories. Raises `DomainError` for a location outside.

    >>> import nomadp
    >>> trips = nomadp.TrajectorySet.from_lists([[0, 1], [2]], ["to work", "home"], size=3)
    >>> trips
    TrajectorySet(2 trajectories, contents withheld)
    >>> trips.lengths.tolist()
    [2, 1]
    """

    offsets: Indices  # (n_trajectories + 1,)
    locations: Indices  # (n_points,)
    tids: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in ("offsets", "locations"):
            column = np.array(getattr(self, name), dtype=np.int64)
            column.flags.writeable = False
            object.__setattr__(self, name, column)
        count = len(self.tids)
        if len(self.offsets) != count + 1 or self.offsets[0] != 0:
            raise DomainError(
                "offsets must start at 0 and have one entry more than there are trajectories, "
                f"got {len(self.offsets)} for {count}"
            )
        if self.offsets[-1] != len(self.locations):
            raise DomainError(
                f"offsets must end at the number of points, {len(self.locations)}, and do not"
            )
        empty = int(np.count_nonzero(self.lengths < 1))
        if empty:
            raise DomainError(
                f"a trajectory must have at least 1 location, got {empty} empty of {count}; "
                "leave those out"
            )

    @classmethod
    def from_lists(
        cls,
        trajectories: Sequence[ArrayLike],
        tids: Sequence[str] | None = None,
        *,
        size: int,
    ) -> "TrajectorySet":
        """Sequences of indices into a set of `size` locations, named by position by default."""
        rows = [_indices(row) for row in trajectories]
        if tids is not None and len(tids) != len(rows):
            raise DomainError(
                f"every trajectory must have one tid, got {len(tids)} for {len(rows)}"
            )
        offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
        locations = np.concatenate([np.empty(0, dtype=np.int64), *rows])
        names = (str(k) for k in range(len(rows))) if tids is None else tids
        found = cls(offsets, locations, tuple(names))
        found.check_size(size)
        return found

    def check_size(self, size: int) -> None:
        """Refuse locations outside a public set of this size."""
        outside = int(np.count_nonzero((self.locations < 0) | (self.locations >= size)))
        if outside:
            raise DomainError(
                f"every location must be an index into the public set of {size}, got "
                f"{outside} outside among {len(self.locations)}, withheld as private"
            )

    def __len__(self) -> int:
        return len(self.tids)

    def __getitem__(self, k: int) -> Indices:
        """The locations of one trajectory, as a read-only view."""
        if not 0 <= k < len(self):
            raise IndexError(f"trajectory must be in [0, {len(self)}), got {k}")
        return self.locations[self.offsets[k] : self.offsets[k + 1]]

    def select(self, indices: ArrayLike) -> "TrajectorySet":
        """These trajectories, in this order."""
        chosen = _indices(indices)
        if chosen.size and not 0 <= chosen.min() <= chosen.max() < len(self):
            raise IndexError(f"trajectories must be in [0, {len(self)})")
        lengths = self.lengths[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        locations = self.locations[np.repeat(self.offsets[chosen], lengths) + within]
        return TrajectorySet(offsets, locations, tuple(self.tids[k] for k in chosen))

    def between(self, start: int, stop: int) -> "TrajectorySet":
        """The trajectories from number ``start`` to before ``stop``, without gathering."""
        if not 0 <= start <= stop <= len(self):
            raise IndexError(f"trajectories must be in [0, {len(self)})")
        offsets = self.offsets[start : stop + 1]
        points = self.locations[offsets[0] : offsets[-1]]
        return TrajectorySet(offsets - offsets[0], points, self.tids[start:stop])

    def resampled(self, length: int) -> "TrajectorySet":
        """Every trajectory at ``length`` evenly spaced positions, each the nearest there is.

        A public length tells nothing of how long a journey was. Longer ones lose points,
        shorter ones repeat some.
        """
        if length < 1:
            raise DomainError(f"a length must be at least 1, got length={length}")
        sizes, kind = np.unique(self.lengths, return_inverse=True)
        position = [np.rint(np.linspace(0, size - 1, length)) for size in sizes]
        within = np.array(position, dtype=np.int64).reshape(-1, length)[kind]
        locations = self.locations[self.offsets[:-1, None] + within].ravel()
        return TrajectorySet(np.arange(len(self) + 1) * length, locations, self.tids)

    def __repr__(self) -> str:
        return f"TrajectorySet({len(self)} trajectories, contents withheld)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TrajectorySet):
            return NotImplemented
        return (
            self.tids == other.tids
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.locations, other.locations)
        )

    __hash__ = None  # type: ignore[assignment]  # content-equal and too large to hash


def _indices(values: ArrayLike) -> Indices:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise DomainError("a trajectory must be one sequence of whole numbers; it is withheld")
    return array.astype(np.int64, copy=False)
