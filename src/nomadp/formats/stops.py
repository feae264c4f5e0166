"""Stop detection: the stay points of Li et al. (2008).

Consecutive points within the radius of the first of them form a group. If a group lasts for at
least the minimum time, it is a stop at the mean of its points, and the search continues after
it. Otherwise the search continues at the next point. A gap in the record does not end a stop,
because a phone at rest records nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from nomadp.errors import DomainError
from nomadp.formats.points import HOUR_US, Points, number_names
from nomadp.geometry import distance_km, mean_lat_lng, places
from nomadp.sequences import Indices

__all__ = ["StopRule", "stops"]

MINUTE_US = 60_000_000
BLOCK_POINTS = 256
"""Points whose distances are computed in one numpy call. Most groups are shorter than this, and
the distances of the whole rest would make the search quadratic."""


@dataclass(frozen=True)
class StopRule:
    """A stop stays within a radius of its first point for a minimum time."""

    radius_m: float = 200.0
    minutes: float = 20.0

    def __post_init__(self) -> None:
        if not (0 < self.radius_m <= 100_000 and 0 < self.minutes <= 10_000):
            raise DomainError(
                "a stop must have a radius up to 100000 m and a minimum time up to 10000 min, "
                f"both above 0, got {self.radius_m:g} m and {self.minutes:g} min",
                code="stop_out_of_range",
            )

    def __str__(self) -> str:
        return (
            f"stops: replace points that stay within {self.radius_m:g} m of the first of them "
            f"for at least {self.minutes:g} min by their mean; drop trajectories of fewer than "
            "2 stops"
        )


class _Stop(NamedTuple):
    rows: slice
    lat: float
    lng: float


def stops(
    points: Points, rule: StopRule, split_hours: float | None = None, *, always: bool = False
) -> Points | None:
    """The stops of each trajectory, with times of arrival; None if no trajectory has two.

    With ``always``, a trajectory with fewer than two stops becomes its first and last point. A
    person's device needs this: whether it reports must not reveal whether the person went out.

    With ``split_hours``, a trajectory ends at a longer stay or gap. The place of a long stay is
    the end of one trajectory and the start of the next, with the time of departure.
    """
    if points.moment_us is None and not always:
        raise DomainError(
            "points must have times for stops to be detected, got points without",
            code="times_required",
        )
    rows: list[int] = []  # the points that give the stops their times
    place: list[tuple[float, float]] = []
    starts: list[int] = []
    owners: list[int] = []
    for owner in range(len(points.tids)):
        parts = _parts_with_two_stops(points, owner, rule, split_hours)
        if always and not parts:
            parts = [_ends(points, owner)]
        for part in parts:
            starts.append(len(rows))
            owners.append(owner)
            rows.extend(row for row, _ in part)
            place.extend((stop.lat, stop.lng) for _, stop in part)
    if not starts:
        return None
    is_split = len(set(owners)) < len(owners)
    tids = number_names(len(owners)) if is_split else tuple(points.tids[k] for k in owners)
    offsets = np.array([*starts, len(rows)])
    stopped = points.rearranged(offsets, np.array(rows), np.array(owners), tids)
    lat, lng = np.array(place).T
    return replace(stopped, lat=lat, lng=lng, location_ids=None)


def _parts_with_two_stops(
    points: Points, owner: int, rule: StopRule, split_hours: float | None
) -> list[list[tuple[int, _Stop]]]:
    """The parts of a trajectory that have at least two stops; none if times are unknown."""
    if points.moment_us is None or np.isnan(points.lat[points.offsets[owner]]):
        return []
    detected = list(_stops_of(points, owner, rule))
    parts = _split(points.moment_us, detected, split_hours)
    return [part for part in parts if len(part) >= 2]


def _ends(points: Points, owner: int) -> list[tuple[int, _Stop]]:
    """The first and last point of a trajectory, as stops."""
    first, last = int(points.offsets[owner]), int(points.offsets[owner + 1]) - 1
    return [
        (row, _Stop(slice(row, row + 1), float(points.lat[row]), float(points.lng[row])))
        for row in (first, last)
    ]


def _stops_of(points: Points, owner: int, rule: StopRule) -> Iterator[_Stop]:
    """The stops of one trajectory, in order."""
    start, end = int(points.offsets[owner]), int(points.offsets[owner + 1])
    positions = places(points.lat[start:end], points.lng[start:end])
    moment_us = points.moment_us[start:end] if points.moment_us is not None else np.empty(0)
    least_us, radius_km = rule.minutes * MINUTE_US, rule.radius_m / 1000
    first = 0  # the candidate for the first point of a stop, counted from the start
    while first < end - start:
        # Find the first later point outside the radius.
        after = first + 1
        while after < end - start:
            block = slice(after, after + BLOCK_POINTS)
            is_far = distance_km(positions.at(first), positions.at(block)) > radius_km
            after += int(is_far.argmax()) if is_far.any() else len(is_far)
            if is_far.any():
                break
        if moment_us[after - 1] - moment_us[first] >= least_us:
            rows = slice(start + first, start + after)
            lat, lng = mean_lat_lng(points.lat[rows], points.lng[rows])
            yield _Stop(rows, float(lat), float(lng))
            first = after
        else:
            first += 1


def _split(
    moment_us: Indices, detected: list[_Stop], split_hours: float | None
) -> Iterator[list[tuple[int, _Stop]]]:
    """The stops, split at long gaps and stays; each with the row that gives its time."""
    part: list[tuple[int, _Stop]] = []
    gap_us = None if split_hours is None else round(split_hours * HOUR_US)
    departed_us: int | None = None
    for stop in detected:
        arrival, departure = stop.rows.start, stop.rows.stop - 1
        since_us = None if departed_us is None else moment_us[arrival] - departed_us
        if gap_us is not None and since_us is not None and since_us > gap_us:
            yield part
            part = []
        part.append((arrival, stop))
        departed_us = int(moment_us[departure])
        # The place of a long stay also begins the next part: people leave from it.
        if gap_us is not None and departed_us - moment_us[arrival] > gap_us:
            yield part
            part = [(departure, stop)]
    yield part
