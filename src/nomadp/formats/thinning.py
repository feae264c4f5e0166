"""Fewer points by rules that have a name: at intervals, evenly along the way, or stops only.

GPS is not check-ins: a track has a point a second, and a mechanism needs a handful. Points in,
points out; every rule says itself what it does, and nothing is decided by anybody else's data.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nomadp.errors import DomainError
from nomadp.formats.columns import UNKNOWN_CLOCK
from nomadp.formats.points import Points
from nomadp.formats.stops import StopRule, stops

__all__ = ["Thinning", "along", "every"]

SECOND_US = 1_000_000


@dataclass(frozen=True)
class Thinning:
    """What becomes of points after reading, in this order: stops, intervals, evenly."""

    stops: StopRule | None = None
    every_s: float | None = None
    points: int | None = None

    def __post_init__(self) -> None:
        if self.stops is not None and self.every_s is not None:
            raise DomainError(
                "stops and intervals exclude each other, got both",
                code="thinning_rules_conflict",
            )
        if self.every_s is not None and not 0 < self.every_s <= 1e9:
            raise DomainError(
                f"an interval must be above 0 seconds, got {self.every_s:g}",
                code="interval_out_of_range",
            )
        if self.points is not None and not 2 <= self.points <= 1_000_000:
            raise DomainError(
                f"points must be 2 to a million, got points={self.points}",
                code="point_count_out_of_range",
            )

    def __str__(self) -> str:
        """The rules in words, with all that they depend on."""
        rules = []
        if self.stops is not None:
            rules.append(str(self.stops))
        if self.every_s is not None:
            rules.append(
                f"every {self.every_s:g} s: of each such stretch since a journey's first point "
                "the first, and the journey's last"
            )
        if self.points is not None:
            rules.append(
                f"{self.points} points: evenly along the straight lines between a journey's "
                "points, from its first to its last"
            )
        return "; then ".join(rules)

    def __bool__(self) -> bool:
        return self != Thinning()

    @property
    def by_place(self) -> bool:
        """Whether the rules need to know where points are."""
        return self.stops is not None or self.points is not None

    def of(
        self, points: Points, split_hours: float | None = None, *, always: bool = False
    ) -> Points | None:
        """The points by these rules, split at gaps, if any are left.

        A stay that is as long as a gap ends a journey of stops. ``always``: something is left
        of every trajectory.
        """
        if self.stops is not None:
            found = stops(points, self.stops, split_hours, always=always)
        else:
            found = points if split_hours is None else points.split(split_hours)
        is_clocked = not always or points.moment_us is not None
        if found is not None and self.every_s is not None and is_clocked:
            found = every(found, self.every_s)
        return found if found is None or self.points is None else along(found, self.points)


def every(points: Points, interval_s: float) -> Points:
    """Of each stretch of so many seconds since its first point the first, and the last."""
    if points.moment_us is None:
        raise DomainError(
            "points can be thinned by time only where times are known", code="times_required"
        )
    start = points.moment_us[points.offsets[:-1]][points.owner]
    stretch = (points.moment_us - start) // max(1, round(interval_s * SECOND_US))
    keep = np.ones(len(points), dtype=np.bool_)
    keep[1:] = (np.diff(stretch) != 0) | (np.diff(points.owner) != 0)
    keep[points.offsets[1:] - 1] = True
    return points.kept(keep)


def along(points: Points, count: int) -> Points:
    """Every trajectory as so many points, evenly spaced along its way.

    A journey that never moves is its place so many times. Places that had names lose them.
    """
    first, last = points.offsets[:-1], points.offsets[1:] - 1
    way_km = np.cumsum(points.steps_km())
    begin_km, whole_km = way_km[first], way_km[last] - way_km[first]
    share = np.linspace(0.0, 1.0, count)
    wanted = (begin_km[:, np.newaxis] + whole_km[:, np.newaxis] * share).ravel()
    journey = np.repeat(np.arange(len(first)), count)
    after = np.clip(np.searchsorted(way_km, wanted), first[journey], last[journey])
    before = np.maximum(after - 1, first[journey])
    gap_km = way_km[after] - way_km[before]
    part = np.where(
        gap_km > 0, (wanted - way_km[before]) / np.where(gap_km > 0, gap_km, 1), 1.0
    )
    part = np.clip(part, 0.0, 1.0)
    # Not by arithmetic: the ends of a journey are its own to the bit.
    ends = {0: first, count - 1: last}
    for k, row in ends.items():
        before[k::count] = after[k::count] = row
        part[k::count] = 0.0
    return Points(
        np.arange(len(first) + 1) * count,
        _between(points.lat, before, after, part),
        _turned(points.lng, before, after, part),
        points.tids,
        points.uids,
        _moments(points.moment_us, before, after, part),
        None,
        _clocks(points, before, after, part),
    )


def _between(column: Any, before: Any, after: Any, part: Any) -> Any:
    return column[before] + (column[after] - column[before]) * part


def _turned(lng: Any, before: Any, after: Any, part: Any) -> Any:
    """The short way round, also across the date line."""
    turn = lng[after] - lng[before]
    turn = turn - 360.0 * np.round(turn / 360.0)
    found = lng[before] + turn * part
    return np.where(np.abs(found) > 180.0, found - 360.0 * np.sign(found), found)


def _clocks(points: Points, before: Any, after: Any, part: Any) -> Any:
    """By the clock of the point before; by none where that has none."""
    if points.moment_us is None or points.local_us is None:
        return None
    moment_us = _moments(points.moment_us, before, after, part)
    shown = points.local_us[before]
    ahead_us = shown - points.moment_us[before]
    return np.where(shown == UNKNOWN_CLOCK, UNKNOWN_CLOCK, moment_us + ahead_us)


def _moments(column: Any, before: Any, after: Any, part: Any) -> Any:
    if column is None:
        return None
    return column[before] + np.rint((column[after] - column[before]) * part).astype(np.int64)
