"""At which hour of the week a trajectory begins, by the clock its file was written by."""

from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from nomadp.engine.batches import survey
from nomadp.errors import DomainError, SchemaError
from nomadp.formats import nested_files
from nomadp.formats.columns import ReadOptions
from nomadp.formats.nested_files import NestedFile, nest_file, read_nested
from nomadp.formats.point_files import read_points, read_trajectories, write_points
from nomadp.formats.points import hours_of, local_times_at
from nomadp.formats.presets import Reading
from nomadp.formats.thinning import Thinning
from nomadp.locations import LocationSet

WORLD = LocationSet.from_columns(["a", "b"], [1.0, 2.0], [3.0, 4.0])
SATURDAY, SUNDAY = 5 * 24, 6 * 24


def hours(path: Path, zone: str | None = None, **reading: Any) -> Any:
    """What trajectories of a file have, if it is asked for."""
    options = ReadOptions(None if zone is None else ZoneInfo(zone), hours=True)
    asked = Reading(options=options, **reading)
    hours_read = read_trajectories(path, WORLD, asked, max_snap_km=20_000)[0].hours
    return None if hours_read is None else hours_read.tolist()


def table(folder: Path, *moments: str, header: str = "tid,datetime,location_id") -> Path:
    """A trajectory for each moment."""
    path = folder / "trips.csv"
    rows = [f"{k},{moment},a" for k, moment in enumerate(moments)]
    path.write_text("\n".join([header, *rows]), encoding="utf-8")
    return path


@given(st.datetimes())
def test_an_hour_of_the_week_is_what_the_calendar_says(moment):
    local_us = np.array([moment], "datetime64[us]").astype(np.int64)
    assert hours_of(local_us).tolist() == [24 * moment.weekday() + moment.hour]


def test_a_clock_set_to_an_hour_shows_it():
    week = np.arange(168)
    assert hours_of(local_times_at(week)).tolist() == week.tolist()


def test_the_week_begins_on_monday_at_midnight_and_ends_on_sunday_at_its_last_microsecond(
    tmp_path,
):
    moments = (
        "2024-01-01T00:00:00+00:00",
        "2024-01-07T23:59:59.999999+00:00",
        "1969-12-29T00:00:00+00:00",
    )
    assert hours(table(tmp_path, *moments)) == [0, 167, 0]


def test_a_time_with_an_offset_counts_by_its_own_clock(tmp_path):
    same = "2024-01-07T23:30:00-05:00", "2024-01-08T04:30:00+00:00", "2024-01-08T10:00:00+05:30"
    assert hours(table(tmp_path, *same)) == [SUNDAY + 23, 4, 10]


def test_the_clock_that_was_moved_in_summer_counts_as_it_was_read(tmp_path):
    # 31 March 2024: a quarter to two and a quarter past three are half an hour apart in Paris.
    local_times = "2024-03-31T01:45:00+01:00", "2024-03-31T03:15:00+02:00"
    plain = "2024-03-31T01:45:00", "2024-03-31T03:15:00"
    autumn = "2024-10-27T02:30:00+02:00", "2024-10-27T02:30:00+01:00"
    assert hours(table(tmp_path, *local_times)) == [SUNDAY + 1, SUNDAY + 3]
    assert hours(table(tmp_path, *plain), zone="Europe/Paris") == [SUNDAY + 1, SUNDAY + 3]
    assert hours(table(tmp_path, *autumn)) == [SUNDAY + 2, SUNDAY + 2]


def test_nobody_is_told_the_hours_who_did_not_ask(tmp_path):
    path = table(tmp_path, "2024-01-01T00:00:00+00:00")
    assert read_trajectories(path, WORLD)[0].hours is None


def test_the_first_point_in_time_counts_and_not_the_first_row(tmp_path):
    path = tmp_path / "trips.csv"
    path.write_text(
        "tid,datetime,location_id\nx,2024-01-01T09:00:00+00:00,a\nx,2024-01-01T07:00:00+00:00,b\n"
    )
    assert hours(path) == [7]


def test_the_first_seq_counts_where_there_is_one(tmp_path):
    path = tmp_path / "trips.csv"
    rows = "x,1,2024-01-01T07:00:00+00:00,a", "x,0,2024-01-01T09:00:00+00:00,b"
    path.write_text("\n".join(["tid,seq,datetime,location_id", *rows]))
    assert hours(path) == [9]


def test_without_times_there_are_no_hours(tmp_path):
    path = tmp_path / "trips.csv"
    path.write_text("tid,seq,location_id\nx,0,a\n")
    assert hours(path) is None
    path.write_text("tid,seq,datetime,location_id\nx,0,,a\n")
    assert hours(path) is None
    assert hours(table(tmp_path, "3", "4")) is None  # positions


def test_a_split_trajectory_begins_after_the_gap(tmp_path):
    path = tmp_path / "trips.csv"
    rows = [f"x,2024-01-0{day}T05:00:00+00:00,a" for day in (1, 2)]
    path.write_text("\n".join(["tid,datetime,location_id", *rows]))
    assert hours(path, split_hours=3) == [5, 29]


def test_raw_points_keep_their_hours_when_they_are_snapped(tmp_path):
    path = tmp_path / "trips.csv"
    path.write_text("tid,datetime,lat,lng\nx,2024-01-06T05:00:00+09:00,1.1,3.1\n")
    assert hours(path) == [SATURDAY + 5]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([1704639600], pa.timestamp("s", "UTC")), 0),  # midnight in Tokyo
        (pa.array([1704639600], pa.timestamp("s", "America/New_York")), SUNDAY + 10),
        (pa.array([1704639600_000], pa.timestamp("ms", "Asia/Kolkata")), SUNDAY + 20),
        (pa.array([datetime(2024, 1, 7, 23)], pa.timestamp("us")), SUNDAY + 23),
        (pa.array(["2024-01-07T23:00:00-03:00"]), SUNDAY + 23),
    ],
)
def test_parquet_timestamps_count_by_the_zone_of_their_column(tmp_path, column, expected):
    path = tmp_path / "trips.parquet"
    pq.write_table(pa.table({"tid": ["x"], "datetime": column, "location_id": ["a"]}), path)
    assert hours(path, zone="Asia/Tokyo") == [expected]


def test_gpx_porto_geolife_and_gowalla_are_read_with_their_hours(tmp_path):
    gpx = tmp_path / "walk.gpx"
    at = '<trkpt lat="1" lon="3"><time>2024-01-06T05:00:00{}</time></trkpt>'
    gpx.write_text(f"<gpx><trk><trkseg>{at.format('+02:00')}</trkseg></trk></gpx>")
    assert hours(gpx) == [SATURDAY + 5]
    porto = tmp_path / "train.csv"
    porto.write_text('TAXI_ID,TIMESTAMP,POLYLINE\n1,1704639600,"[[3,1]]"\n')
    assert hours(porto, preset="porto", zone="Europe/Lisbon") == [SUNDAY + 15]
    plt = tmp_path / "one.plt"
    plt.write_text("\n" * 6 + "1,3,0,0,0,2024-01-07,15:00:00\n")
    assert hours(plt, preset="geolife", zone="Asia/Shanghai") == [SUNDAY + 23]
    gowalla = tmp_path / "checkins.txt"
    gowalla.write_text("0\t2024-01-07T15:00:00Z\t1.0\t3.0\t77\n")
    assert hours(gowalla, preset="gowalla", zone="America/New_York") == [SUNDAY + 10]


@pytest.mark.parametrize(
    ("place", "properties", "expected"),
    [
        ("[[3, 1], [4, 2]]", '"times": ["2024-01-07T23:00:00-03:00", "x"]', SUNDAY + 23),
        ("[[3, 1, 0, 1704639600], [4, 2, 0, 1704639700]]", '"a": 1', SUNDAY + 15),
        ("[[3, 1], [4, 2]]", '"a": 1', None),
    ],
)
def test_geojson_is_read_with_its_hours(tmp_path, place, properties, expected):
    path = tmp_path / "walk.geojson"
    properties = properties.replace('"x"', '"2024-01-08T02:10:00+00:00"')
    path.write_text(
        '{"type": "Feature", "geometry": {"type": "LineString", "coordinates": '
        f'{place}}}, "properties": {{{properties}}}}}'
    )
    assert hours(path, zone="UTC") == (None if expected is None else [expected])


def nested(path: Path, **more: Any) -> Path:
    lists = [["a", "b"], ["b"], ["a"]]
    pq.write_table(pa.table({"tid": list("xyz"), "location_ids": lists, **more}), path)
    return path


WEEKEND = ["2024-01-06T05:00:00+02:00", "2024-01-07T23:00:00", "2024-01-08T00:00:00+00:00"]


def test_a_row_to_a_trajectory_says_when_it_begins(tmp_path, monkeypatch):
    path = nested(tmp_path / "trips.parquet", datetime=WEEKEND)
    assert hours(path) == [SATURDAY + 5, SUNDAY + 23, 0]
    assert read_nested(path, WORLD).hours is None
    monkeypatch.setattr(nested_files, "ROWS_MAX", 2)
    assert hours(path) == [SATURDAY + 5, SUNDAY + 23, 0]


def test_pieces_of_a_file_hold_no_clock_unless_it_is_asked_for(tmp_path):
    path = nested(tmp_path / "trips.parquet", datetime=WEEKEND)
    ((_, batch),) = NestedFile(path).batches()
    assert batch.schema.names == ["tid", "location_ids"]
    ((row, batch),) = NestedFile(path, hours=True).batches(1)
    trajectories = NestedFile(path, hours=True).trajectories(row, batch, WORLD)
    assert trajectories.hours.tolist() == [SUNDAY + 23, 0]


def test_a_file_that_is_asked_for_hours_and_has_none_is_refused_before_anything_is_drawn(
    tmp_path,
):
    for more in ({}, {"datetime": pa.nulls(3, pa.timestamp("us"))}, {"datetime": [1, 2, 3]}):
        path = nested(tmp_path / "trips.parquet", **more)
        with pytest.raises(SchemaError):
            survey(NestedFile(path, hours=True), WORLD)
        assert hours(path) is None
        assert survey(NestedFile(path), WORLD).trajectories == 3


@pytest.mark.parametrize(
    ("clock", "code"),
    [(["SECRET", *WEEKEND[1:]], "not_a_moment"), ([None, *WEEKEND[1:]], "value_missing")],
)
def test_a_time_that_is_none_is_refused_by_its_rows(tmp_path, clock, code):
    path = nested(tmp_path / "trips.parquet", datetime=clock)
    with refused(SchemaError, code, column="datetime", rows=(1, 3)) as refusal:
        hours(path)
    assert "SECRET" not in str(refusal.value)


def test_nesting_keeps_when_a_trajectory_begins(tmp_path):
    flat = tmp_path / "points.parquet"
    column = {"tid": list("xxy"), "seq": [0, 1, 0], "location_id": list("aba")}
    pq.write_table(pa.table({**column, "datetime": WEEKEND}), flat)
    nest_file(flat, tmp_path / "trips.parquet")
    assert hours(tmp_path / "trips.parquet") == [SATURDAY + 5, 0]


UTC_ONLY = {
    "trips.csv": "tid,datetime,lat,lng\nx,2024-07-07T23:30:00Z,1,3\n",
    "walk.gpx": '<gpx><trk><trkseg><trkpt lat="1" lon="3"><time>2024-07-07T23:30:00Z</time>'
    "</trkpt></trkseg></trk></gpx>",
    "line.geojson": '{"type": "Feature", "properties": {}, "geometry": {"type": "LineString", '
    '"coordinates": [[3, 1, 0, 1720395000], [4, 2, 0, 1720395100]]}}',
    "Records.json": '{"locations": [{"latitudeE7": 10000000, "longitudeE7": 30000000, '
    '"timestamp": "2024-07-07T23:30:00Z"}]}',
}


@pytest.mark.parametrize("name", UTC_ONLY)
def test_times_in_utc_need_a_zone_to_tell_hours(tmp_path, name):
    path = tmp_path / name
    path.write_text(UTC_ONLY[name])
    with refused(DomainError, "hours_unknown", unknown=1, trajectories=1):
        hours(path)
    assert hours(path, zone="Europe/Paris") == [1]  # Monday, in summer
    assert hours(path, zone="UTC") == [SUNDAY + 23]
    assert read_trajectories(path, WORLD, max_snap_km=20_000)[0].hours is None


def test_a_column_of_timestamps_in_utc_needs_a_zone_to_tell_hours(tmp_path):
    path = tmp_path / "trips.parquet"
    stamps = pa.array([1704639600], pa.timestamp("s", "UTC"))
    pq.write_table(pa.table({"tid": ["x"], "datetime": stamps, "location_id": ["a"]}), path)
    with refused(DomainError, "hours_unknown", unknown=1, trajectories=1):
        hours(path)


@pytest.mark.parametrize(
    "clock",
    [[*WEEKEND[:2], "2024-01-08T00:00:00Z"], pa.array([1] * 3, pa.timestamp("s", "UTC"))],
)
def test_rows_of_trajectories_in_utc_tell_no_hours(tmp_path, clock):
    with refused(SchemaError, "times_in_utc"):
        hours(nested(tmp_path / "trips.parquet", datetime=clock))


DAY = ["2024-06-03T07:15:00+02:00", "2024-06-03T23:45:00+02:00"]
YEAR = ["2024-01-01T07:15:00+01:00", "2024-07-01T07:15:00+02:00"]


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".geoparquet", ".geojson"])
@pytest.mark.parametrize("moments", [DAY, YEAR], ids=["one offset", "two offsets"])
def test_a_converted_file_keeps_the_hours(tmp_path, suffix, moments):
    path, out = table(tmp_path, *moments), tmp_path / f"out{suffix}"
    read = Reading(options=ReadOptions(hours=True))
    write_points(out, read_points(path, read, WORLD))
    assert hours(out) == hours(path)
    converted, was = read_points(out, read, WORLD), read_points(path, read, WORLD)
    assert np.array_equal(converted.moment_us, was.moment_us)
    assert np.array_equal(converted.local_us, was.local_us)


def test_a_converted_file_in_utc_still_tells_no_hours(tmp_path):
    path, out = table(tmp_path, "2024-01-01T07:15:00Z"), tmp_path / "out.csv"
    write_points(out, read_points(path, Reading(options=ReadOptions(hours=True)), WORLD))
    assert "2024-01-01T07:15:00Z" in out.read_text()
    with refused(DomainError, "hours_unknown", unknown=1, trajectories=1):
        hours(out)


def test_points_along_the_way_keep_the_clock_of_the_one_before(tmp_path):
    path = tmp_path / "trips.csv"
    rows = ["x,2024-06-03T07:00:00+02:00,1,3", "x,2024-06-03T09:00:00+02:00,1,4"]
    path.write_text("\n".join(["tid,datetime,lat,lng", *rows]))
    read = Reading(options=ReadOptions(hours=True), thinning=Thinning(points=3))
    points = read_points(path, read)
    assert ((points.local_us - points.moment_us) == 2 * 3_600_000_000).all()
