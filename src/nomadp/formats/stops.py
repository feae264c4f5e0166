"""Where somebody stayed: the stay points of Li et al. (2008), from points to points.

From a point on, as long as the next ones lie within the radius of that first point, they belong
together; if they last for the least time, they are a stop at their mean, and the search goes on
after them. Otherwise it goes on at the next point. A gap in the record does not end a stay: a
phone at rest is silent.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from nomadp.errors import DomainError
from nomadp.formats.points import HOUR_US, Points, numbers
from nomadp.geometry import distance_km, mean_lat_lng, places
from nomadp.sequences import Indices

__all__ = ["StopRule", "stops"]

MINUTE_US = 60_000_000
AT_ONCE = 256
"""Points whose distance is taken together."""


@dataclass(frozen=True)
class StopRule:
    """Within so many metres of the first point for at least so many minutes."""

    radius_m: float = 200.0
    minutes: float = 20.0

    def __post_init__(self) -> None:
        if not (0 < self.radius_m <= 100_000 and 0 < self.minutes <= 10_000):
            raise DomainError(
                "a stop must be within at most 100000 m for at most 10000 min, both above "
                f"0, got {self.radius_m:g} m and {self.minutes:g} min",
                code="stop_out_of_range",
            )

    def __str__(self) -> str:
        return (
            f"stops: points within {self.radius_m:g} m of the first of them for at least "
            f"{self.minutes:g} min are one point at their mean; journeys of fewer than 2 stops "
            "are dropped"
        )


class _Stop(NamedTuple):
    rows: slice
    lat: float
    lng: float


def stops(
    points: Points, rule: StopRule, split_hours: float | None = None, *, always: bool = False
) -> Points | None:
    """The stops of each trajectory, each at the moment of arrival; None if nobody has two.

    ``always``: a trajectory with fewer than two stops is its first and its last point, for a
    person's device, whose report must not tell whether somebody went out.

    With ``split_hours``, a journey ends where somebody stayed or nothing is known for longer.
    The place of a long stay is the end of one journey and the beginning of the next, there at
    the moment of departure.
    """
    if points.moment_us is None and not always:
        raise DomainError(
            "stops can be found only where times are known, and they are not",
            code="times_required",
        )
    rows: list[int] = []  # whose moment a stop has
    place: list[tuple[float, float]] = []
    starts: list[int] = []
    owners: list[int] = []
    for owner in range(len(points.tids)):
        journeys = _of_two(points, owner, rule, split_hours)
        if always and not journeys:
            journeys = [_ends(points, owner)]
        for journey in journeys:
            starts.append(len(rows))
            owners.append(owner)
            rows.extend(row for row, _ in journey)
            place.extend((stop.lat, stop.lng) for _, stop in journey)
    if not starts:
        return None
    is_split = len(set(owners)) < len(owners)
    tids = numbers(len(owners)) if is_split else tuple(points.tids[k] for k in owners)
    offsets = np.array([*starts, len(rows)])
    there = points.rearranged(offsets, np.array(rows), np.array(owners), tids)
    lat, lng = np.array(place).T
    return replace(there, lat=lat, lng=lng, location_ids=None)


def _of_two(
    points: Points, owner: int, rule: StopRule, split_hours: float | None
) -> list[list[tuple[int, _Stop]]]:
    """The journeys of at least two stops; none where times are unknown."""
    if points.moment_us is None or np.isnan(points.lat[points.offsets[owner]]):
        return []
    journeys = _journeys(points.moment_us, list(_found(points, owner, rule)), split_hours)
    return [journey for journey in journeys if len(journey) >= 2]


def _ends(points: Points, owner: int) -> list[tuple[int, _Stop]]:
    first, last = int(points.offsets[owner]), int(points.offsets[owner + 1]) - 1
    return [
        (row, _Stop(slice(row, row + 1), float(points.lat[row]), float(points.lng[row])))
        for row in (first, last)
    ]


def _found(points: Points, owner: int, rule: StopRule) -> Iterator[_Stop]:
    start, end = int(points.offsets[owner]), int(points.offsets[owner + 1])
    where = places(points.lat[start:end], points.lng[start:end])
    moment_us = points.moment_us[start:end] if points.moment_us is not None else np.empty(0)
    least_us, radius_km = rule.minutes * MINUTE_US, rule.radius_m / 1000
    at = 0
    while at < end - start:
        after = at + 1
        while after < end - start:
            some = slice(after, after + AT_ONCE)
            far = distance_km(where.at(at), where.at(some)) > radius_km
            after += int(far.argmax()) if far.any() else len(far)
            if far.any():
                break
        if moment_us[after - 1] - moment_us[at] >= least_us:
            rows = slice(start + at, start + after)
            lat, lng = mean_lat_lng(points.lat[rows], points.lng[rows])
            yield _Stop(rows, float(lat), float(lng))
            at = after
        else:
            at += 1


def _journeys(
    moment_us: Indices, found: list[_Stop], split_hours: float | None
) -> Iterator[list[tuple[int, _Stop]]]:
    """Lists of the row that says when, and the stop."""
    journey: list[tuple[int, _Stop]] = []
    gap_us = None if split_hours is None else round(split_hours * HOUR_US)
    left: int | None = None
    for stop in found:
        arrival, departure = stop.rows.start, stop.rows.stop - 1
        if gap_us is not None and left is not None and moment_us[arrival] - left > gap_us:
            yield journey
            journey = []
        journey.append((arrival, stop))
        left = int(moment_us[departure])
        if gap_us is not None and left - moment_us[arrival] > gap_us:
            yield journey
            journey = [(departure, stop)]
    yield journey
