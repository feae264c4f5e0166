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
    reader = _KmlReader(zone)
    for _ in reader.feed(stream):
        pass
    parts, n_dropped = [], reader.n_dropped
    for track in [*reader.tracks, reader.timed]:
        points, n_invalid = history(track.fixes(), hours=hours)
        n_dropped += n_invalid
        if points is not None:
            parts.append(points)
    if parts:
        return Points.joined(parts), n_dropped + len(reader.lines)
    return (_untimed(reader.lines) if reader.lines else None), n_dropped


def _untimed(lines: Sequence[Sequence[Place]]) -> Points:
    lat_lng = np.array([where for line in lines for where in line])
    offsets = np.concatenate([[0], np.cumsum([len(line) for line in lines])])
    return Points(offsets, lat_lng[:, 0], lat_lng[:, 1], number_names(len(lines)))


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
            is_complete = row[0] != UNKNOWN and not math.isnan(row[2])
            yield Fix(Instant(row[0], row[1]), row[2], row[3]) if is_complete else None


@dataclass
class _Placemark:
    when: Instant | None = None
    begin: Instant | None = None
    end: Instant | None = None
    shapes: list[tuple[str, list[Place | None]]] = field(default_factory=list)


class _KmlReader(XmlStream):
    """The tracks, lines and timed placemarks read so far."""

    def __init__(self, zone: tzinfo | None) -> None:
        super().__init__()
        self.tracks: list[_Track] = []
        self.timed = _Track()
        self.lines: list[list[Place]] = []
        self.n_dropped = 0
        self._zone, self._placemark = zone, _Placemark()

    def start(self, name: str, attributes: dict[str, str]) -> bool:
        parent = self.open[-1] if self.open else ""
        if name == "Placemark":
            self._placemark = _Placemark()
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
                setattr(self._placemark, name, at)
        elif name == "coord" and parent == "Track":
            self.tracks[-1].add_place(_position(text.split()))
        elif name == "coordinates" and parent in COORDINATES:
            positions = [_position(position.split(",")) for position in text.split()]
            self._placemark.shapes.append((parent, positions))
        elif name == "Placemark":
            self._finish_placemark()

    def _finish_placemark(self) -> None:
        placemark = self._placemark
        begin = placemark.when or placemark.begin
        for kind, places in placemark.shapes:
            if begin is not None:
                # A point with a TimeSpan is a visit: one fix at its start and one at its end.
                is_visit = kind == "Point" and placemark.end is not None
                for fix in spread(begin, placemark.end, places * 2 if is_visit else places):
                    self.timed.add_time(fix and fix.at)
                    self.timed.add_place(fix and (fix.lat, fix.lng))
            elif kind == "LineString" and (
                line := [position for position in places if position]
            ):
                self.lines.append(line)
            else:
                self.n_dropped += 1


def _position(texts: list[Any]) -> Place | None:
    """A position: longitude, latitude, and perhaps a height."""
    return place(texts[1], texts[0]) if len(texts) in (2, 3) else None
