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
"""Most points that visits read of a trajectory; of a longer one, evenly spaced points."""
ENDS = 2
"""Points read by oracles that use only the origin and the destination."""
PUBLIC_LOCATION = 0
"""The location used for an unusable point: public, and the same for everybody."""
FAR_KM = 50.0
"""Points farther than this from all locations cause a warning on the device."""
_PAIRS_AT_ONCE = 1 << 21
_UNKNOWN = -1


@dataclass(frozen=True, eq=False, repr=False)
class PrivatePoints:
    """The usable points of a trajectory. Private: the repr withholds them."""

    lat: Floats
    lng: Floats
    """Both NaN if only an id or an index is known."""
    indices: Ints | None = None
    ids: Sequence[str] | None = None
    """Location ids; empty for a point without one."""

    @classmethod
    def of(cls, trajectory: Any) -> "PrivatePoints":
        """From (lat, lng) pairs in degrees, or location indices; anything else is refused."""
        if isinstance(trajectory, PrivatePoints):
            return trajectory
        points = _numbers(trajectory)
        if points.ndim == 2:
            return cls.placed(points[:, 0], points[:, 1])
        unknown = np.full(len(points), np.nan)
        return cls(unknown, unknown, indices=points)

    @classmethod
    def placed(
        cls, lat: Floats, lng: Floats, ids: Sequence[str] | None = None
    ) -> "PrivatePoints":
        """From coordinates and ids; points without either are dropped."""
        lat, lng = usable_degrees(lat, lng)
        keep = ~np.isnan(lat)
        if ids is not None:
            keep |= np.array([name != "" for name in ids], dtype=np.bool_)
            ids = [name for name, is_used in zip(ids, keep.tolist(), strict=True) if is_used]
        return cls(lat[keep], lng[keep], ids=ids)

    def __len__(self) -> int:
        return len(self.lat)

    def __repr__(self) -> str:
        return "PrivatePoints(withheld)"

    def at(self, rows: list[int], locations: LocationSet) -> Ints:
        """The location indices at these rows; the operations do not depend on the points."""
        known = self._known(rows, locations)
        # Both are always computed and then selected: a branch per point would show in the time.
        snapped = _nearest(self.degrees(rows, locations), locations)
        nearest = np.where(np.isnan(self.lat[rows]), PUBLIC_LOCATION, snapped)
        return np.where(known == _UNKNOWN, nearest, known)

    def degrees(self, rows: list[int], locations: LocationSet) -> Floats:
        """Latitudes and longitudes at these rows; unknown ones are the public location's."""
        lat, lng = self.lat[rows], self.lng[rows]
        public = locations.lat[PUBLIC_LOCATION], locations.lng[PUBLIC_LOCATION]
        return np.where(np.isnan(lat)[:, None], public, np.stack([lat, lng], axis=1))

    def _known(self, rows: list[int], locations: LocationSet) -> Ints:
        """Locations given by id or index; `_UNKNOWN` for other points."""
        if self.ids is not None:
            indices, is_known = locations.find_known([self.ids[k] for k in rows])
            return np.where(is_known, indices, _UNKNOWN)
        if self.indices is not None:
            indices = self.indices[rows]
            is_known = (indices >= 0) & (indices < len(locations))
            return np.where(is_known, indices, _UNKNOWN).astype(np.int64)
        return np.full(len(rows), _UNKNOWN)


@dataclass(frozen=True, eq=False, repr=False)
class PrivateTrajectory:
    """Location indices of the task, and the hour of the week if the task uses it."""

    locations: Ints
    hour: int | None

    @classmethod
    def of(cls, trajectory: Any, bundle: TaskBundle, hour: int | None) -> "PrivateTrajectory":
        """From `PrivatePoints`, or from the input of `PrivatePoints.of`."""
        points, rows = _read(PrivatePoints.of(trajectory), bundle)
        is_free = len(rows) == POINTS_MAX and bundle.task.length is None
        count = min(len(points), len(rows)) if is_free else len(rows)
        # All rows are looked up, padding included, so that the work is the same for everybody.
        locations = points.at(rows, bundle.locations)[:count]
        return cls(locations, _hour(hour, is_asked=bundle.mechanism.timed))

    def __repr__(self) -> str:
        return "PrivateTrajectory(withheld)"


def _points_read(bundle: TaskBundle) -> int:
    if bundle.task.length is not None:
        return bundle.task.length
    return POINTS_MAX if bundle.task.mechanism == "visits" else ENDS


def _read(points: PrivatePoints, bundle: TaskBundle) -> tuple[PrivatePoints, list[int]]:
    """The points and the rows that the task reads: the same number for everybody."""
    if not len(points):
        unknown = np.full(1, np.nan)
        points = PrivatePoints(unknown, unknown)
    return points, resample(range(len(points)), _points_read(bundle))


def farthest_km(points: PrivatePoints, bundle: TaskBundle) -> float:
    """Largest distance of a point to its nearest location. Private: only for its owner."""
    points, rows = _read(points, bundle)
    degrees = points.degrees(rows, bundle.locations)
    return max(float(row.min(axis=1).max()) for row in _rows_km(degrees, bundle.locations))


def _numbers(trajectory: Any) -> Any:
    """(n,) indices or (n, 2) degrees. An error does not reveal which points were wrong."""
    try:
        rows = trajectory if isinstance(trajectory, np.ndarray) else list(trajectory)
        values = _as_numbers(rows)
    except (TypeError, ValueError, OverflowError):
        values = np.array(None)
    if values.ndim and not values.size:
        return np.empty((0, 2))
    is_named = _is_named(values)
    is_placed = values.ndim == 2 and values.shape[1] == 2 and values.dtype.kind in "iuf"
    if not (is_named or is_placed):
        raise DomainError(
            "a trajectory must be (lat, lng) pairs in degrees, or indices of locations; its "
            "points are withheld because they are private",
            code="trajectory_malformed",
        )
    return values if is_named else values.astype(np.float64)


def _is_named(values: Any) -> bool:
    return bool(values.ndim == 1 and values.dtype.kind in "iu")


def _as_numbers(rows: Any) -> Any:
    """As an array; None, NaN and numbers beyond 64 bits become unusable values."""
    with suppress(ValueError, OverflowError):
        values = np.asarray(rows)
        if _is_named(values) or (values.ndim > 1 and values.dtype != object):
            return values
    listed = [None if _is_nan(value) else value for value in rows]
    if all(value is None or _is_whole(value) for value in listed):
        return np.array([_as_index(value) for value in listed], dtype=np.int64)
    pairs = [(None, None) if value is None else tuple(value) for value in listed]
    return np.array([[_as_number(value) for value in pair] for pair in pairs])


def _is_whole(value: Any) -> bool:
    """Whole floats as well: one missing value turns a column of integers into floats."""
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
    """The nearest location, with the lowest index in a tie: as `LocationSet.nearest`, without
    scipy."""
    nearest = [rows.argmin(axis=1) for rows in _rows_km(degrees, locations)]
    return np.concatenate(nearest).astype(np.int64)


def _rows_km(degrees: Floats, locations: LocationSet) -> Iterator[Floats]:
    every = places(locations.lat, locations.lng)
    step = max(1, _PAIRS_AT_ONCE // len(locations))
    for first in range(0, len(degrees), step):
        block = degrees[first : first + step]
        yield distance_km(places(block[:, :1], block[:, 1:]), every)


def _hour(hour: Any, *, is_asked: bool) -> int | None:
    """The hour, or the public hour if unknown: a report is made in either case."""
    if not is_asked:
        return None
    is_number = isinstance(hour, int | float | np.integer | np.floating)
    if isinstance(hour, bool) or not (is_number or hour is None):
        raise DomainError(
            "the hour of the week must be a whole number, or None if it is unknown; its value "
            "is withheld because it is private",
            code="hour_malformed",
        )
    is_known = hour is not None and 0 <= hour < HOURS and _is_whole(hour)
    return int(hour) if is_known else PUBLIC_HOUR
