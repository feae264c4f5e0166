"""One person's history: places with their moments, as importers find them.

An export is what a phone wrote, so nobody can mend it: an entry that cannot be understood is
left out and counted, and only a file without any that can is refused. Positions without a time
of their own are spread evenly between the beginning and the end of what they belong to.
"""

import math
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, NamedTuple

import numpy as np

from nomadp.formats.points import Points, numbers

__all__ = [
    "Fix",
    "Instant",
    "Place",
    "e7_place",
    "fixed",
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
"""The year 2200: what a clock says beyond is a mistake."""
MICROSECOND = timedelta(microseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FAR_OFFSET_MINUTES = 18 * 60
WRAP = 2**32
"""Some old files have E7 numbers that ran over: they are so much too large."""

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
    """A moment in UTC, and what the clock showed where it was."""

    moment_us: int
    local_us: int


class Fix(NamedTuple):
    """A place at a moment."""

    at: Instant
    lat: float
    lng: float


def fixed(at: Instant | None, where: Place | None) -> Fix | None:
    """None where the one or the other was not understood."""
    return None if at is None or where is None else Fix(at, *where)


def number(value: Any) -> float | None:
    """A finite number, also one written as text."""
    if isinstance(value, str):
        value = float(value) if _NUMBER.fullmatch(value) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def place(lat: Any, lng: Any) -> Place | None:
    """Two numbers, if they are degrees."""
    found = number(lat), number(lng)
    if found[0] is None or found[1] is None:
        return None
    return (found[0], found[1]) if abs(found[0]) <= 90 and abs(found[1]) <= 180 else None


def text_place(value: Any) -> Place | None:
    """From `40.7128°, -74.006°` or `geo:40.7128,-74.006`; a third number is a height."""
    written = _PLACE.fullmatch(value) if isinstance(value, str) else None
    return place(written[1], written[2]) if written else None


def e7_place(lat: Any, lng: Any) -> Place | None:
    """From ten-millionths of a degree."""
    found = [_e7(lat, 90), _e7(lng, 180)]
    return place(*found)


def _e7(value: Any, limit: int) -> float | None:
    found = number(value)
    if found is None:
        return None
    return (found - WRAP if found > limit * 10**7 else found) / 1e7


def instant(
    value: Any, zone: tzinfo | None = None, offset_minutes: Any = None
) -> Instant | None:
    """From ISO 8601 text; `zone` is for text without one, `offset_minutes` is of the clock."""
    if not isinstance(value, str) or not _MOMENT.fullmatch(value):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    if found.tzinfo is None:
        if zone is None:
            return None
        found = found.replace(tzinfo=zone)
    moment_us = (found - EPOCH) // MICROSECOND
    offset = found.utcoffset() or timedelta(0)
    said = number(offset_minutes)
    if said is not None and abs(said) <= FAR_OFFSET_MINUTES:
        offset = timedelta(minutes=said)
    return _plausible(moment_us, offset // MICROSECOND)


def since_1970(value: Any, unit_us: int) -> Instant | None:
    """From a number of seconds (`unit_us` is a million) or milliseconds (a thousand); UTC."""
    found = number(value)
    if found is None or abs(found) * unit_us > LATEST_US:
        return None
    return _plausible(math.floor(found * unit_us), 0)


def _plausible(moment_us: int, offset_us: int) -> Instant | None:
    if not 0 <= moment_us < LATEST_US:
        return None
    return Instant(moment_us, moment_us + offset_us)


def spread(
    begin: Instant | None, end: Instant | None, places: Sequence[Place | None]
) -> Iterator[Fix | None]:
    """The first at the beginning, the last at the end, the others evenly between.

    Without an end, all are at the beginning; nothing without a beginning.
    """
    if begin is None or (end is not None and end.moment_us < begin.moment_us):
        yield from (None for _ in places)
        return
    whole_us = 0 if end is None else end.moment_us - begin.moment_us
    for k, where in enumerate(places):
        after_us = whole_us * k // max(1, len(places) - 1)
        at = Instant(begin.moment_us + after_us, begin.local_us + after_us)
        yield None if where is None else Fix(at, *where)


def history(found: Iterable[Fix | None], *, hours: bool = False) -> tuple[Points | None, int]:
    """One trajectory in order of time, if any, and how many entries were left out.

    Of equal moments the file's order is kept; a place that is there twice at a moment, once.
    """
    clocks, places, left_out = array("q"), array("d"), 0
    for fix in found:
        if fix is None:
            left_out += 1
        else:
            clocks.extend(fix.at)
            places.extend((fix.lat, fix.lng))
    if not clocks:
        return None, left_out
    moment_us, local_us = np.array(clocks).reshape(-1, 2).T
    lat, lng = np.array(places).reshape(-1, 2).T
    kept = _ordered(moment_us, lat, lng)
    points = Points(
        np.array([0, len(kept)]),
        lat[kept],
        lng[kept],
        numbers(1),
        moment_us=moment_us[kept],
        local_us=local_us[kept] if hours else None,
    )
    return points, left_out


def _ordered(moment_us: Any, lat: Any, lng: Any) -> Any:
    """Rows by moment, each place once a moment."""
    alike = np.lexsort((lng, lat, moment_us))  # stable: of equal ones, the first comes first
    same = np.ones(len(alike), dtype=bool)
    same[0] = False
    for column in (moment_us, lat, lng):
        same[1:] &= np.diff(column[alike]) == 0
    kept = np.sort(alike[~same])
    return kept[np.argsort(moment_us[kept], kind="stable")]
