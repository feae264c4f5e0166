"""Sequences of locations of different lengths, stored as columns.

A location is an index into a public `LocationSet`. Whether the contents may be printed depends
on the subclass: trajectories are private (`trajectory.py`), reports are not (`reports/`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nomadp.errors import DomainError, OutOfRange

__all__ = ["Indices", "Pieces", "Sequences", "by_length", "joined", "whole_numbers"]

Indices = NDArray[np.int64]


class Pieces:
    """A column that is split into consecutive pieces: piece k starts at ``offsets[k]``."""

    offsets: Indices  # (n_pieces + 1,)
    """Where the points of each trajectory or report begin in ``locations``, and the end."""

    @property
    def lengths(self) -> Indices:
        """The number of points of each trajectory or report."""
        return np.diff(self.offsets)

    @property
    def owner(self) -> Indices:
        """The index of the trajectory or report that each point belongs to."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.lengths)

    @property
    def seq(self) -> Indices:
        """The position of each point in its trajectory or report, from 0."""
        return np.arange(self.offsets[-1]) - np.repeat(self.offsets[:-1], self.lengths)


@dataclass(frozen=True, eq=False, repr=False)
class Sequences(Pieces):
    """Sequence k is `locations[offsets[k]:offsets[k + 1]]`, and its name is `names[k]`."""

    offsets: Indices  # (n_rows + 1,)
    locations: Indices  # (n_points,)
    """The location of each point, as an index into the public set, all in one array."""
    names: tuple[str, ...]
    """The name of each trajectory (its tid), or the id of each report."""

    def __post_init__(self) -> None:
        for name in ("offsets", "locations"):
            column = np.array(getattr(self, name), dtype=np.int64)
            column.flags.writeable = False
            object.__setattr__(self, name, column)
        count = len(self.names)
        if len(self.offsets) != count + 1 or self.offsets[0] != 0:
            raise DomainError(
                "offsets must start at 0 and have one entry more than there are trajectories, "
                f"got {len(self.offsets)} offsets for {count} trajectories",
                code="offsets_mismatch",
            )
        if self.offsets[-1] != len(self.locations):
            raise DomainError(
                f"offsets must end at the number of points ({len(self.locations)}), "
                f"got {self.offsets[-1]}",
                code="offsets_mismatch",
            )
        empty = int(np.count_nonzero(self.lengths < 1))
        if empty:
            raise DomainError(
                f"a trajectory must have at least 1 location, got {empty} of {count} without; "
                "remove them",
                code="empty_trajectories",
                empty=empty,
                trajectories=count,
            )

    def check_size(self, size: int) -> None:
        """Check that all locations are indices into a public set of ``size`` locations.

        Raises `DomainError` if one is not; the error only counts them.
        """
        outside = int(np.count_nonzero((self.locations < 0) | (self.locations >= size)))
        if outside:
            raise DomainError(
                f"every location must be an index into the public set of {size}, got "
                f"{outside} of {len(self.locations)} outside it; they may be private, so they "
                "are not shown",
                code="unknown_locations",
                unknown=outside,
                size=size,
            )

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, k: int) -> Indices:
        """The locations of one sequence, as a read-only view."""
        if not 0 <= k < len(self):
            raise OutOfRange(
                f"trajectory must be in [0, {len(self)}), got {k}",
                code="trajectory_out_of_range",
                size=len(self),
            )
        return self.locations[self.offsets[k] : self.offsets[k + 1]]

    def select(self, indices: ArrayLike) -> Self:
        """A copy with only the trajectories or reports at these ``indices``, in this order.

        Raises `OutOfRange`, an `IndexError`, if an index is outside the set.
        """
        chosen = whole_numbers(indices)
        if chosen.size and not 0 <= chosen.min() <= chosen.max() < len(self):
            raise OutOfRange(
                f"trajectories must be in [0, {len(self)})",
                code="trajectory_out_of_range",
                size=len(self),
            )
        lengths = self.lengths[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        locations = self.locations[np.repeat(self.offsets[chosen], lengths) + within]
        names = tuple(self.names[k] for k in chosen.tolist())
        columns = self._columns(chosen)
        return replace(self, offsets=offsets, locations=locations, names=names, **columns)

    def between(self, start: int, stop: int) -> Self:
        """The trajectories or reports from ``start`` up to but excluding ``stop``.

        Points are not copied. Raises `OutOfRange`, an `IndexError`, if the range is not within
        the set.
        """
        if not 0 <= start <= stop <= len(self):
            raise OutOfRange(
                f"trajectories must be in [0, {len(self)})",
                code="trajectory_out_of_range",
                size=len(self),
            )
        offsets = self.offsets[start : stop + 1]
        points = self.locations[offsets[0] : offsets[-1]]
        columns = self._columns(np.arange(start, stop)) | {"names": self.names[start:stop]}
        return replace(self, offsets=offsets - offsets[0], locations=points, **columns)

    def _columns(self, chosen: Indices) -> dict[str, Any]:
        """The further columns of a subclass for these sequences, by field name."""
        return {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} rows)"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return (
            self.names == other.names
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.locations, other.locations)
        )

    __hash__ = None  # type: ignore[assignment]  # content-equal and too large to hash


def by_length(rows: Sequences) -> Iterator[tuple[int, Indices]]:
    """Each length that occurs, with the indices of the sequences of that length."""
    lengths = rows.lengths
    for length in np.unique(lengths).tolist():
        yield length, np.flatnonzero(lengths == length)


def joined(rows: Sequence[ArrayLike]) -> tuple[Indices, Indices]:
    """Offsets and locations of the concatenated lists of indices."""
    arrays = [whole_numbers(row) for row in rows]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in arrays], dtype=np.int64)])
    return offsets, np.concatenate([np.empty(0, dtype=np.int64), *arrays])


def whole_numbers(values: ArrayLike) -> Indices:
    """The values as an array of indices. The error for other values does not show them."""
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise DomainError(
            "a trajectory must be one sequence of whole numbers, got another value; it may be "
            "private, so it is not shown",
            code="not_whole_numbers",
        )
    return array.astype(np.int64, copy=False)
