"""Files of trajectories: read right, and never quoted by a refusal."""

import gzip
import json
import logging
import re
import traceback
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refused

from nomadp.errors import DomainError, NomadpError, SchemaError
from nomadp.formats.point_files import ReadSummary, SnapSummary, read_trajectories
from nomadp.formats.points import People
from nomadp.formats.presets import Reading
from nomadp.geometry import haversine_km
from nomadp.locations import LocationSet

WORLD = LocationSet.from_columns(
    ["harbour", "market", "tower", "woods"], [10.0, 10.0, 10.1, 10.2], [20.0, 20.1, 20.0, 20.2]
)
HARBOUR, MARKET, TOWER, WOODS = range(4)


def written(folder, content, name="trips.csv"):
    path = folder / name
    path.write_text(content, encoding="utf-8", newline="")
    return path


def lists(trajectories):
    return [trajectories[k].tolist() for k in range(len(trajectories))]


def test_reads_trajectories_by_location_id(tmp_path):
    path = written(tmp_path, "tid,seq,location_id\nx,0,tower\nx,1,woods\ny,0,harbour\n")
    trajectories, summary = read_trajectories(path, WORLD)
    assert lists(trajectories) == [[TOWER, WOODS], [HARBOUR]]
    assert trajectories.tids == ("x", "y")
    assert summary == ReadSummary(snapped=None, people=None)


def test_rows_may_come_in_any_order_and_trajectories_keep_the_order_of_appearance(tmp_path):
    rows = "location_id,seq,note,tid\nwoods,10,-,y\ntower,2,-,x\nmarket,9,-,y\nharbour,-1,-,x\n"
    trajectories, _ = read_trajectories(written(tmp_path, rows), WORLD)
    assert trajectories.tids == ("y", "x")
    assert lists(trajectories) == [[MARKET, WOODS], [HARBOUR, TOWER]]


def test_reads_raw_coordinates_in_the_order_of_time_and_snaps_them(tmp_path):
    rows = (
        "uid,tid,datetime,lat,lng\n"
        "u,1,2020-01-01T12:00:00+05:00,10.01,20.0\n"  # 07:00 UTC
        "u,1,2020-01-01T06:00:00Z,10.0,20.095\n"
        "u,1,2020-01-01T09:00:00+01:00,10.19,20.2\n"  # 08:00 UTC
    )
    trajectories, summary = read_trajectories(written(tmp_path, rows), WORLD)
    assert lists(trajectories) == [[MARKET, HARBOUR, WOODS]]
    moved = haversine_km(
        [10.0, 10.01, 10.19], [20.095, 20.0, 20.2], [10.0, 10.0, 10.2], [20.1, 20.0, 20.2]
    )
    assert summary.people == People(count=1, most=1)
    assert summary.snapped == SnapSummary(
        points=3,
        median_km=float(np.median(moved)),
        p95_km=float(np.quantile(moved, 0.95)),
        max_km=float(moved.max()),
        moved_over_1km_share=2 / 3,
    )


def test_the_user_column_is_optional_and_integers_are_positions(tmp_path):
    rows = "tid,datetime,lat,lng\na,2,10,20\na,10,10.1,20\na,1,10.2,20.2\n"
    trajectories, _ = read_trajectories(written(tmp_path, rows), WORLD)
    assert lists(trajectories) == [[WOODS, HARBOUR, TOWER]]


def test_two_visits_at_one_moment_keep_the_order_of_the_file(tmp_path):
    moment = "2020-01-01T00:00:00Z"
    rows = f"tid,datetime,lat,lng\na,{moment},10.2,20.2\na,{moment},10,20\n"
    trajectories, _ = read_trajectories(written(tmp_path, rows), WORLD)
    assert lists(trajectories) == [[WOODS, HARBOUR]]


def test_location_ids_win_over_coordinates_when_both_are_there(tmp_path):
    rows = "tid,seq,location_id,datetime,lat,lng\na,0,tower,2020-01-01T00:00:00,0,0\n"
    trajectories, summary = read_trajectories(written(tmp_path, rows), WORLD)
    assert (lists(trajectories), summary.snapped) == ([[TOWER]], None)


def test_users_who_share_a_tid_do_not_share_a_trajectory_nor_lend_their_name(tmp_path):
    rows = (
        "uid,tid,seq,location_id\nann,1,0,tower\nbob,1,0,woods\nann,1,1,market\nann,2,0,tower\n"
    )
    trajectories, _ = read_trajectories(written(tmp_path, rows), WORLD)
    assert lists(trajectories) == [[TOWER, MARKET], [WOODS], [TOWER]]
    assert trajectories.tids == ("1", "2", "3")


def test_tids_that_are_already_unique_keep_their_names(tmp_path):
    rows = "uid,tid,seq,location_id\nann,t7,0,tower\nbob,t1,0,woods\n"
    trajectories, _ = read_trajectories(written(tmp_path, rows), WORLD)
    assert trajectories.tids == ("t7", "t1")


def test_the_columns_that_were_read_are_reported(tmp_path, caplog, wording):
    rows = "tid,seq,mood,location_id\na,0,happy,tower\n"
    with caplog.at_level(logging.INFO, logger="nomadp"):
        read_trajectories(written(tmp_path, rows), WORLD)
    wording(
        "formats", "log of columns", "\n".join(caplog.messages), hide={str(tmp_path): "FOLDER"}
    )
    assert "mood" not in caplog.text


def test_reads_gzip_and_a_byte_order_mark(tmp_path):
    path = tmp_path / "trips.csv.gz"
    path.write_bytes(gzip.compress("\ufefftid,seq,location_id\na,0,tower\n".encode()))
    assert lists(read_trajectories(path, WORLD)[0]) == [[TOWER]]


# Every format, several at once

GPX = "<gpx><trk><trkseg>{}</trkseg></trk></gpx>"


def gpx(*places):
    return GPX.format("".join(f'<trkpt lat="{lat}" lon="{lng}"/>' for lat, lng in places))


def line(**properties):
    geometry = {"type": "LineString", "coordinates": [[20.0, 10.1], [20.2, 10.2]]}
    return json.dumps({"type": "Feature", "geometry": geometry, "properties": properties})


@pytest.mark.parametrize(
    ("name", "content", "reading"),
    [
        ("walk.gpx", gpx((10.1, 20.0), (10.2, 20.2)), Reading()),
        ("walk.geojson", line(), Reading()),
        (
            "fixes.csv",
            "user_id,tracked_at,longitude,latitude\n"
            "u,2020-01-01T00:00Z,20,10.1\nu,2020-01-01T01:00Z,20.2,10.2\n",
            Reading("trackintel"),
        ),
        (
            "train.csv",
            '"TAXI_ID","TIMESTAMP","POLYLINE"\n"7","1372636858","[[20,10.1],[20.2,10.2]]"\n',
            Reading("porto"),
        ),
        (
            "loc.txt",
            "7\t2010-10-19T23:55:27Z\t10.1\t20\tx\n7\t2010-10-19T23:57:27Z\t10.2\t20.2\ty",
            Reading("gowalla"),
        ),
    ],
)
def test_trajectories_are_read_from_every_format_that_is_converted(
    tmp_path, name, content, reading
):
    path = written(tmp_path, content, name)
    trajectories, summary = read_trajectories(path, WORLD, reading)
    assert (trajectories.tids, lists(trajectories)) == (("1",), [[TOWER, WOODS]])
    assert summary.snapped.points == 2


def test_tracks_of_many_files_are_as_many_trajectories(tmp_path):
    for k in range(3):
        written(tmp_path, gpx((10.0, 20.0), (10.2, 20.2)), f"2020-01-0{k}.gpx")
    for paths in ([tmp_path], sorted(tmp_path.iterdir())):
        trajectories, summary = read_trajectories(paths, WORLD)
        assert trajectories.tids == ("1", "2", "3")
        assert lists(trajectories) == [[HARBOUR, WOODS]] * 3
        assert summary.people is None


def test_a_person_in_two_files_is_one_person(tmp_path):
    rows = "uid,tid,seq,location_id\nann,1,0,tower\nbob,2,0,woods\n"
    paths = [written(tmp_path, rows, "monday.csv"), written(tmp_path, rows, "tuesday.csv")]
    trajectories, summary = read_trajectories(paths, WORLD)
    assert (len(trajectories), summary.people) == (4, People(count=2, most=2))


def test_a_built_folder_is_read_over_its_own_and_over_other_locations(tmp_path):
    written(tmp_path, "location_id,lat,lng\nwoods,10.2,20.2\nhill,10,20.01\n", "locations.csv")
    written(tmp_path, "tid,seq,location_id\nt,0,woods\nt,1,hill\n", "trajectories.csv")
    trajectories, summary = read_trajectories(tmp_path, WORLD)
    assert lists(trajectories) == [[WOODS, HARBOUR]]
    assert summary.snapped.points == 1  # woods is known by name


def test_a_folder_without_anything_to_read_is_refused(tmp_path):
    written(tmp_path, "x", "notes.txt")
    with refused(SchemaError, "no_readable_files"):
        read_trajectories(tmp_path, WORLD)


def test_at_least_one_file_must_be_named():
    with refused(SchemaError, "no_files"):
        read_trajectories([], WORLD)


def test_a_folder_as_a_cluster_writes_it_is_read(tmp_path):
    folder = tmp_path / "trips.parquet"
    folder.mkdir()
    for k, lists in enumerate([[["tower", "woods"]], [["market"]]]):
        column = {"tid": [f"t{k}"], "location_ids": lists}
        pq.write_table(pa.table(column), folder / f"part-{k}.parquet")
    written(folder, "{}", "_nomadp.json")
    trajectories, _ = read_trajectories(folder, WORLD)
    assert (trajectories.tids, [trajectories[k].tolist() for k in (0, 1)]) == (
        ("t0", "t1"),
        [[TOWER, WOODS], [MARKET]],
    )


def test_trajectories_are_split_where_asked(tmp_path):
    rows = (
        "tid,seq,datetime,lat,lng\na,0,2020-01-01T00:00Z,10,20\na,1,2020-01-02T00:00Z,10,20\n"
    )
    path = written(tmp_path, rows)
    assert len(read_trajectories(path, WORLD)[0]) == 1
    assert len(read_trajectories(path, WORLD, Reading(split_hours=3))[0]) == 2


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("trips.csv", "person,seq,lat,lng,tid\nann,0,10,20,1\nbob,1,10,20,1\n"),
        ("trips.geojson", line(person="ann")),
    ],
)
def test_a_map_from_a_column_that_is_not_there_is_refused(tmp_path, name, content):
    path = written(tmp_path, content, name)
    with refused(SchemaError, "columns_missing", missing=("persn",), suggestion="person"):
        read_trajectories(path, WORLD, Reading(columns={"persn": "uid"}))


def test_a_map_of_columns_is_refused_for_a_file_that_has_none(tmp_path):
    path = written(tmp_path, gpx((10.0, 20.0)), "walk.gpx")
    with refused(SchemaError, "columns_missing", missing=("who",)):
        read_trajectories(path, WORLD, Reading(columns={"who": "uid"}))


# Snapping

AWAY = "tid,seq,lat,lng\na,0,10.1,20\na,1,-43.21098,-160.21098\na,2,10,20\n"
SWAPPED = "tid,seq,lat,lng\na,0,10.1,20\na,1,20.21098,10.21098\na,2,10,20\n"


def test_points_far_from_every_location_are_refused_and_not_quoted(tmp_path):
    with refused(DomainError, "points_too_far", far=1, points=3, max_km=50, swapped=0) as error:
        read_trajectories(written(tmp_path, AWAY), WORLD)
    assert "21098" not in str(error.value)


def test_swapped_coordinates_are_named_as_the_likely_cause(tmp_path):
    with refused(DomainError, "points_too_far", far=1, swapped=1) as error:
        read_trajectories(written(tmp_path, SWAPPED), WORLD)
    assert "21098" not in str(error.value)


def test_how_far_is_too_far_can_be_said(tmp_path):
    path = written(tmp_path, AWAY)
    assert read_trajectories(path, WORLD, max_snap_km=20_100)[1].snapped.max_km > 10_000
    near = written(tmp_path, "tid,seq,lat,lng\na,0,10.01,20\n")
    with refused(DomainError, "points_too_far", far=1, max_km=0.5):
        read_trajectories(near, WORLD, max_snap_km=0.5)


# Parquet


def parquet(folder, **column):
    pq.write_table(pa.table(column), folder / "trips.parquet")
    return folder / "trips.parquet"


def test_reads_parquet_by_location_id(tmp_path):
    path = parquet(
        tmp_path, tid=[1, 1, 2], seq=[1, 0, 0], location_id=["woods", "tower", "market"]
    )
    trajectories, _ = read_trajectories(path, WORLD)
    assert lists(trajectories) == [[TOWER, WOODS], [MARKET]]
    assert trajectories.tids == ("1", "2")


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_reads_parquet_by_moments_of_any_precision(tmp_path, unit):
    moments = [datetime(2020, 1, 2, tzinfo=UTC), datetime(2020, 1, 1, tzinfo=UTC)]
    path = parquet(
        tmp_path,
        tid=["a", "a"],
        datetime=pa.array(moments, pa.timestamp(unit, "Europe/Paris")),
        lat=[10.0, 10.2],
        lng=[20.0, 20.2],
    )
    assert lists(read_trajectories(path, WORLD)[0]) == [[WOODS, HARBOUR]]


def test_reads_parquet_whose_moments_are_text_or_positions(tmp_path):
    place = {"lat": [10.0, 10.2], "lng": [20.0, 20.2]}
    for moments in (["2020-01-02T00:00:00Z", "2020-01-01T00:00:00Z"], [2, 1]):
        path = parquet(tmp_path, tid=["a", "a"], datetime=moments, **place)
        assert lists(read_trajectories(path, WORLD)[0]) == [[WOODS, HARBOUR]]


def test_refuses_parquet_moments_without_a_time_zone(tmp_path):
    naive = pa.array([datetime(2020, 1, 2)], pa.timestamp("us"))
    path = parquet(tmp_path, tid=["a"], datetime=naive, lat=[10.0], lng=[20.0])
    with refused(SchemaError, "time_zone_missing", column="datetime"):
        read_trajectories(path, WORLD)


# Refusals

BY_ID = "tid,seq,location_id\nT-SECRET,0,tower\nT-SECRET,1,woods\n"
BY_PLACE = "tid,datetime,lat,lng\nT-SECRET,2020-03-01T00:00:00Z,41.87811,-87.62982\n"
SECRETS = ("SECRET", "tower", "woods", "41.8", "87.6", "2020-03", "4187", "0x")

BROKEN = [
    ("", "file_empty", {}),
    ("tid,seq,location_id\n", "no_rows", {}),
    (
        BY_ID + "T-SECRET,2,SECRET-home\n",
        "unknown_locations",
        {"unknown": 1, "size": 4, "line": 4},
    ),
    (BY_ID + "T-SECRET,1,woods\n", "seq_repeated", {"column": "seq", "line": 4}),
    (BY_ID + "T-SECRET,SECRET,woods\n", "not_a_whole_number", {"line": 4, "column": "seq"}),
    (BY_ID + "T-SECRET,1.5,woods\n", "not_a_whole_number", {"line": 4, "column": "seq"}),
    (BY_ID + "T-SECRET,,woods\n", "not_a_whole_number", {"line": 4, "column": "seq"}),
    (BY_ID + ",2,woods\n", "value_empty", {"line": 4, "column": "tid"}),
    (BY_ID + "T-SECRET,2,\n", "value_empty", {"line": 4, "column": "location_id"}),
    (BY_ID + "T-SECRET,2\n", "wrong_field_count", {"line": 4, "fields": 2, "expected": 3}),
    (
        BY_ID + "T-SECRET,2,woods,tower\n",
        "wrong_field_count",
        {"line": 4, "fields": 4, "expected": 3},
    ),
    (BY_ID + '"T-SECRET,2,woods\n', "not_csv", {}),
    (BY_ID + 'T-"SECRET",2,"woods"x\n', "not_csv", {}),
    (BY_ID.replace("location_id", "place"), "columns_insufficient", {"used": ("tid", "seq")}),
    (BY_ID.partition("\n")[2], "columns_insufficient", {"used": ()}),
    (BY_ID.replace(",", ";"), "columns_insufficient", {"used": (), "separator": "semicolons"}),
    (BY_ID.replace("seq", "tid"), "column_repeated", {"column": "tid"}),
    (
        "tid," + BY_ID.replace("T-SECRET", "T-SECRET,T-SECRET"),
        "column_repeated",
        {"column": "tid"},
    ),
    (BY_PLACE.partition("\n")[2], "columns_insufficient", {"used": ()}),
    (
        BY_PLACE.replace("datetime", "time"),
        "columns_insufficient",
        {"used": ("tid", "lat", "lng")},
    ),
    (BY_PLACE.replace("-87.62982", "-187.62982"), "not_degrees", {"column": "lng", "line": 2}),
    (BY_PLACE.replace("41.87811", "418.7811"), "not_degrees", {"column": "lat", "line": 2}),
    (BY_PLACE.replace("41.87811", "nan"), "not_finite", {"line": 2, "column": "lat"}),
    (BY_PLACE.replace("41.87811", "41.87811N"), "not_a_number", {"line": 2, "column": "lat"}),
    (BY_PLACE.replace("41.87811", "41_87811"), "not_a_number", {"line": 2, "column": "lat"}),
    (BY_PLACE.replace("00Z", "00"), "time_zone_missing", {"line": 2, "column": "datetime"}),
    (
        BY_PLACE.replace("2020-03-01T", "2020-03-32T"),
        "not_a_moment",
        {"line": 2, "column": "datetime"},
    ),
    (BY_PLACE.replace("T-SECRET", ""), "value_empty", {"line": 2, "column": "tid"}),
    (BY_ID + "T-SECRET,2," + "SECRET" * 30_000 + "\n", "not_csv", {}),
]


def everything_said(error):
    """The messages and arguments of the whole chain, and the traceback as Python prints it."""
    texts = ["".join(traceback.format_exception(error))]
    while error is not None:
        texts += [str(error), repr(error), repr(getattr(error, "object", ""))]
        error = error.__cause__ or error.__context__
    return "\n".join(texts)


@pytest.mark.parametrize(("content", "code", "facts"), BROKEN)
def test_refuses_a_broken_file_in_one_sentence_that_quotes_nothing_of_it(
    tmp_path, content, code, facts
):
    path = written(tmp_path, content)
    with refused(NomadpError, code, **facts) as refusal:
        read_trajectories(path, WORLD)
    sentence = str(refusal.value)
    assert sentence.startswith(str(path))
    assert "\n" not in sentence
    message = everything_said(refusal.value).replace(str(path), "")
    assert not [secret for secret in SECRETS if secret in _without_code(message)]


def _without_code(said):
    """Without the lines of source that a traceback quotes."""
    return re.sub(r"^    .*$", "", said, flags=re.MULTILINE)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_refuses_another_encoding_without_carrying_the_bytes_along(tmp_path, encoding):
    path = tmp_path / "trips.csv"
    path.write_bytes(BY_ID.replace("T-", "Zürich-").encode(encoding))
    with refused(SchemaError, "not_utf8") as refusal:
        read_trajectories(path, WORLD)
    assert "SECRET" not in _without_code(everything_said(refusal.value))
    assert refusal.value.__context__ is None


@pytest.mark.parametrize(
    ("column", "code", "facts"),
    [
        (
            {"seq": ["T-SECRET"]},
            "wrong_column_type",
            {"expected": "whole numbers", "column": "seq"},
        ),
        ({"seq": [0.5]}, "wrong_column_type", {"expected": "whole numbers", "column": "seq"}),
        ({"tid": [None]}, "value_missing", {"column": "tid", "row": 1}),
        (
            {"location_id": ["SECRET-home"]},
            "unknown_locations",
            {"unknown": 1, "size": 4, "row": 1},
        ),
        (
            {"location_id": [b"SECRET"]},
            "wrong_column_type",
            {"expected": "text", "column": "location_id"},
        ),
    ],
)
def test_refuses_broken_parquet_without_quoting_it(tmp_path, column, code, facts):
    whole = {"tid": ["T-SECRET"], "seq": [0], "location_id": ["tower"]}
    with refused(NomadpError, code, **facts) as refusal:
        read_trajectories(parquet(tmp_path, **(whole | column)), WORLD)
    assert "SECRET" not in _without_code(everything_said(refusal.value))


def test_parquet_moments_in_bad_text_are_named_by_row(tmp_path):
    moments = ["2020-01-01T00:00:00Z", "SECRET"]
    path = parquet(tmp_path, tid=["a", "a"], datetime=moments, lat=[1.0, 2.0], lng=[1.0, 2.0])
    with refused(SchemaError, "not_a_moment", column="datetime", row=2) as refusal:
        read_trajectories(path, WORLD)
    assert "SECRET" not in _without_code(everything_said(refusal.value))


def test_unknown_ids_are_a_matter_of_the_domain_not_of_the_file(tmp_path):
    path = written(tmp_path, BY_ID + "T,0,elsewhere\nT,1,elsewhere\n")
    with refused(DomainError, "unknown_locations", unknown=2, size=4, line=4):
        read_trajectories(path, WORLD)


def test_the_papers_sets_have_the_papers_sizes(paper_data):
    from nomadp.formats.location_files import read_locations

    expected = {
        "nyc": (2000, 7951),
        "chi": (1000, 3162),
        "cle": (1000, 2794),
        "cps": (262, 4000),
    }
    for name, (places, trajectories) in expected.items():
        locations = read_locations(paper_data / name / "locations.csv")
        read, summary = read_trajectories(paper_data / name / "trajectories.csv", locations)
        assert (len(locations), len(read), summary.snapped) == (places, trajectories, None)
