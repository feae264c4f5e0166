"""Exports of a person's own trajectories, read into points.

Each kind gives one history in order of time, or tracks. The caller splits them at gaps.
"""

import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

import numpy as np

from nomadp.formats.archives import ByteSource
from nomadp.formats.columns import ReadOptions, local_times
from nomadp.formats.fixes import Fix, history
from nomadp.formats.json_stream import JsonStream
from nomadp.formats.kml import kml_points
from nomadp.formats.owntracks import overland_fixes, owntracks_fixes, recorded_fixes
from nomadp.formats.points import Points
from nomadp.formats.presets import Reading
from nomadp.formats.records import month_fixes, record_fixes
from nomadp.formats.timeline import timeline_fixes
from nomadp.formats.unreadable import BadContent, Unreadable

__all__ = ["IMPORTS", "read_import"]

log = logging.getLogger(__name__)

IMPORTS = {
    "timeline": "a Google Timeline",
    "records": "Google's Records.json",
    "month": "a month of Google's Semantic Location History",
    "overland": "batches of Overland",
    "owntracks": "locations of OwnTracks",
    "recorded": "a file of OwnTracks' recorder",
    "kml": "KML",
}
"""The name of each kind."""


def read_import(source: ByteSource, kind: str, reading: Reading) -> Points:
    """Read the points of a source of this kind."""
    reading.check_columns(source.label, ())
    try:
        with source.open() as stream:
            points, n_dropped = _points(stream, kind, reading)
        code = "no_places"
    except BadContent as bad:
        points, code = None, bad.code
    if points is None:
        raise Unreadable(source, code=code)
    if reading.options.hours:
        points = _with_local_times(points, reading.options)
    log.info(
        f"{source} is {IMPORTS[kind]}: {len(points)} points; dropped {n_dropped} entries "
        "without a valid place and time"
    )
    return points


def _with_local_times(points: Points, options: ReadOptions) -> Points:
    """Replace local times that are only UTC. Exports write offset 0 when they mean UTC."""
    if points.local_us is None or points.moment_us is None:
        return points
    in_utc = points.local_us == points.moment_us
    local_us = local_times(points.moment_us, options)
    return replace(points, local_us=np.where(in_utc, local_us, points.local_us))


def _points(stream: BinaryIO, kind: str, reading: Reading) -> tuple[Points | None, int]:
    if kind == "kml":
        return kml_points(stream, reading.options.zone, hours=reading.options.hours)
    return history(_fixes(stream, kind, reading), hours=reading.options.hours)


def _fixes(stream: BinaryIO, kind: str, reading: Reading) -> Iterator[Fix | None]:
    zone = reading.options.zone
    if kind == "recorded":
        yield from recorded_fixes(stream)
        return
    content = JsonStream(stream)
    if kind == "timeline":
        yield from timeline_fixes(content, zone, raw_signals=reading.raw_signals)
    elif kind == "owntracks":
        yield from owntracks_fixes(content)
    else:
        readers = {"records": record_fixes, "month": month_fixes, "overland": overland_fixes}
        yield from readers[kind](content, zone)
    if content.peek():
        raise BadContent(code="not_json")  # something follows the end
