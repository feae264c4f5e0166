"""A private trajectory, prepared for its task: any input values lead to a report.

Unusual values are replaced by public ones (docs/device.md), because whether a device reports
must not reveal where somebody was. `PrivatePoints` are prepared before a task is chosen. The
steps after that take the same number of operations for every trajectory.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from nomadp.errors import DomainError
from nomadp.geometry import Floats, distance_km, places, usable_degrees
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.protocol import TaskBundle, resample
from nomadp.trajectory import HOURS, PUBLIC_HOUR

__all__ = [
    "FAR_KM",
    "POINTS_MAX",
    "PUBLIC_LOCATION",
    "PrivateTrajectory",
    "PrivatePoints",
    "farthest_km",
]

POINTS_MAX = 4096
"""A query of visits reads at most so many points of a journey, evenly spaced if it has more."""
ENDS = 2
"""Of a journey, for queries that read only where it begins and ends."""
PUBLIC_LOCATION = 0
"""The answer where nothing usable is known: the same for everybody."""
FAR_KM = 50.0
"""A person is told, on their own terminal, of points farther than this from all locations."""
_PAIRS_AT_ONCE = 1 << 21
_UNKNOWN = -1


@dataclass(frozen=True, eq=False, repr=False)
class PrivatePoints:
    """The points of a journey of which something is usable. Private: nothing is printed."""

    lat: Floats
    lng: Floats
    """Both NaN where only a name or an index is known."""
    indices: Ints | None = None
    ids: Sequence[str] | None = None
    """Of locations, empty where a point has none."""

    @classmethod
    def of(cls, trajectory: Any) -> "PrivatePoints":
        """From pairs of degrees (lat, lng), or location indices; refused if it is neither."""
        if isinstance(trajectory, PrivatePoints):
            return trajectory
        found = _numbers(trajectory)
        if found.ndim == 2:
            return cls.placed(found[:, 0], found[:, 1])
        nowhere = np.full(len(found), np.nan)
        return cls(nowhere, nowhere, indices=found)

    @classmethod
    def placed(
        cls, lat: Floats, lng: Floats, ids: Sequence[str] | None = None
    ) -> "PrivatePoints":
        """Points with neither usable coordinates nor an id are dropped."""
        lat, lng = usable_degrees(lat, lng)
        keep = ~np.isnan(lat)
        if ids is not None:
            keep |= np.array([each != "" for each in ids], dtype=np.bool_)
            ids = [each for each, kept in zip(ids, keep.tolist(), strict=True) if kept]
        return cls(lat[keep], lng[keep], ids=ids)

    def __len__(self) -> int:
        return len(self.lat)

    def __repr__(self) -> str:
        return "PrivatePoints(withheld)"

    def at(self, rows: list[int], locations: LocationSet) -> Ints:
        """The locations at these rows: as many operations whatever the points are."""
        known = self._known(rows, locations)
        found = _nearest(self.degrees(rows, locations), locations)
        nearest = np.where(np.isnan(self.lat[rows]), PUBLIC_LOCATION, found)
        return np.where(known == _UNKNOWN, nearest, known)

    def degrees(self, rows: list[int], locations: LocationSet) -> Floats:
        """Latitudes and longitudes at these rows, those of the public answer where none are."""
        lat, lng = self.lat[rows], self.lng[rows]
        public = locations.lat[PUBLIC_LOCATION], locations.lng[PUBLIC_LOCATION]
        return np.where(np.isnan(lat)[:, None], public, np.stack([lat, lng], axis=1))

    def _known(self, rows: list[int], locations: LocationSet) -> Ints:
        """Locations that are named, or `_UNKNOWN`."""
        if self.ids is not None:
            found, is_known = locations.find_known([self.ids[k] for k in rows])
            return np.where(is_known, found, _UNKNOWN)
        if self.indices is not None:
            given = self.indices[rows]
            is_known = (given >= 0) & (given < len(locations))
            return np.where(is_known, given, _UNKNOWN).astype(np.int64)
        return np.full(len(rows), _UNKNOWN)


@dataclass(frozen=True, eq=False, repr=False)
class PrivateTrajectory:
    """Location indices of the task, and the hour of the week if it asks when."""

    locations: Ints
    hour: int | None

    @classmethod
    def of(cls, trajectory: Any, bundle: TaskBundle, hour: int | None) -> "PrivateTrajectory":
        """From `PrivatePoints`, or from what they are made of."""
        steps, rows = _read(PrivatePoints.of(trajectory), bundle)
        is_free = len(rows) == POINTS_MAX and bundle.task.length is None
        count = min(len(steps), len(rows)) if is_free else len(rows)
        found = steps.at(rows, bundle.locations)[:count]
        return cls(found, _hour(hour, is_asked=bundle.mechanism.timed))

    def __repr__(self) -> str:
        return "PrivateTrajectory(withheld)"


def _points_read(bundle: TaskBundle) -> int:
    if bundle.task.length is not None:
        return bundle.task.length
    return POINTS_MAX if bundle.task.mechanism == "visits" else ENDS


def _read(steps: PrivatePoints, bundle: TaskBundle) -> tuple[PrivatePoints, list[int]]:
    """What is read of a journey, in as many rows for every journey."""
    if not len(steps):
        nowhere = np.full(1, np.nan)
        steps = PrivatePoints(nowhere, nowhere)
    return steps, resample(range(len(steps)), _points_read(bundle))


def farthest_km(steps: PrivatePoints, bundle: TaskBundle) -> float:
    """From every location, of the points that are read: private, for its owner's eyes."""
    steps, rows = _read(steps, bundle)
    degrees = steps.degrees(rows, bundle.locations)
    return max(float(row.min(axis=1).max()) for row in _rows_km(degrees, bundle.locations))


def _numbers(trajectory: Any) -> Any:
    """(n,) indices or (n, 2) degrees. No refusal says what was wrong where, or how many."""
    try:
        rows = trajectory if isinstance(trajectory, np.ndarray) else list(trajectory)
        found = _as_numbers(rows)
    except (TypeError, ValueError, OverflowError):
        found = np.array(None)
    if found.ndim and not found.size:
        return np.empty((0, 2))
    is_named = _is_named(found)
    is_placed = found.ndim == 2 and found.shape[1] == 2 and found.dtype.kind in "iuf"
    if not (is_named or is_placed):
        raise DomainError(
            "a journey must be pairs of degrees (lat, lng), or indices of locations; its "
            "points are withheld because they are private",
            code="trajectory_malformed",
        )
    return found if is_named else found.astype(np.float64)


def _is_named(found: Any) -> bool:
    return bool(found.ndim == 1 and found.dtype.kind in "iu")


def _as_numbers(rows: Any) -> Any:
    """None, NaN, and what no number of 64 bits can hold, is a value that cannot be used."""
    with suppress(ValueError, OverflowError):
        found = np.asarray(rows)
        if _is_named(found) or (found.ndim > 1 and found.dtype != object):
            return found
    listed = [None if _is_nan(each) else each for each in rows]
    if all(each is None or _is_whole(each) for each in listed):
        return np.array([_as_index(each) for each in listed], dtype=np.int64)
    pairs = [(None, None) if each is None else tuple(each) for each in listed]
    return np.array([[_as_number(each) for each in pair] for pair in pairs])


def _is_whole(value: Any) -> bool:
    """Decimals, too: one missing value makes them of all whole numbers of a column."""
    if isinstance(value, float | np.floating):
        return value == np.rint(value) and math.isfinite(value)
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | np.floating) and math.isnan(value)


def _as_index(value: Any) -> int:
    return int(value) if value is not None and -(2**63) <= value < 2**63 else _UNKNOWN


def _as_number(value: Any) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError
    try:
        return float(value)
    except OverflowError:
        return math.inf


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
    """The public hour where none is known: a clock that cannot be read must not be silent."""
    if not is_asked:
        return None
    is_number = isinstance(hour, int | float | np.integer | np.floating)
    if isinstance(hour, bool) or not (is_number or hour is None):
        raise DomainError(
            "the hour of the week must be a whole number, or None where nobody knows it; what "
            "came is withheld",
            code="hour_malformed",
        )
    is_known = hour is not None and 0 <= hour < HOURS and _is_whole(hour)
    return int(hour) if is_known else PUBLIC_HOUR
