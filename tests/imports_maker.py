"""Write small invented exports and their expected results: ``tests/imports_maker.py``.

Nobody's journeys: the places are in the Atlantic. The answers are worked out by hand below,
from the rules in tests/imports/README.md, and not by the importers they test.
"""

import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any

__all__ = ["EXPECTED", "FILES", "FOLDER"]

FOLDER = Path(__file__).parent / "imports"

A, B, C = (30.5, -40.25), (30.5123, -40.2411), (30.75, -40.0)
DAY = "2024-05-06T"


def degree(place: tuple[float, float]) -> str:
    return f"{place[0]}°, {place[1]}°"


def geo(place: tuple[float, float]) -> str:
    return f"geo:{place[0]},{place[1]}"


def e7(place: tuple[float, float], names: tuple[str, str]) -> dict[str, int]:
    return {name: round(value * 1e7) for name, value in zip(names, place, strict=True)}


LONG, SHORT = ("latitudeE7", "longitudeE7"), ("latE7", "lngE7")

VISIT = {
    "startTime": f"{DAY}08:00:00.000-03:00",
    "endTime": f"{DAY}09:00:00.000-03:00",
    "startTimeTimezoneUtcOffsetMinutes": -180,
    "visit": {
        "hierarchyLevel": 0,
        "probability": 0.9,
        "topCandidate": {
            "placeId": "made-up",
            "semanticType": "INFERRED_HOME",
            "probability": 0.8,
            "placeLocation": {"latLng": degree(A)},
        },
    },
}
PATH = {
    "startTime": f"{DAY}09:00:00.000-03:00",
    "endTime": f"{DAY}10:00:00.000-03:00",
    "timelinePath": [
        {"point": degree(B), "time": f"{DAY}09:10:00.000-03:00"},
        {"point": degree(C), "durationMinutesOffsetFromStartTime": "20"},
        {"point": degree(A), "durationMinutesOffsetFromStartTime": "-1"},
        {"point": degree(A), "durationMinutesOffsetFromStartTime": "61"},
        {"point": degree(A), "durationMinutesOffsetFromStartTime": "soon"},
        {"point": "nowhere", "time": f"{DAY}09:30:00.000-03:00"},
    ],
}
ACTIVITY = {
    "startTime": f"{DAY}09:00:00.000-03:00",
    "endTime": f"{DAY}10:00:00.000-03:00",
    "activity": {
        "start": {},
        "end": {"latLng": degree(C)},
        "distanceMeters": 1234.5,
        "topCandidate": {"type": "WALKING", "probability": 0.7},
    },
}
MEMORY = {
    "startTime": f"{DAY}00:00:00.000-03:00",
    "endTime": f"{DAY}23:00:00.000-03:00",
    "timelineMemory": {"trip": {"distanceFromOriginKms": 3}},
}
RAW = [
    {"wifiScan": {"deliveryTime": f"{DAY}12:00:00.000Z", "devicesRecords": []}},
    {
        "position": {
            "LatLng": f"{degree(B)}, 17.5",
            "accuracyMeters": 12,
            "altitudeMeters": 17.5,
            "source": "WIFI",
            "timestamp": f"{DAY}20:00:00.000-03:00",
            "speedMetersPerSecond": 0.0,
        }
    },
    {"activityRecord": {"timestamp": f"{DAY}12:00:00.000Z"}},
]
PROFILE = {
    "frequentPlaces": [
        {"placeId": "made-up", "placeLocation": degree((1.25, 2.5)), "label": "HOME"}
    ],
    "note": 'a quote \\" and a bracket ] and }',
}
ANDROID = {
    "semanticSegments": [PATH, VISIT, ACTIVITY, MEMORY, VISIT],
    "rawSignals": RAW,
    "userLocationProfile": PROFILE,
}
TIMELINE = [
    ["2024-05-06T11:00:00Z", *A],
    ["2024-05-06T12:00:00Z", *A],
    ["2024-05-06T12:10:00Z", *B],
    ["2024-05-06T12:20:00Z", *C],
    ["2024-05-06T13:00:00Z", *C],
]
IOS = [
    {
        "startTime": f"{DAY}11:00:00Z",
        "endTime": f"{DAY}12:00:00Z",
        "visit": {
            "hierarchyLevel": "0",
            "probability": "0.89",
            "topCandidate": {
                "placeID": "made-up",
                "semanticType": "Home",
                "probability": "0.5",
                "placeLocation": geo(A),
            },
        },
    },
    {
        "startTime": f"{DAY}12:00:00Z",
        "endTime": f"{DAY}13:00:00Z",
        "activity": {
            "start": geo(A),
            "end": geo(C),
            "distanceMeters": "13984.0",
            "topCandidate": {"type": "in passenger vehicle", "probability": "0.000000"},
        },
    },
    {
        "startTime": f"{DAY}12:00:00Z",
        "endTime": f"{DAY}13:00:00Z",
        "timelinePath": [
            {"point": geo(B), "durationMinutesOffsetFromStartTime": "10"},
            {"point": geo(A), "durationMinutesOffsetFromStartTime": "10"},
            {"point": geo(C), "durationMinutesOffsetFromStartTime": "20"},
        ],
    },
]
RECORDS = {
    "locations": [
        {"timestamp": f"{DAY}10:00:00.123Z", "source": "GPS", "deviceTag": 7},
        {**e7(A, LONG), "accuracy": 12, "source": "WIFI", "timestamp": f"{DAY}11:00:00.123Z"},
        {
            "latitudeE7": round(B[0] * 1e7),
            "longitudeE7": round(B[1] * 1e7) + 2**32,
            "timestampMs": "1714994100500",
        },
        {"latitudeE7": 2_000_000_000, "longitudeE7": 1, "timestampMs": "1714994100500"},
    ]
}
MONTH = {
    "timelineObjects": [
        {
            "activitySegment": {
                "startLocation": e7(A, LONG),
                "endLocation": e7(C, LONG),
                "duration": {
                    "startTimestamp": f"{DAY}12:00:00Z",
                    "endTimestamp": f"{DAY}13:00:00Z",
                },
                "waypointPath": {"waypoints": [e7(B, SHORT), e7(A, SHORT)]},
            }
        },
        {
            "placeVisit": {
                "location": {"placeId": "made-up"},
                "otherCandidateLocations": [e7(C, LONG)],
                "duration": {
                    "startTimestampMs": "1715000400000",
                    "endTimestampMs": "1715004000000",
                },
            }
        },
        {
            "activitySegment": {
                "startLocation": e7(C, LONG),
                "endLocation": e7(A, LONG),
                "duration": {
                    "startTimestamp": f"{DAY}14:00:00Z",
                    "endTimestamp": f"{DAY}15:00:00Z",
                },
                "waypointPath": {"waypoints": [e7(A, SHORT)]},
                "simplifiedRawPath": {
                    "points": [{**e7(B, SHORT), "timestamp": f"{DAY}14:10:00Z"}]
                },
            }
        },
    ]
}
OWNTRACKS = [
    {"_type": "location", "lat": A[0], "lon": A[1], "tst": 1714993200, "acc": 9, "tid": "ab"},
    {"_type": "lwt", "tst": 1714993300},
    {"_type": "location", "lat": B[0], "lon": B[1], "tst": 1714993800, "tid": "ab"},
    {"_type": "location", "lat": 91, "lon": B[1], "tst": 1714993900, "tid": "ab"},
]


def rec() -> str:
    lines = [
        f"2024-05-06T11:0{k}:00Z\t*                 \t{json.dumps(each)}"
        for k, each in enumerate(OWNTRACKS)
    ]
    lines.insert(1, "2024-05-06T11:00:30Z\t*                 \t")
    lines.insert(2, "2024-05-06T11:00:31Z\tlwt               \tnot json at all")
    return "\n".join(lines) + "\n"


def overland(*places: tuple[str, tuple[float, float]]) -> dict[str, Any]:
    return {
        "locations": [
            {
                "type": "Feature",
                "geometry": {"type": "Point", "coordinates": [lng, lat]},
                "properties": {
                    "timestamp": time,
                    "horizontal_accuracy": 5,
                    "motion": ["walking"],
                },
            }
            for time, (lat, lng) in places
        ],
        "current": {},
    }


KML_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2" '
    'xmlns:gx="http://www.google.com/kml/ext/2.2"><Document>\n'
)
KML_TAIL = "</Document></kml>\n"


def track(times: list[str], places: list[str]) -> str:
    whens = "".join(f"<when>{time}</when>" for time in times)
    coords = "".join(f"<gx:coord>{place}</gx:coord>" for place in places)
    return f"<Placemark><gx:Track>{whens}{coords}</gx:Track></Placemark>\n"


KML_TRACKS = (
    KML_HEAD
    + track(
        [f"{DAY}11:00:00Z", f"{DAY}11:05:00Z", f"{DAY}11:10:00Z"],
        [f"{A[1]} {A[0]} 0", f"{B[1]} {B[0]} 12", ""],
    )
    + track([f"{DAY}12:00:00Z"], [f"{C[1]} {C[0]}"])
    + track([f"{DAY}12:00:00Z"], [])
    + KML_TAIL
)
KML_PLACEMARKS = (
    KML_HEAD
    + f"<Placemark><TimeSpan><begin>{DAY}12:00:00Z</begin><end>{DAY}13:00:00Z</end></TimeSpan>"
    f"<LineString><coordinates>{A[1]},{A[0]},0 {B[1]},{B[0]},0 {C[1]},{C[0]},0</coordinates>"
    "</LineString></Placemark>\n"
    f"<Placemark><TimeStamp><when>{DAY}11:00:00Z</when></TimeStamp>"
    f"<Point><coordinates>{A[1]},{A[0]}</coordinates></Point></Placemark>\n"
    f"<Placemark><Point><coordinates>{B[1]},{B[0]}</coordinates></Point></Placemark>\n"
    f"<Placemark><LineString><coordinates>{B[1]},{B[0]} {A[1]},{A[0]}</coordinates>"
    "</LineString></Placemark>\n" + KML_TAIL
)
KML_UNTIMED = (
    KML_HEAD + f"<Placemark><LineString><coordinates>\n  {A[1]},{A[0]},0\n  {B[1]},{B[0]},0\n"
    "</coordinates></LineString></Placemark>\n" + KML_TAIL
)
GPX = (
    '<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>'
    f'<trkpt lat="{A[0]}" lon="{A[1]}"><time>{DAY}11:00:00Z</time></trkpt>'
    f'<trkpt lat="{B[0]}" lon="{B[1]}"><time>{DAY}11:05:00Z</time></trkpt>'
    "</trkseg></trk></gpx>\n"
)
LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE kml [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'
    "<kml>&b;</kml>"
)
GAP = [
    {
        "startTime": f"{DAY}{hour}:00:00Z",
        "endTime": f"{DAY}{hour}:00:00Z",
        "visit": {"topCandidate": {"placeLocation": geo(place)}},
    }
    for hour, place in (("10", A), ("13", B), ("17", C))
]


def text(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, indent=1).encode()


def zipped(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name.replace("__", "."), (2024, 5, 6, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return buffer.getvalue()


def gzipped(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


BOM = b"\xef\xbb\xbf"
FILES: dict[str, bytes] = {
    # Names do not matter: a file is identified by its content.
    "timeline-android.json": text(ANDROID),
    "timeline-android-profile-first.json": text(
        {"userLocationProfile": PROFILE, "semanticSegments": [VISIT, PATH, ACTIVITY]}
    ),
    "timeline-android-bom.txt": BOM + text(ANDROID),
    "timeline-ios.json": text(IOS),
    "timeline-gap.json": text(GAP),
    "records.json": text(RECORDS),
    "month.json": text(MONTH),
    "owntracks.rec": rec().encode(),
    "owntracks.jsonl": "\n".join(map(json.dumps, OWNTRACKS)).encode(),
    "owntracks-array.json": text(OWNTRACKS),
    "overland.json": text(overland((f"{DAY}11:00:00Z", A), (f"{DAY}08:10:00-03:00", B))),
    "overland-batches.jsonl": b"\n".join(
        json.dumps(overland((f"{DAY}11:{m}:00Z", p))).encode()
        for m, p in (("00", A), ("10", B))
    ),
    "tracks.kml": KML_TRACKS.encode(),
    "placemarks.kml": KML_PLACEMARKS.encode(),
    "untimed.kml": KML_UNTIMED.encode(),
    "timeline-android.json.gz": gzipped(text(ANDROID)),
    "tracks.kmz": zipped(doc__kml=KML_TRACKS.encode()),
    "takeout.zip": zipped(
        Records__json=text(RECORDS),
        month__json=text(MONTH),
        browser__html=b"<!DOCTYPE html><html></html>",
        Settings__json=b'{"createdTime": "x"}',
    ),
    "strava.zip": zipped(activities__csv=b"id,name\n1,x\n", one__gpx__gz=gzipped(GPX.encode())),
    # What programs write for a missing number, and JSON does not have.
    "nan.json": text(RECORDS).replace(b"12,", b"NaN,"),
    # Files that are refused.
    "raw-only.json": text({"semanticSegments": [], "rawSignals": RAW}),
    "edits.json": text({"timelineEdits": [{"deviceId": "made-up"}]}),
    "empty-array.json": b"[]",
    "only-memories.json": text({"semanticSegments": [MEMORY]}),
    "cut-short.json": text(ANDROID)[:1500],
    "two-roots.json": text(IOS) + text(IOS),
    "not-utf8.json": text(IOS).replace(b"made-up", b"made\xff\xfe\0"),
    "unknown.json": b'{"places": [{"lat": 30.5, "lon": -40.25}]}',
    "unknown-array.json": b"[[30.5, -40.25]]",
    "no-coordinates.json": b'{"locations": [{"timestampMs": "1714994100500"}]}',
    "naive.kml": KML_TRACKS.replace("Z</when>", "</when>").encode(),
    "laughs.kml": LAUGHS.encode(),
    "cut-short.kml": KML_TRACKS[: len(KML_TRACKS) // 2].encode(),
    "deep.kml": (KML_HEAD + "<Folder>" * 200).encode(),
    "page.json": b"<!DOCTYPE html><html><body>sign in</body></html>",
    "activity.tcx": b"<TrainingCenterDatabase></TrainingCenterDatabase>",
    "activity.fit": b"\x0e\x10\x00\x00\x00\x00\x00\x00.FIT\x00\x00",
    "cut-short.json.gz": gzipped(text(ANDROID))[:-40],
    "cut-short.zip": zipped(x__json=text(ANDROID))[:-40],
    "nothing.zip": zipped(a__txt=b"hello", b__html=b"<html></html>"),
    "bomb.json.gz": gzipped(b"[" + b" " * 40_000_000 + b"]"),
}

RECORDED = [["2024-05-06T11:00:00.123Z", *A], ["2024-05-06T11:15:00.500Z", *B]]
SENT = [["2024-05-06T11:00:00Z", *A], ["2024-05-06T11:10:00Z", *B]]
TRACKS = [
    [["2024-05-06T11:00:00Z", *A], ["2024-05-06T11:05:00Z", *B]],
    [["2024-05-06T12:00:00Z", *C]],
]
PLACEMARKS = [
    ["2024-05-06T11:00:00Z", *A],
    ["2024-05-06T12:00:00Z", *A],
    ["2024-05-06T12:30:00Z", *B],
    ["2024-05-06T13:00:00Z", *C],
]
IN_MONTH = [
    ["2024-05-06T12:00:00Z", *A],
    ["2024-05-06T12:20:00Z", *B],
    ["2024-05-06T12:40:00Z", *A],
    ["2024-05-06T13:00:00Z", *C],
    ["2024-05-06T14:00:00Z", *C],
    ["2024-05-06T14:10:00Z", *B],
    ["2024-05-06T15:00:00Z", *A],
]
AFTER_IOS = [*TIMELINE[:3], ["2024-05-06T12:10:00Z", *A], *TIMELINE[3:]]


def gives(*journeys: list[list[Any]], **more: Any) -> dict[str, Any]:
    return {**more, "journeys": list(journeys)}


def refused(reason: str) -> dict[str, str]:
    return {"refused": reason}


EXPECTED: dict[str, Any] = {
    "timeline-android.json": gives(TIMELINE, kind="timeline", left_out=5),
    "timeline-android-profile-first.json": gives(TIMELINE, kind="timeline", left_out=5),
    "timeline-android-bom.txt": gives(TIMELINE, kind="timeline", left_out=5),
    "timeline-ios.json": gives(AFTER_IOS, kind="timeline", left_out=0),
    "timeline-gap.json": gives(
        [["2024-05-06T10:00:00Z", *A], ["2024-05-06T13:00:00Z", *B]],
        [["2024-05-06T17:00:00Z", *C]],
        kind="timeline",
        left_out=0,
    ),
    "records.json": gives(RECORDED, kind="records", left_out=2),
    "month.json": gives(IN_MONTH, kind="month", left_out=0),
    "owntracks.rec": gives(SENT, kind="recorded", left_out=1),
    "owntracks.jsonl": gives(SENT, kind="owntracks", left_out=1),
    "owntracks-array.json": gives(SENT, kind="owntracks", left_out=1),
    "overland.json": gives(SENT, kind="overland", left_out=0),
    "overland-batches.jsonl": gives(SENT, kind="overland", left_out=0),
    "tracks.kml": gives(*TRACKS, kind="kml", left_out=2),
    "placemarks.kml": gives(PLACEMARKS, kind="kml", left_out=2),
    "untimed.kml": gives([[None, *A], [None, *B]], kind="kml", left_out=0),
    "timeline-android.json.gz": gives(TIMELINE, kind="timeline", left_out=5),
    "tracks.kmz": gives(*TRACKS, kind="zip"),
    "takeout.zip": gives(RECORDED, kind="zip"),
    "strava.zip": gives(TRACKS[0], kind="zip"),
    "nan.json": gives(RECORDED, kind="records", left_out=2),
    "raw-only.json": {
        **refused("raw-only"),
        "with_raw_signals": [[["2024-05-06T23:00:00Z", *B]]],
    },
    "edits.json": refused("timeline-edits"),
    "empty-array.json": refused("no-places"),
    "only-memories.json": refused("no-places"),
    "cut-short.json": refused("not-json"),
    "two-roots.json": refused("not-json"),
    "not-utf8.json": refused("not-utf8"),
    "unknown.json": refused("unknown-json"),
    "unknown-array.json": refused("unknown-json"),
    "no-coordinates.json": refused("no-places"),
    "naive.kml": refused("no-places"),
    "laughs.kml": refused("doctype"),
    "cut-short.kml": refused("not-xml"),
    "deep.kml": refused("too-deep"),
    "page.json": refused("web-page"),
    "activity.tcx": refused("tcx"),
    "activity.fit": refused("fit"),
    "cut-short.json.gz": refused("damaged-archive"),
    "cut-short.zip": refused("damaged-archive"),
    "nothing.zip": refused("empty-archive"),
    "bomb.json.gz": refused("bomb"),
}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, content in FILES.items():
        (FOLDER / name).write_bytes(content)
    rows = (f" {json.dumps(name)}: {json.dumps(each)}" for name, each in EXPECTED.items())
    (FOLDER / "expected.json").write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
