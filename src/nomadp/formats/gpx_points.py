"""Points from GPX 1.0 and 1.1: every track segment is a trajectory.

Read by expat, as it streams by. A document type declaration is refused: GPX has none, and
what it could declare (entities that grow or fetch) has no place in a track.
"""

import logging
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from nomadp.errors import SchemaError
from nomadp.formats.columns import BadValue, Moments, Wishes, degrees
from nomadp.formats.measured_file import MeasuredFile
from nomadp.formats.points import Points, numbers

__all__ = ["read_gpx_points"]

log = logging.getLogger(__name__)

CHUNK_BYTES = 1 << 18
SEPARATOR = "|"


def read_gpx_points(path: Path, wishes: Wishes) -> Points:
    """Tracks only; segments are numbered, since the names of tracks are private."""
    track = _Track()
    try:
        with MeasuredFile(path, wishes.progress) as file:
            while chunk := file.read(CHUNK_BYTES):
                track.parser.Parse(chunk)
            track.parser.Parse(b"", True)  # noqa: FBT003 - expat takes it by position only
    except expat.ExpatError as error:
        reason = f"line {error.lineno}: must be well-formed XML"
    except BadValue as bad:
        reason = f"line {bad.row}: {bad.rule}"
    except OSError as error:
        raise SchemaError(f"{path} cannot be read: {error.strerror or error}") from error
    else:
        return _points(path, track, wishes)
    # Raised outside the handlers: the originals hold parts of the file.
    raise SchemaError(f"{path}: {reason}")


class _Track:
    """What the parser has seen so far."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate(namespace_separator=SEPARATOR)
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._read
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.lat: list[str] = []
        self.lng: list[str] = []
        self.times: list[str] = []
        self.lines: list[int] = []
        self.lengths: list[int] = []
        self.others = 0  # waypoints and points of routes
        self._open: list[str] = []
        self._text: list[str] | None = None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(SEPARATOR)[2]
        if not self._open and local != "gpx":
            raise BadValue(self.parser.CurrentLineNumber, "must be GPX, and is other XML")
        self._open.append(local)
        if local == "trkseg":
            self.lengths.append(0)
        elif local == "trkpt":
            self._point(attributes)
        elif local in ("wpt", "rtept"):
            self.others += 1
        elif self._open[-2:] == ["trkpt", "time"]:
            self._text = []

    def _point(self, attributes: dict[str, str]) -> None:
        if not self.lengths or "lat" not in attributes or "lon" not in attributes:
            raise BadValue(
                self.parser.CurrentLineNumber,
                "a trkpt must be in a trkseg and have lat and lon",
            )
        self.lengths[-1] += 1
        self.lat.append(attributes["lat"])
        self.lng.append(attributes["lon"])
        self.times.append("")
        self.lines.append(self.parser.CurrentLineNumber)

    def _end(self, name: str) -> None:
        if self._text is not None:
            self.times[-1] = "".join(self._text).strip()
            self._text = None
        self._open.pop()

    def _read(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _refuse(self, *declaration: Any) -> None:
        raise BadValue(
            self.parser.CurrentLineNumber, "must not have a document type declaration"
        )


def _points(path: Path, track: _Track, wishes: Wishes) -> Points:
    lengths = [length for length in track.lengths if length]
    if not lengths:
        raise SchemaError(f"{path} must have at least one track point (trkpt), and has none")
    moments = Moments(wishes.zone, may_be_absent=True)
    try:
        lat, lng = degrees(track.lat, track.lng)
        times = moments.times(moments.add(track.times))
    except BadValue as bad:
        row, rule = bad.row, bad.rule
    else:
        log.info(
            f"{path}: {len(lengths)} track segments are trajectories; "
            f"{len(track.lengths) - len(lengths)} empty ones and {track.others} points of "
            "routes and waypoints are ignored"
        )
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        moment_us = None if times is None or times.are_positions else times.values
        return Points(offsets, lat, lng, numbers(len(lengths)), moment_us=moment_us)
    raise SchemaError(f"{path}: line {track.lines[row]}: lat, lon or time {rule}")
