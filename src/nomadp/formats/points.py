"""Private raw points in trajectories: what every format is read into and written from.

A name that a source gives to a trip may be a time and a person (Porto, Geolife). Importers
number trips in the order of reading instead; only a column tid, which is ours, is kept.
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
    "chained",
    "clock_at",
    "grouped",
    "hours_of",
    "numbers",
    "split_at_gaps",
]

HOUR_US = 3_600_000_000


def numbers(count: int) -> tuple[str, ...]:
    """Names that say nothing: 1, 2, 3 and so on."""
    return tuple(str(k + 1) for k in range(count))


@dataclass(frozen=True)
class People:
    """Of how many people trajectories are, and how many of them one has at most; never who."""

    count: int
    most: int

    @classmethod
    def of(cls, uids: Iterable[object]) -> "People":
        """From the user of each trajectory, in 8 bytes of memory for each."""
        each = np.unique(np.fromiter(map(hash, uids), np.int64), return_counts=True)[1]
        return cls(len(each), int(each.max()))


@dataclass(frozen=True, eq=False, repr=False)
class Points(Pieces):
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
    local_us: Indices | None = None
    """What the clock showed where a point was, or `UNKNOWN_CLOCK`; None if nobody asked."""

    def __post_init__(self) -> None:
        each = (self.lat, self.lng, self.moment_us, self.location_ids, self.local_us)
        counts = {len(column) for column in each if column is not None}
        owners = {len(column) for column in (self.tids, self.uids) if column is not None}
        if counts != {int(self.offsets[-1])} or owners != {len(self.offsets) - 1}:
            raise DomainError(
                "points must have columns of one length, and have not",
                code="column_lengths_differ",
            )
        if not len(self.tids) or np.diff(self.offsets).min() < 1:
            raise DomainError(
                "points must be in trajectories of at least one point each",
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
        """How far each point is from the one before it; 0 where a trajectory begins."""
        # A trajectory of nothing usable is one point that is nowhere (`usable`).
        lat, lng = np.nan_to_num(self.lat), np.nan_to_num(self.lng)
        moved_km = haversine_km(lat[:-1], lng[:-1], lat[1:], lng[1:])
        return np.append(0.0, np.where(np.diff(self.owner) == 0, moved_km, 0.0))

    def names(self) -> tuple[str, ...]:
        """The tids if they tell the trajectories apart, otherwise numbers. Never a uid."""
        return self.tids if len(set(self.tids)) == len(self.tids) else numbers(len(self.tids))

    def hours(self) -> Indices | None:
        """Of the week, local, when each trajectory begins: 0 is Monday from 0 to 1 h."""
        if self.local_us is None:
            return None
        begin_us = self.local_us[self.offsets[:-1]]
        if unknown := int(np.count_nonzero(begin_us == UNKNOWN_CLOCK)):
            raise DomainError(
                "trajectories must have a time zone to tell the hours at which they begin, and "
                f"{unknown} of {len(begin_us)} have times in UTC only; say with --time-zone "
                "where the clock stood, UTC included",
                code="hours_unknown",
                unknown=unknown,
                trajectories=len(begin_us),
            )
        return hours_of(begin_us)

    def hour(self, k: int) -> int | None:
        """At which trajectory ``k`` begins; None where nobody knows."""
        begin_us = None if self.local_us is None else self.local_us[self.offsets[k : k + 1]]
        if begin_us is None or begin_us[0] == UNKNOWN_CLOCK:
            return None
        return int(hours_of(begin_us)[0])

    @property
    def people(self) -> People | None:
        """None where nobody says whose the trajectories are."""
        return None if self.uids is None else People.of(self.uids)

    @classmethod
    def joined(cls, parts: Sequence["Points"]) -> "Points":
        """The points of several files. Equal tids of two files are two trajectories."""
        if len(parts) == 1:
            return parts[0]
        column = {f.name: [getattr(part, f.name) for part in parts] for f in fields(cls)}
        for name in ("uids", "location_ids"):
            without = sum(each is None for each in column[name])
            if 0 < without < len(parts):
                raise SchemaError(
                    f"files that are read together must all have {name} or none, and {without} "
                    f"of {len(parts)} have not; read them apart",
                    code="partly_given",
                    column=name,
                    without=without,
                    files=len(parts),
                )

        flat: dict[str, Any] = {}
        for name, each in column.items():
            join = chained if isinstance(each[0], tuple) else np.concatenate
            flat[name] = None if any(piece is None for piece in each) else join(each)
        lengths = np.concatenate([part.lengths for part in parts])
        joined = cls(**{**flat, "offsets": np.concatenate([[0], np.cumsum(lengths)])})
        return replace(joined, tids=joined.names())

    def kept(self, keep: NDArray[np.bool_]) -> "Points":
        """Only these points; trajectories left without any are gone."""
        lengths = np.bincount(self.owner[keep], minlength=len(self.tids))
        left = np.flatnonzero(lengths)
        offsets = np.concatenate([[0], np.cumsum(lengths[left])])
        return self.rearranged(offsets, np.flatnonzero(keep), left, _at(self.tids, left) or ())

    def usable(self, *, by_place: bool) -> "Points":
        """Without points of which nothing can be used; nobody's trajectory is gone.

        Of one without any usable point, the first stays, and is nowhere (NaN). A point that
        only names its place is of use unless rules are to be followed ``by_place``.
        """
        lat, lng = usable_degrees(self.lat, self.lng)
        keep = ~np.isnan(lat)
        if self.location_ids is not None and not by_place:
            keep |= np.array([each != "" for each in self.location_ids], dtype=np.bool_)
        kept = np.bincount(self.owner[keep], minlength=len(self.tids))
        keep[self.offsets[:-1][kept == 0]] = True
        return replace(self, lat=lat, lng=lng).kept(keep)

    def split(self, gap_hours: float) -> "Points":
        """A new trajectory, numbered, wherever more than `gap_hours` pass."""
        if self.moment_us is None:
            raise DomainError(
                "trajectories can be split at gaps only where times are known, and they are "
                "not",
                code="times_required",
            )
        owner, rows = self.owner, np.arange(len(self))
        start = split_at_gaps(owner, self.moment_us, round(gap_hours * HOUR_US))
        offsets = np.append(start, len(self))
        return self.rearranged(offsets, rows, owner[start], numbers(len(start)))

    def rearranged(
        self, offsets: Indices, rows: Indices, owner: Indices, tids: tuple[str, ...]
    ) -> "Points":
        """These points in other trajectories: each has an owner among those of before."""
        return Points(
            offsets,
            self.lat[rows],
            self.lng[rows],
            tids,
            _at(self.uids, owner),
            None if self.moment_us is None else self.moment_us[rows],
            _at(self.location_ids, rows),
            None if self.local_us is None else self.local_us[rows],
        )


def hours_of(local_us: Indices) -> Indices:
    """Of the week, that a clock shows; the year 1970 began on a Thursday."""
    return (local_us // HOUR_US + 3 * 24) % HOURS


def clock_at(hours: Indices) -> Indices:
    """What a clock shows at these hours of some week."""
    return (hours - 3 * 24) * HOUR_US


def chained(pieces: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(chain.from_iterable(pieces))


def _at(values: tuple[str, ...] | None, rows: Indices) -> tuple[str, ...] | None:
    return None if values is None else tuple(values[k] for k in rows)


def grouped(keys: Sequence[Indices]) -> tuple[Indices, Indices]:
    """The group of each row, by appearance, and its first row; equal keys, equal group."""
    pair = np.zeros(len(keys[0]), dtype=np.int64)
    for key in keys:
        _, pair = np.unique(pair * (int(key.max(initial=0)) + 1) + key, return_inverse=True)
    _, first, inverse = np.unique(pair, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse], np.sort(first)


def split_at_gaps(user: Indices, moment_us: Indices, gap_us: int) -> Indices:
    """Where a trajectory begins: at a new user, or more than `gap_us` after the last point."""
    new_user = np.diff(user, prepend=-1) != 0
    return np.flatnonzero(new_user | (np.diff(moment_us, prepend=0) > gap_us))
