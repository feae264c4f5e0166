"""GeoJSON: what others write is understood, what cannot be is refused by feature."""

import json

import numpy as np
import pytest
from refusals import refused

from nomadp.errors import SchemaError
from nomadp.formats.point_files import read_points, write_points
from nomadp.formats.points import Points
from nomadp.formats.presets import Reading

POINTS = Points(
    np.array([0, 2, 3]),
    np.array([47.0, 47.5, 48.0]),
    np.array([8.0, 8.5, 9.0]),
    ("t", "s"),
    None,
    np.array([0, 1_000_000, 2_000_000]),
)


def feature(coordinates, kind="LineString", **properties):
    geometry = {"type": kind, "coordinates": coordinates}
    return {"type": "Feature", "geometry": geometry, "properties": properties}


def written(folder, *features, **more):
    path = folder / "trips.geojson"
    content = {"type": "FeatureCollection", "features": list(features), **more}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_a_trajectory_is_a_linestring_and_a_lone_point_a_point(tmp_path):
    write_points(tmp_path / "trips.geojson", POINTS)
    first, second = json.loads((tmp_path / "trips.geojson").read_text())["features"]
    assert first == {
        "type": "Feature",
        "geometry": {"type": "LineString", "coordinates": [[8.0, 47.0], [8.5, 47.5]]},
        "properties": {
            "tid": "t",
            "times": ["1970-01-01T00:00:00Z", "1970-01-01T00:00:01Z"],
        },
    }
    assert second["geometry"] == {"type": "Point", "coordinates": [9.0, 48.0]}


LINE = [[8.0, 47.0, 400.0], [8.5, 47.5, 410.0]]


@pytest.mark.parametrize("name", ["times", "coordTimes"])
def test_times_stand_in_a_property_beside_heights_that_are_ignored(tmp_path, name):
    times = ["1970-01-01T00:00:00Z", "1970-01-01T02:00:00+01:00"]
    points = read_points(written(tmp_path, feature(LINE, **{name: times})))
    assert points.moment_us.tolist() == [0, 3_600_000_000]
    assert points.tids == ("1",)


def test_the_fourth_number_of_a_position_is_seconds_since_1970(tmp_path):
    trip = [[8.0, 47.0, 0, 1.5], [8.5, 47.5, 0, 2]]
    assert read_points(written(tmp_path, feature(trip))).moment_us.tolist() == [
        1_500_000,
        2_000_000,
    ]


def test_lines_without_times_keep_only_their_order(tmp_path):
    points = read_points(written(tmp_path, feature(LINE, tid=7), feature(LINE, tid=8)))
    assert (points.moment_us, points.tids) == (None, ("7", "8"))


def test_point_features_are_read_by_the_names_of_a_preset(tmp_path):
    path = written(
        tmp_path,
        feature([8.5, 47.5], "Point", traj_id="a", t="2020-01-01T01:00:00Z"),
        feature([8.0, 47.0], "Point", traj_id="a", t="2020-01-01T00:00:00Z"),
        feature([9.0, 48.0], "Point", traj_id="b", t="2020-01-01T00:00:00Z"),
    )
    points = read_points(path, Reading("movingpandas"))
    assert points.lng.tolist() == [8.0, 8.5, 9.0]
    assert points.tids == ("a", "b")


def test_a_single_feature_is_a_file_too(tmp_path):
    path = tmp_path / "one.json"
    path.write_text(json.dumps(feature(LINE)), encoding="utf-8")
    assert len(read_points(path)) == 2


POINT = feature([8.0, 47.0], "Point", tid="SECRET", seq=0)
BROKEN = [
    ([feature(LINE), POINT], "mixed_features", {"feature": 1}),
    ([feature(LINE), feature([LINE], "MultiLineString")], "wrong_geometry", {"feature": 2}),
    ([feature(LINE), feature([])], "coordinates_missing", {"feature": 2}),
    ([feature(LINE), feature([[8.0], LINE[0]])], "not_a_position", {"feature": 2}),
    ([feature(LINE), feature([["SECRET", 1], LINE[0]])], "not_a_position", {"feature": 2}),
    ([feature(LINE), feature([[500.0, 1.0], LINE[0]])], "not_degrees", {"feature": 2}),
    (
        [feature(LINE, times=["2020-01-01T00:00Z"])],
        "entry_count_differs",
        {"feature": 1, "column": "times"},
    ),
    (
        [feature(LINE, times=["SECRET", "SECRET"])],
        "not_a_moment",
        {"feature": 1, "column": "times"},
    ),
    (
        [feature(LINE, times=["2020-01-01T00:00"] * 2)],
        "time_zone_missing",
        {"feature": 1, "column": "times"},
    ),
    ([feature([[1, 2, 0, 1e99]] * 2)], "not_a_moment", {"feature": 1}),
    (
        [feature(LINE, tid="a"), feature(LINE)],
        "not_text",
        {"feature": 2, "column": "tid"},
    ),
    ([feature(LINE, tid="")], "not_text", {"feature": 1, "column": "tid"}),
    ([feature(LINE, times=[1, 2]), feature(LINE)], None, {}),
    (
        [feature(LINE, times=["2020-01-01T00:00Z"] * 2), feature(LINE)],
        "partly_given",
        {"feature": 2},
    ),
    (
        [feature(LINE, location_ids=["x"])],
        "entry_count_differs",
        {"feature": 1, "column": "location_ids"},
    ),
    (
        [POINT, feature([1.0, 2.0], "Point", tid="a")],
        "not_text",
        {"feature": 2, "column": "seq"},
    ),
    (
        [POINT, feature([1.0, 95.0], "Point", tid="a", seq=1)],
        "not_degrees",
        {"column": "lat", "feature": 2},
    ),
    ([], "no_features", {}),
    (
        [{"type": "Feature", "geometry": None, "properties": {}}],
        "geometry_missing",
        {"feature": 1},
    ),
]


@pytest.mark.parametrize(("features", "code", "facts"), BROKEN)
def test_refuses_a_feature_by_its_number_without_quoting_it(tmp_path, features, code, facts):
    path = written(tmp_path, *features)
    if code is None:
        assert read_points(path).moment_us is None
        return
    with refused(SchemaError, code, **facts) as refusal:
        read_points(path)
    assert "SECRET" not in str(refusal.value)
    assert str(refusal.value).startswith(str(path))


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b'{"SECRET', "not_json"),
        (b"[]", "no_places"),
        (b'"x"', "not_geojson"),
        (b"[" * 10**5, "not_json"),
        (b"\xff\xfe\x00", "not_utf8"),
    ],
)
def test_refuses_what_is_no_geojson_and_carries_nothing_of_it_along(tmp_path, content, code):
    path = tmp_path / "trips.geojson"
    path.write_bytes(content)
    with refused(SchemaError, code) as refusal:
        read_points(path)
    assert refusal.value.__context__ is None


def test_refuses_other_coordinates_than_longitude_and_latitude(tmp_path):
    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::3857"}}
    with refused(SchemaError, "not_wgs84"):
        read_points(written(tmp_path, feature(LINE), crs=crs))
    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}
    assert len(read_points(written(tmp_path, feature(LINE), crs=crs))) == 2
