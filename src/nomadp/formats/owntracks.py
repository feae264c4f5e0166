"""Formats of trackers that report to a person's own server: OwnTracks and Overland.

The OwnTracks recorder writes lines of time, kind and JSON, separated by tabs. The app sends the
same JSON, as one object or several. Only objects of the type `location` have a place; others
are ignored. Overland sends batches `{"locations": [...]}` of GeoJSON points with a timestamp.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import tzinfo
from typing import Any, BinaryIO

from nomadp.formats.fixes import Fix, fix_or_none, instant, place, since_1970
from nomadp.formats.json_stream import MAX_ELEMENT_CHARACTERS, JsonStream
from nomadp.formats.unreadable import BadContent

__all__ = ["overland_fix", "overland_fixes", "owntracks_fixes", "recorded_fixes"]

SECOND_US = 1_000_000


def recorded_fixes(stream: BinaryIO) -> Iterator[Fix | None]:
    """The fixes of a recorder's file (.rec)."""
    while line := stream.readline(MAX_ELEMENT_CHARACTERS):
        if len(line) == MAX_ELEMENT_CHARACTERS:
            raise BadContent(code="too_large")
        payload = line.rstrip(b"\r\n").split(b"\t", 2)[-1].strip()
        # Lines of other kinds contain other text, or nothing.
        if payload.startswith(b"{"):
            yield from _location(_parsed(payload))


def owntracks_fixes(stream: JsonStream) -> Iterator[Fix | None]:
    """The fixes of consecutive objects, or of objects in an array."""
    while mark := stream.peek():
        for message in stream.elements() if mark == "[" else [stream.value()]:
            yield from _location(message)


def _location(message: Any) -> Iterator[Fix | None]:
    if not isinstance(message, Mapping):
        yield None
    elif message.get("_type") == "location":
        where = place(message.get("lat"), message.get("lon"))
        yield fix_or_none(since_1970(message.get("tst"), SECOND_US), where)


def _parsed(payload: bytes) -> Any:
    try:
        return json.loads(payload.decode())
    except UnicodeDecodeError:
        code = "not_utf8"
    except (ValueError, RecursionError):
        return None
    raise BadContent(code=code)


def overland_fixes(stream: JsonStream, zone: tzinfo | None = None) -> Iterator[Fix | None]:
    """The fixes of consecutive batches."""
    while stream.peek():
        for name in stream.members():
            if name == "locations":
                yield from (overland_fix(item, zone) for item in stream.elements())
            else:
                stream.skip()


def overland_fix(feature: Any, zone: tzinfo | None = None) -> Fix | None:
    geometry, properties = (
        feature.get(name) if isinstance(feature, Mapping) else None
        for name in ("geometry", "properties")
    )
    if not isinstance(geometry, Mapping) or not isinstance(properties, Mapping):
        return None
    position = geometry.get("coordinates")
    if geometry.get("type") != "Point" or not isinstance(position, list) or len(position) < 2:
        return None
    lat_lng = place(position[1], position[0])
    return fix_or_none(instant(properties.get("timestamp"), zone), lat_lng)
