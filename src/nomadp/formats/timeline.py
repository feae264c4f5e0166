"""Google Timeline as phones export it: an object on Android, an array of segments on iOS.

A visit gives its place at its start and end, an activity its two ends, and a path its points.
Raw signals are read only on request. `userLocationProfile`, which says where somebody lives and
works, is never parsed: the scanner skips it.
"""

from collections.abc import Iterator, Mapping
from datetime import tzinfo
from typing import Any, TypeGuard

from nomadp.formats.fixes import (
    Fix,
    Instant,
    Place,
    fix_or_none,
    instant,
    number,
    spread,
    text_place,
)
from nomadp.formats.json_stream import JsonStream
from nomadp.formats.unreadable import BadContent

__all__ = ["raw_fixes", "segment_fixes", "timeline_fixes"]

MINUTE_US = 60_000_000


def timeline_fixes(
    stream: JsonStream, zone: tzinfo | None = None, *, raw_signals: bool = False
) -> Iterator[Fix | None]:
    """The fixes of an export of either shape; None for each invalid entry."""
    if stream.peek() == "[":
        for segment in stream.elements():
            yield from segment_fixes(segment, zone)
        return
    n_fixes = n_unread_signals = 0
    for name in stream.members():
        if name == "semanticSegments":
            for segment in stream.elements():
                for fix in segment_fixes(segment, zone):
                    n_fixes += fix is not None
                    yield fix
        elif name == "rawSignals" and raw_signals:
            for signal in stream.elements():
                yield from raw_fixes(signal, zone)
        else:
            n_unread_signals += stream.skip() and name == "rawSignals"
    if n_unread_signals and not n_fixes:
        raise BadContent(code="raw_only")


def segment_fixes(segment: Any, zone: tzinfo | None = None) -> Iterator[Fix | None]:
    """The fixes of a segment's path, visit and activity; other segments have none."""
    if not isinstance(segment, Mapping):
        yield None
        return
    offset_minutes = segment.get("startTimeTimezoneUtcOffsetMinutes")
    begin = instant(segment.get("startTime"), zone, offset_minutes)
    end = instant(segment.get("endTime"), zone, offset_minutes)
    path = segment.get("timelinePath")
    for point in path if isinstance(path, list) else ():
        yield _path_fix(point, begin, end, zone)
    visit, activity = segment.get("visit"), segment.get("activity")
    if isinstance(visit, Mapping):
        candidate = visit.get("topCandidate")
        visited_place = _where(candidate.get("placeLocation")) if _is_map(candidate) else None
        yield from spread(begin, end, [visited_place, visited_place])
    if isinstance(activity, Mapping):
        yield from spread(
            begin, end, [_where(activity.get("start")), _where(activity.get("end"))]
        )


def raw_fixes(signal: Any, zone: tzinfo | None = None) -> Iterator[Fix | None]:
    """The fix of a position. Network scans and activity guesses are ignored."""
    position = signal.get("position") if _is_map(signal) else None
    if _is_map(position):
        yield fix_or_none(instant(position.get("timestamp"), zone), _where(position))


def _path_fix(
    point: Any, begin: Instant | None, end: Instant | None, zone: tzinfo | None
) -> Fix | None:
    """A point at its own time if that is valid, otherwise at its offset from the start."""
    if not _is_map(point):
        return None
    at = instant(point.get("time"), zone)
    if at is not None and begin is not None:
        at = Instant(
            at.moment_us, at.local_us if point["time"][-1] != "Z" else _local_us(at, begin)
        )
    if at is None:
        at = _instant_after(begin, end, point.get("durationMinutesOffsetFromStartTime"))
    return fix_or_none(at, text_place(point.get("point")))


def _local_us(at: Instant, begin: Instant) -> int:
    """The local time of a time in UTC, with the offset of its segment."""
    return at.moment_us + begin.local_us - begin.moment_us


def _instant_after(begin: Instant | None, end: Instant | None, minutes: Any) -> Instant | None:
    """The instant at an offset in minutes; None if it is outside the segment."""
    n_minutes = number(minutes)
    if begin is None or end is None or n_minutes is None or not 0 <= n_minutes <= 1e6:
        return None
    elapsed_us = round(n_minutes * MINUTE_US)
    if begin.moment_us + elapsed_us > end.moment_us:
        return None
    return Instant(begin.moment_us + elapsed_us, begin.local_us + elapsed_us)


def _where(value: Any) -> Place | None:
    """A place from text, or from text under latLng (LatLng in raw signals)."""
    if _is_map(value):
        value = value.get("latLng", value.get("LatLng"))
    return text_place(value)


def _is_map(value: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)
