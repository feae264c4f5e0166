"""Tables of points: columns, clocks, geometries, and GeoParquet as others read it."""

import json
from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refused

from nomadp.errors import DomainError, SchemaError
from nomadp.formats.columns import ReadOptions
from nomadp.formats.parquet_files import to_wkb as wkb
from nomadp.formats.point_files import read_points, write_points
from nomadp.formats.points import Points
from nomadp.formats.presets import Reading
from nomadp.locations import LocationSet

POINTS = Points(
    np.array([0, 2]),
    np.array([47.0, 47.5]),
    np.array([8.0, 8.5]),
    ("t",),
    None,
    np.array([1, 2]),
)
HOUR = 3_600_000_000


def written(folder, content, name="points.csv"):
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def test_a_seq_orders_and_an_empty_clock_beside_it_does_no_harm(tmp_path):
    path = written(tmp_path, "tid,seq,datetime,lat,lng\nt,2,,1,2\nt,1,,3,4\n")
    points = read_points(path)
    assert points.lat.tolist() == [3.0, 1.0]
    assert points.moment_us is None


def test_a_clock_must_be_empty_everywhere_or_nowhere(tmp_path):
    path = written(tmp_path, "tid,seq,datetime,lat,lng\nt,2,,1,2\nt,1,2020-01-01T00:00Z,3,4\n")
    with refused(SchemaError, "partly_given", line=3, column="datetime"):
        read_points(path)


def test_whole_numbers_for_times_only_say_the_order(tmp_path):
    points = read_points(written(tmp_path, "tid,datetime,lat,lng\nt,20,1,2\nt,10,3,4\n"))
    assert points.lat.tolist() == [3.0, 1.0]
    assert points.moment_us is None


def test_points_in_wkt_are_read(tmp_path):
    rows = "user_id,tracked_at,geom\nu,2020-01-01T00:00Z,POINT (8.5 47.25)\n"
    rows += 'u,2020-01-01T01:00Z,"point z(8.75 47.5 400)"\n'
    points = read_points(written(tmp_path, rows), Reading("trackintel"))
    assert (points.lng.tolist(), points.lat.tolist()) == ([8.5, 8.75], [47.25, 47.5])
    broken = written(tmp_path, rows + "u,2020-01-01T02:00Z,LINESTRING (SECRET)\n")
    with refused(SchemaError, "not_a_point", line=4, column="geom") as refusal:
        read_points(broken, Reading("trackintel"))
    assert "SECRET" not in str(refusal.value)


NAIVE = "tid,datetime,lat,lng\nt,2020-07-01T12:00:00,1,2\nt,2020-07-01T13:00:00Z,1,2\n"


def test_a_moment_without_a_time_zone_is_refused_and_the_fix_is_named(tmp_path):
    with refused(SchemaError, "time_zone_missing", line=2, column="datetime"):
        read_points(written(tmp_path, NAIVE))


def test_a_given_time_zone_says_what_it_means(tmp_path):
    reading = Reading(options=ReadOptions(ZoneInfo("Europe/Paris")))
    points = read_points(written(tmp_path, NAIVE), reading)
    ten = (datetime(2020, 7, 1, 10) - datetime(1970, 1, 1)).total_seconds() * 1e6
    assert points.moment_us.tolist() == [ten, ten + 3 * HOUR]


def parquet(folder, **column):
    pq.write_table(pa.table(column), folder / "points.parquet")
    return folder / "points.parquet"


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_parquet_moments_of_any_unit_are_microseconds(tmp_path, unit):
    stamps = pa.array([datetime(1970, 1, 1, 1)], pa.timestamp(unit))
    path = parquet(tmp_path, tid=["t"], datetime=stamps, lat=[1.0], lng=[2.0])
    with refused(SchemaError, "time_zone_missing", column="datetime"):
        read_points(path)
    for zone, hour in (("UTC", 1), ("Europe/Paris", 0)):
        points = read_points(path, Reading(options=ReadOptions(ZoneInfo(zone))))
        assert points.moment_us.tolist() == [hour * HOUR]


def test_an_empty_parquet_clock_beside_a_seq_does_no_harm(tmp_path):
    for clock in (pa.array([None], pa.timestamp("us", "UTC")), pa.array([""])):
        path = parquet(tmp_path, tid=["t"], seq=[0], datetime=clock, lat=[1.0], lng=[2.0])
        assert read_points(path).moment_us is None


# GeoParquet


def test_geoparquet_says_what_its_specification_asks_for(tmp_path):
    path = tmp_path / "points.geoparquet"
    write_points(path, POINTS)
    geo = json.loads(pq.read_schema(path).metadata[b"geo"])
    assert geo == {
        "version": "1.1.0",
        "primary_column": "geometry",
        "columns": {
            "geometry": {
                "encoding": "WKB",
                "geometry_types": ["Point"],
                "bbox": [8.0, 47.0, 8.5, 47.5],
            }
        },
    }
    table = pq.read_table(path)
    assert table.schema.field("geometry").type == pa.binary()
    assert table.schema.field("datetime").type == pa.timestamp("us", "UTC")
    assert table["geometry"][0].as_py().hex() == "0101000000" + "0000000000002040" + (
        "0000000000804740"
    )


def geoparquet(folder, metadata=None, **column):
    table = pa.table({"tid": ["t"], "seq": [0], "geom": wkb(np.array([1.0]), np.array([2.0]))})
    table = pa.table({**{name: table[name] for name in table.column_names}, **column})
    geo = {
        "version": "1.1.0",
        "primary_column": "geom",
        "columns": {"geom": {"encoding": "WKB"}},
    }
    if metadata is not None:
        geo["columns"]["geom"].update(metadata)
    table = table.replace_schema_metadata({b"geo": json.dumps(geo).encode()})
    pq.write_table(table, folder / "theirs.parquet")
    return folder / "theirs.parquet"


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        {"crs": {"id": {"authority": "EPSG", "code": 4326}}},
        {"crs": {"id": {"authority": "OGC", "code": "CRS84"}}},
    ],
)
def test_the_geometry_that_a_file_declares_is_used(tmp_path, metadata):
    points = read_points(geoparquet(tmp_path, metadata))
    assert (points.lat.tolist(), points.lng.tolist()) == ([1.0], [2.0])


@pytest.mark.parametrize("crs", [None, {"id": {"authority": "EPSG", "code": 3857}}, "x"])
def test_refuses_other_coordinates(tmp_path, crs):
    with refused(SchemaError, "not_wgs84"):
        read_points(geoparquet(tmp_path, {"crs": crs}))


def test_refuses_other_encodings_and_broken_metadata(tmp_path):
    with refused(SchemaError, "unsupported_encoding", encoding="point"):
        read_points(geoparquet(tmp_path, {"encoding": "point"}))
    table = pq.read_table(geoparquet(tmp_path)).replace_schema_metadata({b"geo": b"{]"})
    pq.write_table(table, tmp_path / "broken.parquet")
    with refused(SchemaError, "invalid_geo_metadata"):
        read_points(tmp_path / "broken.parquet")


def test_refuses_a_geometry_that_is_no_point(tmp_path):
    path = geoparquet(tmp_path, geom=[b"\x01\x02\x00\x00\x00SECRET"])
    with refused(SchemaError, "not_a_point", column="geom", row=1) as refusal:
        read_points(path)
    assert "SECRET" not in str(refusal.value)


# Places by name

WORLD = LocationSet.from_columns(["x", "y"], [1.0, 2.0], [3.0, 4.0])


def test_rows_that_only_name_places_get_their_coordinates(tmp_path):
    path = written(tmp_path, "tid,seq,location_id\nt,0,y\nt,1,x\n")
    points = read_points(path, locations=WORLD)
    assert (points.lat.tolist(), points.location_ids) == ([2.0, 1.0], ("y", "x"))
    with refused(SchemaError, "columns_insufficient"):
        read_points(path)
    with refused(DomainError, "unknown_locations", unknown=1, size=2):
        read_points(
            written(tmp_path, "tid,seq,location_id\nt,0,y\nt,1,home\n"), locations=WORLD
        )


@pytest.mark.parametrize(("lat", "lng"), [("91", "0"), ("0", "181")])
def test_refuses_coordinates_out_of_range_by_line(tmp_path, lat, lng):
    path = written(tmp_path, f"tid,seq,lat,lng\nt,0,1,1\nt,1,{lat},{lng}\n")
    with refused(SchemaError, "not_degrees", line=3):
        read_points(path)


def test_progress_is_told_in_bytes(tmp_path):
    seen = []
    path = written(tmp_path, "tid,seq,lat,lng\nt,0,1,1\n")
    read_points(
        path, Reading(options=ReadOptions(progress=lambda done, total: seen.append(done)))
    )
    assert seen[-1] == path.stat().st_size
