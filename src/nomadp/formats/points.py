"""Private raw points in trajectories: the common form of all file formats.

A trip's name in a source may contain a time and a person (Porto, Geolife). Importers therefore
number trips in the order of reading, and keep names only from a column tid.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import DomainError, SchemaError
from nomadp.formats.columns import UNKNOWN_CLOCK
from nomadp.geometry import Floats, haversine_km, usable_degrees
from nomadp.sequences import Indices, Pieces
from nomadp.trajectory import HOURS

__all__ = [
    "People",
    "Points",
    "concatenated",
    "local_times_at",
    "group_rows",
    "hours_of",
    "number_names",
    "split_at_gaps",
]

HOUR_US = 3_600_000_000


def number_names(count: int) -> tuple[str, ...]:
    """Names without information: 1, 2, 3 and so on."""
    return tuple(str(k + 1) for k in range(count))


@dataclass(frozen=True)
class People:
    """The number of people, and the largest number of trajectories of one person; never ids."""

    count: int
    """The number of people."""
    most: int
    """The largest number of trajectories of one person."""

    @classmethod
    def of(cls, uids: Iterable[object]) -> "People":
        """Count the user ids of all trajectories, with 8 bytes of memory for each.

        Ids are compared by their 64-bit hashes. A collision is so rare that it is ignored.
        """
        counts = np.unique(np.fromiter(map(hash, uids), np.int64), return_counts=True)[1]
        return cls(len(counts), int(counts.max()))


@dataclass(frozen=True, eq=False, repr=False)
class Points(Pieces):
    """Points of trajectories, each in order. Private: `repr` and errors never show them."""

    offsets: Indices  # (n_trajectories + 1,)
    lat: Floats
    lng: Floats
    tids: tuple[str, ...]
    uids: tuple[str, ...] | None = None
    """The user of each trajectory. Two users may use the same tid."""
    moment_us: Indices | None = None
    """UTC; None if only the order is known."""
    location_ids: tuple[str, ...] | None = None
    """The location id of each point, if the source has them."""
    local_us: Indices | None = None
    """The local time at each point, or `UNKNOWN_CLOCK`; None if it was not requested."""

    def __post_init__(self) -> None:
        columns = (self.lat, self.lng, self.moment_us, self.location_ids, self.local_us)
        counts = {len(column) for column in columns if column is not None}
        owners = {len(column) for column in (self.tids, self.uids) if column is not None}
        if counts != {int(self.offsets[-1])} or owners != {len(self.offsets) - 1}:
            raise DomainError(
                "points must have columns of equal length, got different lengths",
                code="column_lengths_differ",
            )
        if not len(self.tids) or np.diff(self.offsets).min() < 1:
            raise DomainError(
                "every trajectory must have at least one point, got one without",
                code="empty_trajectories",
            )

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

    def steps_km(self) -> Floats:
        """The distance of each point from the one before; 0 at the start of a trajectory."""
        # A trajectory without any usable point has one point of NaN (see `usable`).
        lat, lng = np.nan_to_num(self.lat), np.nan_to_num(self.lng)
        moved_km = haversine_km(lat[:-1], lng[:-1], lat[1:], lng[1:])
        return np.append(0.0, np.where(np.diff(self.owner) == 0, moved_km, 0.0))

    def names(self) -> tuple[str, ...]:
        """The tids if they are unique, otherwise numbers. Never a uid."""
        count = len(self.tids)
        return self.tids if len(set(self.tids)) == count else number_names(count)

    def hours(self) -> Indices | None:
        """The local hour of the week in which each begins: 0 is Monday, 0 to 1 h."""
        if self.local_us is None:
            return None
        start_us = self.local_us[self.offsets[:-1]]
        if unknown := int(np.count_nonzero(start_us == UNKNOWN_CLOCK)):
            raise DomainError(
                "every trajectory must have a time zone, which gives the hour in which it "
                f"begins, got {unknown} of {len(start_us)} with times in UTC only; set the "
                "time zone with --time-zone, even if it is UTC",
                code="hours_unknown",
                unknown=unknown,
                trajectories=len(start_us),
            )
        return hours_of(start_us)

    def hour(self, k: int) -> int | None:
        """The hour in which trajectory ``k`` begins; None if unknown."""
        start_us = None if self.local_us is None else self.local_us[self.offsets[k : k + 1]]
        if start_us is None or start_us[0] == UNKNOWN_CLOCK:
            return None
        return int(hours_of(start_us)[0])

    @property
    def people(self) -> People | None:
        """Counts of people; None without user ids."""
        return None if self.uids is None else People.of(self.uids)

    @classmethod
    def joined(cls, parts: Sequence["Points"]) -> "Points":
        """The points of several files. Equal tids in two files are different trajectories."""
        if len(parts) == 1:
            return parts[0]
        column = {f.name: [getattr(part, f.name) for part in parts] for f in fields(cls)}
        for name in ("uids", "location_ids"):
            n_without = sum(values is None for values in column[name])
            if 0 < n_without < len(parts):
                raise SchemaError(
                    f"files that are read together must all have {name} or all lack it, got "
                    f"{n_without} of {len(parts)} without; read them separately",
                    code="partly_given",
                    column=name,
                    without=n_without,
                    files=len(parts),
                )

        merged: dict[str, Any] = {}
        for name, pieces in column.items():
            join = concatenated if isinstance(pieces[0], tuple) else np.concatenate
            merged[name] = None if any(piece is None for piece in pieces) else join(pieces)
        lengths = np.concatenate([part.lengths for part in parts])
        joined = cls(**{**merged, "offsets": np.concatenate([[0], np.cumsum(lengths)])})
        return replace(joined, tids=joined.names())

    def select(self, keep: NDArray[np.bool_]) -> "Points":
        """Only the points to ``keep``. Trajectories without any of them are dropped."""
        lengths = np.bincount(self.owner[keep], minlength=len(self.tids))
        nonempty = np.flatnonzero(lengths)
        offsets = np.concatenate([[0], np.cumsum(lengths[nonempty])])
        tids = _taken(self.tids, nonempty) or ()
        return self.rearranged(offsets, np.flatnonzero(keep), nonempty, tids)

    def usable(self, *, by_place: bool) -> "Points":
        """Without unusable points. No trajectory is dropped.

        A trajectory without any usable point keeps its first point, with NaN coordinates. A
        point that only names its location is usable unless rules will be applied ``by_place``.
        """
        lat, lng = usable_degrees(self.lat, self.lng)
        keep = ~np.isnan(lat)
        if self.location_ids is not None and not by_place:
            keep |= np.array([name != "" for name in self.location_ids], dtype=np.bool_)
        n_usable = np.bincount(self.owner[keep], minlength=len(self.tids))
        keep[self.offsets[:-1][n_usable == 0]] = True
        return replace(self, lat=lat, lng=lng).select(keep)

    def split(self, gap_hours: float) -> "Points":
        """Start a new trajectory after every gap of more than `gap_hours`, and number them."""
        if self.moment_us is None:
            raise DomainError(
                "points must have times to be split at gaps, got points without",
                code="times_required",
            )
        owner, rows = self.owner, np.arange(len(self))
        start = split_at_gaps(owner, self.moment_us, round(gap_hours * HOUR_US))
        offsets = np.append(start, len(self))
        return self.rearranged(offsets, rows, owner[start], number_names(len(start)))

    def rearranged(
        self, offsets: Indices, rows: Indices, owner: Indices, tids: tuple[str, ...]
    ) -> "Points":
        """These points in new trajectories. Each belongs to one of the old ones (``owner``)."""
        return Points(
            offsets,
            self.lat[rows],
            self.lng[rows],
            tids,
            _taken(self.uids, owner),
            None if self.moment_us is None else self.moment_us[rows],
            _taken(self.location_ids, rows),
            None if self.local_us is None else self.local_us[rows],
        )


def hours_of(local_us: Indices) -> Indices:
    """The hour of the week at local times; the year 1970 began on a Thursday."""
    return (local_us // HOUR_US + 3 * 24) % HOURS


def local_times_at(hours: Indices) -> Indices:
    """Local times in these hours of the week, in the first days of 1970 (or just before)."""
    return (hours - 3 * 24) * HOUR_US


def concatenated(pieces: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(chain.from_iterable(pieces))


def _taken(values: tuple[str, ...] | None, rows: Indices) -> tuple[str, ...] | None:
    return None if values is None else tuple(values[k] for k in rows)


def group_rows(keys: Sequence[Indices]) -> tuple[Indices, Indices]:
    """The group of each row, and the first row of each group, in order of appearance.

    Rows are in the same group if all their keys are equal.
    """
    # Renumber the pairs after each key, so that the product of all key ranges cannot overflow.
    group = np.zeros(len(keys[0]), dtype=np.int64)
    for key in keys:
        _, group = np.unique(group * (int(key.max(initial=0)) + 1) + key, return_inverse=True)
    _, first, inverse = np.unique(group, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse], np.sort(first)


def split_at_gaps(user: Indices, moment_us: Indices, gap_us: int) -> Indices:
    """The rows at which a trajectory begins: at a new user, or after more than `gap_us`."""
    new_user = np.diff(user, prepend=-1) != 0
    return np.flatnonzero(new_user | (np.diff(moment_us, prepend=0) > gap_us))
