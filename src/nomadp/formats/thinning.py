"""Rules that reduce the number of points: at intervals, evenly along the way, or only stops.

A GPS track has one point per second, but a mechanism needs only a few per trajectory. A rule
maps points to points. It has a description for people and uses no other person's data.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nomadp.errors import DomainError
from nomadp.formats.columns import UNKNOWN_CLOCK
from nomadp.formats.points import Points
from nomadp.formats.stops import StopRule, stops

__all__ = ["Thinning", "evenly_spaced", "first_in_intervals"]

SECOND_US = 1_000_000


@dataclass(frozen=True)
class Thinning:
    """The rules to apply after reading, in this order: stops, intervals, even spacing."""

    stops: StopRule | None = None
    every_s: float | None = None
    points: int | None = None

    def __post_init__(self) -> None:
        if self.stops is not None and self.every_s is not None:
            raise DomainError(
                "thinning must be by stops or by intervals, got both; choose one",
                code="thinning_rules_conflict",
            )
        if self.every_s is not None and not 0 < self.every_s <= 1e9:
            raise DomainError(
                f"an interval must be above 0 s and at most 1e9 s, got {self.every_s:g} s",
                code="interval_out_of_range",
            )
        if self.points is not None and not 2 <= self.points <= 1_000_000:
            raise DomainError(
                f"points must be from 2 to 1000000, got points={self.points}",
                code="point_count_out_of_range",
            )

    def __str__(self) -> str:
        """A description of the rules with all parameters."""
        rules = []
        if self.stops is not None:
            rules.append(str(self.stops))
        if self.every_s is not None:
            rules.append(
                f"every {self.every_s:g} s: keep the first point of each such interval, "
                "counted from the trajectory's first point, and its last point"
            )
        if self.points is not None:
            rules.append(
                f"{self.points} points: place them evenly along the straight lines between the "
                "trajectory's points, from the first to the last"
            )
        return "; then ".join(rules)

    def __bool__(self) -> bool:
        return self != Thinning()

    @property
    def by_place(self) -> bool:
        """Whether the rules need coordinates."""
        return self.stops is not None or self.points is not None

    def of(
        self, points: Points, split_hours: float | None = None, *, always: bool = False
    ) -> Points | None:
        """Split points at gaps and apply the rules. None if no point is left.

        With stops, a stay that is longer than the gap also ends a trajectory. With ``always``,
        every trajectory keeps at least one point.
        """
        if self.stops is not None:
            thinned = stops(points, self.stops, split_hours, always=always)
        else:
            thinned = points if split_hours is None else points.split(split_hours)
        has_times = not always or points.moment_us is not None
        if thinned is not None and self.every_s is not None and has_times:
            thinned = first_in_intervals(thinned, self.every_s)
        if thinned is None or self.points is None:
            return thinned
        return evenly_spaced(thinned, self.points)


def first_in_intervals(points: Points, interval_s: float) -> Points:
    """The first point of each interval since a trajectory's first point, and its last point."""
    if points.moment_us is None:
        raise DomainError(
            "points must have times to be thinned by time, got points without",
            code="times_required",
        )
    start = points.moment_us[points.offsets[:-1]][points.owner]
    interval = (points.moment_us - start) // max(1, round(interval_s * SECOND_US))
    keep = np.ones(len(points), dtype=np.bool_)
    keep[1:] = (np.diff(interval) != 0) | (np.diff(points.owner) != 0)
    keep[points.offsets[1:] - 1] = True
    return points.select(keep)


def evenly_spaced(points: Points, count: int) -> Points:
    """Every trajectory as ``count`` points, evenly spaced along its length.

    A trajectory that never moves repeats its place. Location ids are dropped, because new
    points lie between the named ones.
    """
    first, last = points.offsets[:-1], points.offsets[1:] - 1
    # The position along all trajectories joined end to end, so that one search serves all.
    along_km = np.cumsum(points.steps_km())
    start_km, length_km = along_km[first], along_km[last] - along_km[first]
    share = np.linspace(0.0, 1.0, count)
    target_km = (start_km[:, np.newaxis] + length_km[:, np.newaxis] * share).ravel()
    # For each new point: the two points between which it lies, and the fraction of the way.
    trajectory = np.repeat(np.arange(len(first)), count)
    after = np.clip(np.searchsorted(along_km, target_km), first[trajectory], last[trajectory])
    before = np.maximum(after - 1, first[trajectory])
    gap_km = along_km[after] - along_km[before]
    weight = np.where(
        gap_km > 0, (target_km - along_km[before]) / np.where(gap_km > 0, gap_km, 1), 1.0
    )
    weight = np.clip(weight, 0.0, 1.0)
    # Both ends are copied, so that rounding cannot change them.
    ends = {0: first, count - 1: last}
    for k, row in ends.items():
        before[k::count] = after[k::count] = row
        weight[k::count] = 0.0
    return Points(
        np.arange(len(first) + 1) * count,
        _interpolate(points.lat, before, after, weight),
        _interpolate_lng(points.lng, before, after, weight),
        points.tids,
        points.uids,
        _interpolate_moments(points.moment_us, before, after, weight),
        None,
        _interpolate_local_times(points, before, after, weight),
    )


def _interpolate(column: Any, before: Any, after: Any, weight: Any) -> Any:
    return column[before] + (column[after] - column[before]) * weight


def _interpolate_lng(lng: Any, before: Any, after: Any, weight: Any) -> Any:
    """Longitudes interpolated the shorter way round, also across the date line."""
    turn = lng[after] - lng[before]
    turn = turn - 360.0 * np.round(turn / 360.0)
    turned = lng[before] + turn * weight
    return np.where(np.abs(turned) > 180.0, turned - 360.0 * np.sign(turned), turned)


def _interpolate_local_times(points: Points, before: Any, after: Any, weight: Any) -> Any:
    """Local times with the offset of the point before, or unknown if that is unknown."""
    if points.moment_us is None or points.local_us is None:
        return None
    moment_us = _interpolate_moments(points.moment_us, before, after, weight)
    local_us = points.local_us[before]
    offset_us = local_us - points.moment_us[before]
    return np.where(local_us == UNKNOWN_CLOCK, UNKNOWN_CLOCK, moment_us + offset_us)


def _interpolate_moments(column: Any, before: Any, after: Any, weight: Any) -> Any:
    if column is None:
        return None
    return column[before] + np.rint((column[after] - column[before]) * weight).astype(np.int64)
