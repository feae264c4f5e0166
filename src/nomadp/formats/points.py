"""Private raw points in trajectories: what every format is read into and written from.

A name that a source gives to a trip may be a time and a person (Porto, Geolife). Importers
number trips in the order of reading instead; only a column tid, which is ours, is kept.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import DomainError, SchemaError
from nomadp.formats.grouping import split_at_gaps
from nomadp.geometry import Floats

__all__ = ["People", "Points", "numbers"]

Indices = NDArray[np.int64]


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
        return self.tids if len(set(self.tids)) == len(self.tids) else numbers(len(self.tids))

    @property
    def people(self) -> People | None:
        """None where nobody says whose the trajectories are."""
        return None if self.uids is None else People.of(self.uids)

    @classmethod
    def joined(cls, parts: Sequence["Points"]) -> "Points":
        """The points of several files. Equal tids of two files are two trajectories."""
        if len(parts) == 1:
            return parts[0]
        for name, says in (
            ("uids", "whose trajectories they hold"),
            ("location_ids", "places"),
        ):
            with_it = sum(getattr(part, name) is not None for part in parts)
            if 0 < with_it < len(parts):
                raise SchemaError(
                    f"files that are read together must all say {says} or none, and "
                    f"{with_it} of {len(parts)} do; read them apart"
                )
        clocks = [part.moment_us for part in parts if part.moment_us is not None]

        def all_of(name: str) -> tuple[str, ...] | None:
            if getattr(parts[0], name) is None:
                return None
            return tuple(chain.from_iterable(getattr(part, name) for part in parts))

        tids = all_of("tids") or ()
        return cls(
            np.concatenate([[0], np.cumsum(np.concatenate([p.lengths for p in parts]))]),
            np.concatenate([part.lat for part in parts]),
            np.concatenate([part.lng for part in parts]),
            tids if len(set(tids)) == len(tids) else numbers(len(tids)),
            all_of("uids"),
            np.concatenate(clocks) if len(clocks) == len(parts) else None,
            all_of("location_ids"),
        )

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
            numbers(len(start)),
            None if self.uids is None else tuple(self.uids[k] for k in owner[start]),
            self.moment_us,
            self.location_ids,
        )
