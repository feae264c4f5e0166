"""Google Timeline as phones export it: Android's object and iOS's array of segments.

A visit gives its place when it begins and when it ends, an activity its two ends, a path its
points. Raw signals are read only if asked for. `userLocationProfile`, which says where somebody
lives and works, is never parsed: the scanner passes over it.
"""

from collections.abc import Iterator, Mapping
from datetime import tzinfo
from typing import Any, TypeGuard

from nomadp.formats.fixes import (
    Fix,
    Instant,
    Place,
    fixed,
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
    """Of a whole export, either shape; None for each entry that cannot be understood."""
    if stream.peek() == "[":
        for segment in stream.elements():
            yield from segment_fixes(segment, zone)
        return
    found = unread = 0
    for name in stream.members():
        if name == "semanticSegments":
            for segment in stream.elements():
                for fix in segment_fixes(segment, zone):
                    found += fix is not None
                    yield fix
        elif name == "rawSignals" and raw_signals:
            for signal in stream.elements():
                yield from raw_fixes(signal, zone)
        else:
            unread += stream.skip() and name == "rawSignals"
    if unread and not found:
        raise BadContent(code="raw_only")


def segment_fixes(segment: Any, zone: tzinfo | None = None) -> Iterator[Fix | None]:
    """A segment may hold a path beside a visit or an activity; memories of trips hold none."""
    if not isinstance(segment, Mapping):
        yield None
        return
    clock = segment.get("startTimeTimezoneUtcOffsetMinutes")
    begin = instant(segment.get("startTime"), zone, clock)
    end = instant(segment.get("endTime"), zone, clock)
    path = segment.get("timelinePath")
    for point in path if isinstance(path, list) else ():
        yield _path_fix(point, begin, end, zone)
    visit, activity = segment.get("visit"), segment.get("activity")
    if isinstance(visit, Mapping):
        candidate = visit.get("topCandidate")
        there = _where(candidate.get("placeLocation")) if _is_map(candidate) else None
        yield from spread(begin, end, [there, there])
    if isinstance(activity, Mapping):
        yield from spread(
            begin, end, [_where(activity.get("start")), _where(activity.get("end"))]
        )


def raw_fixes(signal: Any, zone: tzinfo | None = None) -> Iterator[Fix | None]:
    """Positions only; scans for networks and guesses of activity are passed over."""
    position = signal.get("position") if _is_map(signal) else None
    if _is_map(position):
        yield fixed(instant(position.get("timestamp"), zone), _where(position))


def _path_fix(
    point: Any, begin: Instant | None, end: Instant | None, zone: tzinfo | None
) -> Fix | None:
    """At its own time if it has a valid one, otherwise so many minutes after the beginning."""
    if not _is_map(point):
        return None
    at = instant(point.get("time"), zone)
    if at is not None and begin is not None:
        at = Instant(
            at.moment_us, at.local_us if point["time"][-1] != "Z" else _shown(at, begin)
        )
    if at is None:
        at = _after(begin, end, point.get("durationMinutesOffsetFromStartTime"))
    return fixed(at, text_place(point.get("point")))


def _shown(at: Instant, begin: Instant) -> int:
    """A time in UTC by the clock of its segment."""
    return at.moment_us + begin.local_us - begin.moment_us


def _after(begin: Instant | None, end: Instant | None, minutes: Any) -> Instant | None:
    """None of a number that is negative or leads beyond the segment."""
    count = number(minutes)
    if begin is None or end is None or count is None or not 0 <= count <= 1e6:
        return None
    after_us = round(count * MINUTE_US)
    if begin.moment_us + after_us > end.moment_us:
        return None
    return Instant(begin.moment_us + after_us, begin.local_us + after_us)


def _where(value: Any) -> Place | None:
    """Text, or text under latLng, which raw signals spell LatLng."""
    if _is_map(value):
        value = value.get("latLng", value.get("LatLng"))
    return text_place(value)


def _is_map(value: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)
