"""Private raw points in trajectories: what every format is read into and written from."""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import DomainError
from nomadp.formats.columns import Text
from nomadp.formats.grouping import grouped, split_at_gaps
from nomadp.geometry import Floats

__all__ = ["Points", "Rows"]

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Points:
    """Points in trajectories, each in its order. Private: nothing is printed."""

    offsets: Indices  # (n_trajectories + 1,)
    lat: Floats
    lng: Floats
    tids: tuple[str, ...]
    uids: tuple[str, ...] | None = None
    """The user of each trajectory. Two users may use the same tid."""
    moment_us: Indices | None = None
    """UTC; None where only the order is known."""
    location_ids: tuple[str, ...] | None = None
    """Of each point, where the source names places."""

    def __post_init__(self) -> None:
        counts = {len(self.lat), len(self.lng)}
        counts |= {len(self.moment_us)} if self.moment_us is not None else set()
        counts |= {len(self.location_ids)} if self.location_ids is not None else set()
        owners = {len(self.tids), len(self.offsets) - 1}
        owners |= {len(self.uids)} if self.uids is not None else set()
        if counts != {int(self.offsets[-1])} or len(owners) != 1:
            raise DomainError("points must have columns of one length, and have not")
        if not len(self.tids) or np.diff(self.offsets).min() < 1:
            raise DomainError("points must be in trajectories of at least one point each")

    def __len__(self) -> int:
        return len(self.lat)

    def __repr__(self) -> str:
        return f"Points({len(self)} in {len(self.tids)} trajectories, contents withheld)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Points):
            return NotImplemented
        pairs = [(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)]
        return all(
            (a is None) == (b is None) and (a is None or np.array_equal(a, b)) for a, b in pairs
        )

    __hash__ = None  # type: ignore[assignment]  # content-equal and too large to hash

    @property
    def lengths(self) -> Indices:
        return np.diff(self.offsets)

    @property
    def owner(self) -> Indices:
        """The trajectory of each point."""
        return np.repeat(np.arange(len(self.tids)), self.lengths)

    @property
    def seq(self) -> Indices:
        """The position of each point in its trajectory."""
        return np.arange(len(self)) - np.repeat(self.offsets[:-1], self.lengths)

    def names(self) -> tuple[str, ...]:
        """The tids if they tell the trajectories apart, otherwise numbers. Never a uid."""
        if len(set(self.tids)) == len(self.tids):
            return self.tids
        return tuple(str(k + 1) for k in range(len(self.tids)))

    def kept(self, keep: NDArray[np.bool_]) -> "Points":
        """Only these points; trajectories left without any are gone."""
        lengths = np.bincount(self.owner[keep], minlength=len(self.tids))
        left = np.flatnonzero(lengths)
        return Points(
            np.concatenate([[0], np.cumsum(lengths[left])]),
            self.lat[keep],
            self.lng[keep],
            tuple(self.tids[k] for k in left),
            None if self.uids is None else tuple(self.uids[k] for k in left),
            None if self.moment_us is None else self.moment_us[keep],
            None
            if self.location_ids is None
            else tuple(self.location_ids[k] for k in np.flatnonzero(keep)),
        )

    def split(self, gap_hours: float) -> "Points":
        """A new trajectory, numbered, wherever more than `gap_hours` pass."""
        if self.moment_us is None:
            raise DomainError(
                "trajectories can be split at gaps only where times are known, and they are not"
            )
        owner = self.owner
        start = split_at_gaps(owner, self.moment_us, round(gap_hours * 3_600_000_000))
        return Points(
            np.append(start, len(self)),
            self.lat,
            self.lng,
            tuple(str(k + 1) for k in range(len(start))),
            None if self.uids is None else tuple(self.uids[k] for k in owner[start]),
            self.moment_us,
            self.location_ids,
        )


@dataclass(frozen=True, repr=False)
class Rows:
    """Points as they stand in a file, in any order."""

    lat: Floats
    lng: Floats
    order: Indices
    """By which a trajectory is sorted; equal values keep the file's order."""
    tid: Text | None = None
    uid: Text | None = None
    moment_us: Indices | None = None
    location_id: Text | None = None

    def points(self) -> Points:
        """Trajectories by appearance. Without a tid, each user has one, with a number."""
        texts = [text for text in (self.uid, self.tid) if text is not None]
        owner, first = grouped([text.codes for text in texts])
        order = np.lexsort((self.order, owner))
        place = self.location_id
        return Points(
            np.concatenate([[0], np.cumsum(np.bincount(owner))]),
            self.lat[order],
            self.lng[order],
            tuple(str(k + 1) for k in range(len(first)))
            if self.tid is None
            else _at(self.tid, first),
            None if self.uid is None else _at(self.uid, first),
            None if self.moment_us is None else self.moment_us[order],
            None if place is None else _at(place, order),
        )


def _at(text: Text, rows: Indices) -> tuple[str, ...]:
    return tuple(text.values[code] for code in text.codes[rows])
