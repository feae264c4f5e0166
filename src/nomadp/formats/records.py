"""Google Takeout until 2024: Records.json, and the months of a Semantic Location History.

Coordinates are in ten-millionths of a degree. Times are ISO 8601 text or milliseconds since
1970.
"""

from collections.abc import Iterator, Mapping
from datetime import tzinfo
from typing import Any

from nomadp.formats.fixes import (
    Fix,
    Instant,
    Place,
    e7_place,
    fix_or_none,
    instant,
    since_1970,
    spread,
)
from nomadp.formats.json_stream import JsonStream

__all__ = ["month_fixes", "object_fixes", "record_fix", "record_fixes"]

MILLISECOND_US = 1_000


def record_fixes(stream: JsonStream, zone: tzinfo | None = None) -> Iterator[Fix | None]:
    """The fixes of a Records.json of any size."""
    for name in stream.members():
        if name == "locations":
            yield from (record_fix(entry, zone) for entry in stream.elements())
        else:
            stream.skip()


def record_fix(record: Any, zone: tzinfo | None = None) -> Fix | None:
    return fix_or_none(_when(record, "timestamp", zone), _where(record))


def month_fixes(stream: JsonStream, zone: tzinfo | None = None) -> Iterator[Fix | None]:
    """The fixes of one month."""
    for name in stream.members():
        if name == "timelineObjects":
            for entry in stream.elements():
                yield from object_fixes(entry, zone)
        else:
            stream.skip()


def object_fixes(entry: Any, zone: tzinfo | None = None) -> Iterator[Fix | None]:
    """The start and end of a visit; the ends of an activity and the points between them."""
    visit, activity = _child(entry, "placeVisit"), _child(entry, "activitySegment")
    if visit:
        begin, end = _ends(visit, zone)
        others = _list_of(visit, "otherCandidateLocations")
        visited_place = _where(visit.get("location")) or _where(next(iter(others), None))
        yield from spread(begin, end, [visited_place, visited_place])
    if activity:
        begin, end = _ends(activity, zone)
        ends = [_where(activity.get(name)) for name in ("startLocation", "endLocation")]
        path_fixes = _path(activity, zone)
        waypoints = [] if any(path_fixes) else _waypoints(activity)
        yield from spread(begin, end, [ends[0], *waypoints, ends[1]])
        yield from path_fixes
    if not visit and not activity:
        yield None


def _path(activity: Mapping[str, Any], zone: tzinfo | None) -> list[Fix | None]:
    """The points of the simplified raw path, which have their own times."""
    points = _list_of(_child(activity, "simplifiedRawPath"), "points")
    return [record_fix(point, zone) for point in points]


def _waypoints(activity: Mapping[str, Any]) -> list[Place | None]:
    return [_where(entry) for entry in _list_of(_child(activity, "waypointPath"), "waypoints")]


def _ends(
    entry: Mapping[str, Any], zone: tzinfo | None
) -> tuple[Instant | None, Instant | None]:
    duration = _child(entry, "duration")
    return _when(duration, "startTimestamp", zone), _when(duration, "endTimestamp", zone)


def _when(value: Any, name: str, zone: tzinfo | None) -> Instant | None:
    """A time: text under its name, or a number under its name followed by Ms."""
    if not isinstance(value, Mapping):
        return None
    return instant(value.get(name), zone) or since_1970(value.get(f"{name}Ms"), MILLISECOND_US)


def _where(value: Any) -> Place | None:
    """A place: latitudeE7 in places, latE7 in paths."""
    if not isinstance(value, Mapping):
        return None
    return e7_place(value.get("latitudeE7"), value.get("longitudeE7")) or e7_place(
        value.get("latE7"), value.get("lngE7")
    )


def _child(parent: Any, name: str) -> Mapping[str, Any]:
    value = parent.get(name) if isinstance(parent, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _list_of(parent: Mapping[str, Any], name: str) -> list[Any]:
    value = parent.get(name)
    return value if isinstance(value, list) else []
