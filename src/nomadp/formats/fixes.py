"""One person's location history: fixes (places with moments), as importers read them.

Nobody can repair an export that a phone wrote. So invalid entries are dropped and counted, and
only a file without any valid entry is an error. Positions without their own time are spread
evenly between the start and the end of their segment.
"""

import math
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, NamedTuple

import numpy as np

from nomadp.formats.points import Points, number_names

__all__ = [
    "Fix",
    "Instant",
    "Place",
    "e7_place",
    "fix_or_none",
    "history",
    "instant",
    "number",
    "place",
    "since_1970",
    "spread",
    "text_place",
]

Place = tuple[float, float]
"""Latitude and longitude in degrees."""

LATEST_US = 7_258_118_400_000_000
"""The year 2200. Later times are errors of the device."""
MICROSECOND = timedelta(microseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MAX_OFFSET_MINUTES = 18 * 60
E7_OVERFLOW = 2**32
"""Some old files have E7 numbers that overflowed 32 bits: they are too large by this."""

_DECIMAL = r"[-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
_NUMBER = re.compile(_DECIMAL)
_PLACE = re.compile(
    rf"\s*(?:geo:)?\s*({_DECIMAL})\s*°?\s*,\s*({_DECIMAL})\s*°?\s*(?:,\s*{_DECIMAL}[^,]*)?"
)
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
    r"(?:Z|[-+][0-9]{2}:?[0-9]{2})?"
)


class Instant(NamedTuple):
    """A moment in UTC and in local time."""

    moment_us: int
    local_us: int


class Fix(NamedTuple):
    """A place at a moment."""

    at: Instant
    lat: float
    lng: float


def fix_or_none(at: Instant | None, where: Place | None) -> Fix | None:
    """A fix; None if the moment or the place is invalid."""
    return None if at is None or where is None else Fix(at, *where)


def number(value: Any) -> float | None:
    """A finite number, also from text; None for anything else."""
    if isinstance(value, str):
        value = float(value) if _NUMBER.fullmatch(value) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        as_float = float(value)
    except OverflowError:
        return None
    return as_float if math.isfinite(as_float) else None


def place(lat: Any, lng: Any) -> Place | None:
    """A place from two numbers; None if they are not degrees."""
    lat_deg, lng_deg = number(lat), number(lng)
    if lat_deg is None or lng_deg is None:
        return None
    return (lat_deg, lng_deg) if abs(lat_deg) <= 90 and abs(lng_deg) <= 180 else None


def text_place(value: Any) -> Place | None:
    """A place from `40.7128°, -74.006°` or `geo:40.7128,-74.006`; a height is ignored."""
    match = _PLACE.fullmatch(value) if isinstance(value, str) else None
    return place(match[1], match[2]) if match else None


def e7_place(lat: Any, lng: Any) -> Place | None:
    """A place from ten-millionths of a degree."""
    return place(_e7(lat, 90), _e7(lng, 180))


def _e7(value: Any, limit: int) -> float | None:
    e7 = number(value)
    if e7 is None:
        return None
    return (e7 - E7_OVERFLOW if e7 > limit * 10**7 else e7) / 1e7


def instant(
    value: Any, zone: tzinfo | None = None, offset_minutes: Any = None
) -> Instant | None:
    """An instant from ISO 8601 text; None if it is invalid.

    `zone` applies to text without a time zone; `offset_minutes` is the offset of local time.
    """
    if not isinstance(value, str) or not _MOMENT.fullmatch(value):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        if zone is None:
            return None
        moment = moment.replace(tzinfo=zone)
    moment_us = (moment - EPOCH) // MICROSECOND
    offset = moment.utcoffset() or timedelta(0)
    minutes = number(offset_minutes)
    if minutes is not None and abs(minutes) <= MAX_OFFSET_MINUTES:
        offset = timedelta(minutes=minutes)
    return _instant_in_range(moment_us, offset // MICROSECOND)


def since_1970(value: Any, unit_us: int) -> Instant | None:
    """An instant from a Unix time in units of `unit_us` microseconds; None if it is invalid."""
    count = number(value)
    if count is None or abs(count) * unit_us > LATEST_US:
        return None
    return _instant_in_range(math.floor(count * unit_us), 0)


def _instant_in_range(moment_us: int, offset_us: int) -> Instant | None:
    if not 0 <= moment_us < LATEST_US:
        return None
    return Instant(moment_us, moment_us + offset_us)


def spread(
    begin: Instant | None, end: Instant | None, places: Sequence[Place | None]
) -> Iterator[Fix | None]:
    """Fixes at these places, with times at equal intervals from the start to the end.

    Without an end, all are at the start. Without a start, all are None.
    """
    if begin is None or (end is not None and end.moment_us < begin.moment_us):
        yield from (None for _ in places)
        return
    duration_us = 0 if end is None else end.moment_us - begin.moment_us
    for k, where in enumerate(places):
        elapsed_us = duration_us * k // max(1, len(places) - 1)
        at = Instant(begin.moment_us + elapsed_us, begin.local_us + elapsed_us)
        yield None if where is None else Fix(at, *where)


def history(fixes: Iterable[Fix | None], *, hours: bool = False) -> tuple[Points | None, int]:
    """One trajectory in order of time, if there is any, and the number of dropped entries.

    Equal moments keep the file's order. Duplicates (same moment and place) are dropped.
    """
    # Arrays take 8 bytes per number; a history may have millions of fixes.
    instants, places, n_dropped = array("q"), array("d"), 0
    for fix in fixes:
        if fix is None:
            n_dropped += 1
        else:
            instants.extend(fix.at)
            places.extend((fix.lat, fix.lng))
    if not instants:
        return None, n_dropped
    moment_us, local_us = np.array(instants).reshape(-1, 2).T
    lat, lng = np.array(places).reshape(-1, 2).T
    rows = _unique_rows_by_time(moment_us, lat, lng)
    points = Points(
        np.array([0, len(rows)]),
        lat[rows],
        lng[rows],
        number_names(1),
        moment_us=moment_us[rows],
        local_us=local_us[rows] if hours else None,
    )
    return points, n_dropped


def _unique_rows_by_time(moment_us: Any, lat: Any, lng: Any) -> Any:
    """The rows in order of time, without duplicates."""
    order = np.lexsort((lng, lat, moment_us))  # stable: the first of equal rows comes first
    is_duplicate = np.ones(len(order), dtype=bool)
    is_duplicate[0] = False
    for column in (moment_us, lat, lng):
        is_duplicate[1:] &= np.diff(column[order]) == 0
    unique = np.sort(order[~is_duplicate])
    return unique[np.argsort(moment_us[unique], kind="stable")]
