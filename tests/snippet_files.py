"""Small files with the names that the documentation uses, for the commands that read them."""

import csv
import gzip
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import nomadp

__all__ = ["make_files"]

IMPORTS = Path(__file__).resolve().parent / "imports"
NEAR = (41.15, -8.65), (41.16, -8.6), (41.2, -8.55)
"""Points of one journey, in the box that the documents take."""
BOXES = {"chicago": (41.8, -87.7), "portland": (45.5, -122.6), "london": (51.5, -0.1)}
"""A place in each of the boxes whose check-ins the documents take."""
TIMES = tuple(f"2024-01-01T0{hour}:00:00Z" for hour in (8, 9, 9))


def make_files(folder: Path) -> None:
    """Write a synthetic city, and a trajectory in every format that the documentation names."""
    city = nomadp.synthetic_city(seed=1, places=60, trips=80)
    nomadp.write_locations(folder / "places.csv", city.locations)
    rows = [
        (tid, seq, city.locations.ids[place])
        for tid, trip in zip(city.trajectories.tids, city.trajectories, strict=True)
        for seq, place in enumerate(trip)
        if len(trip) > 1
    ]
    _table(folder / "trips.csv", ("tid", "seq", "location_id"), rows)
    columns = dict(zip(("tid", "seq", "location_id"), zip(*rows, strict=True), strict=True))
    pq.write_table(pa.table(columns), folder / "points.parquet")
    nested: dict[str, list[str]] = {}
    for tid, _, place in rows:
        nested.setdefault(tid, []).append(place)
    trips = {"tid": list(nested), "location_ids": list(nested.values())}
    pq.write_table(pa.table(trips), folder / "trips.parquet")
    (folder / "job.key").write_bytes(bytes(range(32)))
    (folder / "job.key").chmod(0o600)
    _journeys(folder)
    _downloads(folder)
    _zones(folder / "boroughs.geojson", "name", NEAR[0])
    _zones(folder / "areas.geojson", "borough", BOXES["chicago"])
    for name, made in (("Timeline.json", "timeline-android.json"), ("takeout.zip",) * 2):
        shutil.copyfile(IMPORTS / made, folder / name)


def _journeys(folder: Path) -> None:
    """Write the same trajectory in the formats of other programs."""
    points = [(*place, time) for place, time in zip(NEAR, TIMES, strict=True)]
    track = "".join(
        f'<trkpt lat="{lat}" lon="{lng}"><time>{time}</time></trkpt>'
        for lat, lng, time in points
    )
    gpx = f'<gpx version="1.1"><trk><trkseg>{track}</trkseg></trk></gpx>'
    (folder / "tracks").mkdir(exist_ok=True)
    for name in ("walk.gpx", "more.gpx", "tracks/monday.gpx"):
        (folder / name).write_text(gpx, encoding="utf-8")
    theirs = "user_id", "tracked_at", "longitude", "latitude"
    _table(folder / "fixes.csv", theirs, [(1, time, lng, lat) for lat, lng, time in points])
    plain = [(1, time[:-1], lat, lng) for lat, lng, time in points]
    _table(folder / "positions.csv", ("who", "when", "lat", "lng"), plain)
    _table(folder / "bus-stops.csv", ("stop_lat", "stop_lon"), NEAR)
    line = json.dumps([[lng, lat] for lat, lng in NEAR])
    porto = "TRIP_ID", "TAXI_ID", "TIMESTAMP", "MISSING_DATA", "POLYLINE"
    _table(folder / "train.csv", porto, [("T1", "7", "1372636858", "False", line)])


def _downloads(folder: Path) -> None:
    """Write files in the formats of published data sets, with two trajectories each."""
    visits = [(user, hour) for user in ("7", "8") for hour in range(4)]
    rows = [
        f"{user}\t2010-06-0{day}T{hour:02}:10:00Z\t{lat + hour / 100}\t{lng}\t{city}{hour}\n"
        for day, (city, (lat, lng)) in enumerate(BOXES.items(), 1)
        for user, hour in visits
    ]
    (folder / "loc-gowalla_totalCheckins.txt.gz").write_bytes(
        gzip.compress("".join(rows).encode())
    )
    (folder / "FILE").write_text("".join(rows), encoding="utf-8")
    venues = [
        f"{user}\tv{hour}\tc\tCaf\u00e9\t{40.7 + hour / 100}\t-74.0\t-240\t"
        f"Tue Apr 03 {hour + 10}:00:09 +0000 2012\n"
        for user, hour in visits
    ]
    tsmc = folder / "dataset_TSMC2014_NYC.txt"
    tsmc.write_text("".join(venues), encoding="latin-1")
    buildings = [(49.26 + k / 1000, -123.25 + k / 1000) for k in range(12)]
    _polygons(
        folder / "ubcv_buildings.geojson",
        [
            (
                {"BLDG_ID": str(k)},
                [[lng, lat], [lng, lat + 1e-4], [lng + 1e-4, lat], [lng, lat]],
            )
            for k, (lat, lng) in enumerate(buildings)
        ],
    )


def _zones(path: Path, key: str, place: tuple[float, float]) -> None:
    """Two polygons of one shape, around a place."""
    (south, west), (north, east) = ([each + by for each in place] for by in (-0.15, 0.15))
    ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    _polygons(path, [({key: name}, ring) for name in ("one", "other")])


def _polygons(path: Path, shapes: Sequence[tuple[dict[str, str], Any]]) -> None:
    features = [
        {
            "type": "Feature",
            "properties": properties,
            "geometry": {"type": "Polygon", "coordinates": [ring]},
        }
        for properties, ring in shapes
    ]
    collection = {"type": "FeatureCollection", "features": features}
    path.write_text(json.dumps(collection), encoding="utf-8")


def _table(path: Path, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])
