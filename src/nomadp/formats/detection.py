"""Detects the format of a file by its content: names may be localised, changed or wrong.

Only the start of a file is read or, in a JSON object, everything up to a distinctive name.
Skipped values are not parsed.
"""

import re
from collections.abc import Mapping
from typing import Any, BinaryIO

from nomadp.formats.archives import ByteSource
from nomadp.formats.json_stream import JsonStream
from nomadp.formats.unreadable import BadContent, Unreadable
from nomadp.formats.xml_stream import root_of

__all__ = ["detect_kind"]

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
FIT_SIGNATURE = slice(8, 12)  # the bytes that contain ".FIT"
REC_LINE = re.compile(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}[^\t\n]{0,8}\t[^\t\n]{1,40}\t")
KIND_BY_ROOT = {"gpx": "gpx", "kml": "kml"}
ERROR_BY_ROOT = {"TrainingCenterDatabase": "tcx", "html": "web_page"}
SEGMENT_KEYS = {
    *("startTime", "endTime"),
    *("visit", "activity", "timelinePath", "timelineMemory"),
}
KIND_BY_MEMBER = {
    "semanticSegments": "timeline",
    "rawSignals": "timeline",
    "timelineObjects": "month",
    "features": "geojson",
    "_type": "owntracks",
}


def detect_kind(source: ByteSource) -> str | None:
    """timeline, records, month, overland, owntracks, recorded, geojson, gpx or kml.

    None if the content has no signature, such as CSV. Raises `Unreadable` for formats that are
    known but not supported.
    """
    head = source.head()
    text = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    if head[FIT_SIGNATURE] == b".FIT":
        raise Unreadable(source, code="fit")
    if REC_LINE.match(text):
        return "recorded"
    detect = {b"{": _json_kind, b"[": _json_kind, b"<": _xml_kind}.get(text[:1])
    if detect is None:
        return None
    try:
        with source.open() as stream:
            return detect(stream)
    except BadContent as bad:
        code = bad.code
    raise Unreadable(source, code=code)


def _xml_kind(stream: BinaryIO) -> str:
    root = root_of(stream)
    if root in KIND_BY_ROOT:
        return KIND_BY_ROOT[root]
    raise BadContent(code=ERROR_BY_ROOT.get(root, "unknown_xml"))


def _json_kind(stream: BinaryIO) -> str:
    content = JsonStream(stream)
    if content.peek() == "[":
        return _array_kind(content)
    for name in content.members():
        if name in KIND_BY_MEMBER:
            return KIND_BY_MEMBER[name]
        if name == "timelineEdits":
            raise BadContent(code="timeline_edits")
        if name == "type" and content.peek() == '"':
            if content.value() in ("FeatureCollection", "Feature"):
                return "geojson"
        elif name == "locations" and content.peek() == "[":
            return _locations_kind(content)
        else:
            content.skip()
    raise BadContent(code="unknown_json")


def _array_kind(content: JsonStream) -> str:
    for element in content.elements():
        if isinstance(element, Mapping):
            if "_type" in element:
                return "owntracks"
            if SEGMENT_KEYS & element.keys():
                return "timeline"
        raise BadContent(code="unknown_json")
    return "timeline"  # an empty one


def _locations_kind(content: JsonStream) -> str:
    """Overland or Records.json, by the first entry that has distinctive members."""
    k = -1
    for k, element in enumerate(content.elements()):
        if kind := _location_kind(element):
            return kind
        if k >= 1000:
            break
    if k < 0:
        return "records"  # an empty one
    raise BadContent(code="unknown_json")


def _location_kind(element: Any) -> str | None:
    if not isinstance(element, Mapping):
        return None
    if element.get("type") == "Feature":
        return "overland"
    return "records" if {"latitudeE7", "timestampMs", "deviceTag"} & element.keys() else None
