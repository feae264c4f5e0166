"""KML: tracks (`gx:Track`), and placemarks of points and lines with a time.

Every track is a trajectory. All placemarks with a TimeStamp or a TimeSpan form one more, in
order of time. Lines without a time are trajectories only if the whole file has no times;
otherwise they are dropped. Points without a time are always dropped.
"""

import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any, BinaryIO

import numpy as np

from nomadp.formats.fixes import Fix, Instant, Place, history, instant, place, spread
from nomadp.formats.points import Points, number_names
from nomadp.formats.xml_stream import XmlStream

__all__ = ["kml_points"]

UNKNOWN = -1
COORDINATES = ("Point", "LineString")
TIMES = {"when": ("Track", "TimeStamp"), "begin": ("TimeSpan",), "end": ("TimeSpan",)}


def kml_points(
    stream: BinaryIO, zone: tzinfo | None = None, *, hours: bool = False
) -> tuple[Points | None, int]:
    """The trajectories of a file, if there are any, and the number of dropped entries."""
    kml = _Kml(zone)
    for _ in kml.feed(stream):
        pass
    parts, left_out = [], kml.left_out
    for track in [*kml.tracks, kml.timed]:
        points, lost = history(track.fixes(), hours=hours)
        left_out += lost
        if points is not None:
            parts.append(points)
    if parts:
        return Points.joined(parts), left_out + len(kml.lines)
    return (_untimed(kml.lines) if kml.lines else None), left_out


def _untimed(lines: Sequence[Sequence[Place]]) -> Points:
    flat = np.array([where for line in lines for where in line])
    offsets = np.concatenate([[0], np.cumsum([len(line) for line in lines])])
    return Points(offsets, flat[:, 0], flat[:, 1], number_names(len(lines)))


class _Track:
    """Times and places, which a gx:Track lists separately and which match by their order."""

    def __init__(self) -> None:
        self.moment_us, self.local_us = array("q"), array("q")
        self.lat, self.lng = array("d"), array("d")

    def add_time(self, at: Instant | None) -> None:
        self.moment_us.append(UNKNOWN if at is None else at.moment_us)
        self.local_us.append(UNKNOWN if at is None else at.local_us)

    def add_place(self, where: Place | None) -> None:
        self.lat.append(math.nan if where is None else where[0])
        self.lng.append(math.nan if where is None else where[1])

    def fixes(self) -> Iterator[Fix | None]:
        if len(self.lat) != len(self.moment_us):
            yield None  # times and places cannot be matched
            return
        for row in zip(self.moment_us, self.local_us, self.lat, self.lng, strict=True):
            known = row[0] != UNKNOWN and not math.isnan(row[2])
            yield Fix(Instant(row[0], row[1]), row[2], row[3]) if known else None


@dataclass
class _Placemark:
    when: Instant | None = None
    begin: Instant | None = None
    end: Instant | None = None
    shapes: list[tuple[str, list[Place | None]]] = field(default_factory=list)


class _Kml(XmlStream):
    """The tracks, lines and timed placemarks read so far."""

    def __init__(self, zone: tzinfo | None) -> None:
        super().__init__()
        self.tracks: list[_Track] = []
        self.timed = _Track()
        self.lines: list[list[Place]] = []
        self.left_out = 0
        self._zone, self._mark = zone, _Placemark()

    def start(self, name: str, attributes: dict[str, str]) -> bool:
        parent = self.open[-1] if self.open else ""
        if name == "Placemark":
            self._mark = _Placemark()
        elif name == "Track":
            self.tracks.append(_Track())
        return (
            parent in TIMES.get(name, ())
            or (name == "coordinates" and parent in COORDINATES)
            or (name == "coord" and parent == "Track")
        )

    def end(self, name: str, text: str) -> None:
        parent = self.open[-1] if self.open else ""
        if name in TIMES and parent in TIMES[name]:
            at = instant(text.strip(), self._zone)
            if parent == "Track":
                self.tracks[-1].add_time(at)
            else:
                setattr(self._mark, name, at)
        elif name == "coord" and parent == "Track":
            self.tracks[-1].add_place(_position(text.split()))
        elif name == "coordinates" and parent in COORDINATES:
            listed = [_position(each.split(",")) for each in text.split()]
            self._mark.shapes.append((parent, listed))
        elif name == "Placemark":
            self._finish()

    def _finish(self) -> None:
        mark = self._mark
        begin = mark.when or mark.begin
        for kind, places in mark.shapes:
            if begin is not None:
                # A point with a TimeSpan is a visit: one fix at its start and one at its end.
                shape = places * 2 if kind == "Point" and mark.end is not None else places
                for fix in spread(begin, mark.end, shape):
                    self.timed.add_time(fix and fix.at)
                    self.timed.add_place(fix and (fix.lat, fix.lng))
            elif kind == "LineString" and (line := [each for each in places if each]):
                self.lines.append(line)
            else:
                self.left_out += 1


def _position(texts: list[Any]) -> Place | None:
    """A position: longitude, latitude, and perhaps a height."""
    return place(texts[1], texts[0]) if len(texts) in (2, 3) else None
