"""Taxi trips of Porto, as the competition published them."""

import logging

import pytest
from refusals import refused

from nomadp.errors import SchemaError
from nomadp.formats.point_files import read_points
from nomadp.formats.presets import Reading

HEADER = (
    '"TRIP_ID","CALL_TYPE","ORIGIN_CALL","ORIGIN_STAND","TAXI_ID","TIMESTAMP","DAY_TYPE",'
    '"MISSING_DATA","POLYLINE"\n'
)
ROWS = (
    '"T1","C","","","20000589","1372636858","A","False","[[-8.5,41.25],[-8.75,41.5]]"\n'
    '"T2","C","","","20000596","1372637303","A","False","[]"\n'
    '"T3","B","","7","20000589","1372636951","A","True","[[-8.5,41.25]]"\n'
)


def written(folder, rows):
    path = folder / "train.csv"
    path.write_text(HEADER + rows, encoding="utf-8")
    return path


def test_a_point_is_fifteen_seconds_after_the_one_before(tmp_path, caplog, wording):
    with caplog.at_level(logging.INFO, logger="nomadp"):
        points = read_points(written(tmp_path, ROWS), Reading("porto"))
    assert points.uids == ("20000589", "20000589")
    assert (points.lat.tolist(), points.lng.tolist()) == (
        [41.25, 41.5, 41.25],
        [-8.5, -8.75, -8.5],
    )
    start = 1_372_636_858_000_000
    assert points.moment_us.tolist() == [start, start + 15_000_000, 1_372_636_951_000_000]
    wording(
        "formats", "log of Porto", "\n".join(caplog.messages), hide={str(tmp_path): "FOLDER"}
    )


def test_trips_are_numbered_since_a_trip_id_is_a_time_and_a_taxi(tmp_path):
    assert read_points(written(tmp_path, ROWS), Reading("porto")).tids == ("1", "2")


@pytest.mark.parametrize(
    "polyline", ["SECRET", "[[1]]", "[[1,2,3]]", '[[\\"a\\",2]]', "[[200,1]]", "[[1,NaN]]", "7"]
)
def test_refuses_a_broken_polyline_by_its_line(tmp_path, polyline):
    rows = ROWS + f'"T4","B","","7","1","1372636951","A","False","{polyline}"\n'.replace(
        '\\"', '""'
    )
    with refused(SchemaError, "not_a_polyline", column="POLYLINE", line=5) as refusal:
        read_points(written(tmp_path, rows), Reading("porto"))
    assert "SECRET" not in str(refusal.value)


def test_refuses_a_file_without_a_position_or_without_the_columns(tmp_path):
    with refused(SchemaError, "no_points"):
        read_points(written(tmp_path, ROWS.splitlines(keepends=True)[1]), Reading("porto"))
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with refused(SchemaError, "columns_missing", missing=("TAXI_ID", "TIMESTAMP", "POLYLINE")):
        read_points(path, Reading("porto"))
