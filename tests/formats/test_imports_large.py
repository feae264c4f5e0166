"""Exports of 50 MB are read in pieces: memory grows with the points, not with the file."""

import gzip
import shutil
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from imports_maker import FOLDER

from nomadp.formats.columns import moment_texts


def big_pieces(kind):
    """The beginning of a file, one entry of it by (number, place, seconds), and its end."""
    android = (
        '{{"startTime": "{iso}", "endTime": "{iso}", "timelinePath": [{{"point": '
        '"{lat}°, {lng}°", "time": "{iso}"}}], "more": "{more}"}}'
    )
    profile = ",".join(['{"placeLocation": "1.5°, 2.5°"}'] * 200_000)
    ios = (
        '{{"startTime": "{iso}", "endTime": "{iso}", "visit": {{"hierarchyLevel": "0", '
        '"topCandidate": {{"placeLocation": "geo:{lat},{lng}", "more": "{more}"}}}}}}'
    )
    record = (
        '{{"latitudeE7": {e7}, "longitudeE7": {k}, "timestamp": "{iso}", "source": "{more}"}}'
    )
    visit = (
        '{{"placeVisit": {{"location": {{"latitudeE7": {e7}, "longitudeE7": {k}}}, "duration": '
        '{{"startTimestamp": "{iso}", "endTimestamp": "{iso}"}}, "more": "{more}"}}}}'
    )
    overland = (
        '{{"type": "Feature", "geometry": {{"type": "Point", "coordinates": [{lng}, {lat}]}}, '
        '"properties": {{"timestamp": "{iso}", "more": "{more}"}}}}'
    )
    sent = (
        '{{"_type": "location", "lat": {lat}, "lon": {lng}, "tst": {second}, "more": "{more}"}}'
    )
    track = "<when>{iso}</when><gx:coord>{lng} {lat} 0</gx:coord><!-- {more} -->"
    mark = (
        "<Placemark><name>{more}</name><TimeStamp><when>{iso}</when></TimeStamp><Point>"
        "<coordinates>{lng},{lat}</coordinates></Point></Placemark>"
    )
    head = '<kml xmlns:gx="urn:gx"><Document>'
    return {
        "android": (
            f'{{"userLocationProfile": [{profile}], "semanticSegments": [',
            android,
            ",",
            "]}",
        ),
        "ios": ("[", ios, ",", "]"),
        "records": ('{"locations": [', record, ",", "]}"),
        "month": ('{"timelineObjects": [', visit, ",", "]}"),
        "overland": ('{"locations": [', overland, ",", "]}"),
        "recorded": ("", "{iso}\t*  \t" + sent, "\n", "\n"),
        "owntracks": ("", sent, "\n", "\n"),
        "track": (
            f"{head}<Placemark><gx:Track>",
            track,
            "\n",
            "</gx:Track></Placemark></Document></kml>",
        ),
        "placemarks": (head, mark, "\n", "</Document></kml>"),
    }[kind]


def write_big(path, kind, megabytes=50):
    """More than so many megabytes of made entries; how many."""
    head, entry, between, tail = big_pieces(kind)
    count = written = 0
    with path.open("w", encoding="utf-8") as file:
        file.write(head)
        while written < megabytes * 1_000_000:
            moments = moment_texts((1_600_000_000 + 60 * (count + np.arange(1000))) * 1_000_000)
            piece = [
                entry.format(
                    **{"iso": iso, "k": k, "second": 1_600_000_000 + 60 * k, "more": "x" * 150},
                    lat=f"{k % 89}.{k % 10**7:07d}",
                    lng=f"-{k % 179}.{k % 10**6:06d}",
                    e7=k * 700 % 900_000_000,
                )
                for k, iso in enumerate(moments, count)
            ]
            written += file.write((between if count else "") + between.join(piece))
            count += len(piece)
        file.write(tail)
    return count


PACKED = {"records": ".gz", "track": ".zip"}
KINDS = ["android", "ios", "records", "month", "overland", "recorded", "owntracks"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, "track", "placemarks"])
def test_fifty_megabytes_are_read_in_bounded_memory(tmp_path, kind):
    path = tmp_path / "big"
    count = write_big(path, kind)
    assert path.stat().st_size > 50_000_000
    if kind in PACKED:
        path = packed(path, PACKED[kind])
    program = (
        "import resource\n"
        "from nomadp.formats.point_files import read_points\n"
        f"read_points({str(FOLDER / 'timeline-android.json')!r})\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"points = read_points({str(path)!r})\n"
        "print(len(points), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    read, kilobytes = map(int, done.stdout.split())
    assert read == count
    # What the pieces in hand need, and some columns of 8 bytes; never the file.
    assert kilobytes * 1000 < 20_000_000 + 200 * count, kilobytes


def packed(path, suffix):
    made = path.with_suffix(suffix)
    if suffix == ".gz":
        with path.open("rb") as file, gzip.open(made, "wb", compresslevel=1) as out:
            shutil.copyfileobj(file, out)
    else:
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.write(path, "doc.kml")
    return made
