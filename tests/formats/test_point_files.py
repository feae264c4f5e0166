"""Every format round-trips: what is written is read again, to the bit."""

import dataclasses
import logging
from errno import ENOENT
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from nomadp.errors import SchemaError
from nomadp.formats.columns import EARLIEST_US, LATEST_US
from nomadp.formats.point_files import read_points, write_points
from nomadp.formats.points import Points
from nomadp.formats.presets import Reading

NAMES = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=6)
LAT, LNG = st.floats(-90, 90), st.floats(-180, 180)
MOMENTS = st.integers(EARLIEST_US, LATEST_US)


@st.composite
def sets(draw, clock=None, users=None, places=None, shared=True):
    """Points with or without a clock, users and place names."""
    clock, users, places = (
        draw(st.booleans()) if wanted is None else wanted for wanted in (clock, users, places)
    )
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    total, count = sum(lengths), len(lengths)
    names = draw(st.lists(NAMES, min_size=count, max_size=count, unique=True))
    uids = draw(st.lists(NAMES, min_size=count, max_size=count)) if users else None
    if users and shared and len(set(uids)) == count and draw(st.booleans()):
        names = [names[0]] * count  # users who share a tid
    lat, lng = (
        np.array(draw(st.lists(each, min_size=total, max_size=total))) for each in (LAT, LNG)
    )
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    moments = None
    if clock:
        moments = np.array(draw(st.lists(MOMENTS, min_size=total, max_size=total)))
        for start, end in pairwise(offsets):
            moments[start:end].sort()
    ids = draw(st.lists(NAMES, min_size=total, max_size=total)) if places else None
    return Points(
        offsets,
        lat,
        lng,
        tuple(names),
        None if uids is None else tuple(uids),
        moments,
        None if ids is None else tuple(ids),
    )


FORMATS = [
    ("csv", {}),
    ("csv.gz", {}),
    ("parquet", {}),
    ("geoparquet", {}),
    ("geojson", {"shape": "lines"}),
    ("geojson", {"shape": "points"}),
]


@pytest.mark.parametrize(("suffix", "options"), FORMATS)
@settings(max_examples=30)  # each writes and reads a file
@given(points=sets())
def test_points_survive_being_written_and_read(suffix, options, points, tmp_path_factory):
    path = tmp_path_factory.mktemp("points") / f"points.{suffix}"
    write_points(path, points, **options)
    assert read_points(path) == points


@pytest.mark.parametrize("suffix", ["csv", "parquet", "geoparquet"])
@settings(max_examples=30)  # each writes and reads a file
@given(points=sets(clock=True, users=True, places=False))
def test_the_columns_of_scikit_mobility_round_trip(suffix, points, tmp_path_factory):
    path = tmp_path_factory.mktemp("points") / f"points.{suffix}"
    write_points(path, points, preset="skmob")
    assert read_points(path, Reading("skmob")) == points


@pytest.mark.parametrize("preset", ["movingpandas", "ptrail"])
@settings(max_examples=30)  # each writes and reads a file
@given(points=sets(clock=True, users=False, places=False))
def test_the_columns_of_movingpandas_and_ptrail_round_trip(preset, points, tmp_path_factory):
    path = tmp_path_factory.mktemp("points") / "points.csv"
    write_points(path, points, preset=preset)
    assert read_points(path, Reading(preset)) == points


@settings(max_examples=30)  # each writes and reads a file
@given(points=sets(clock=True, users=True, places=False, shared=False))
def test_the_columns_of_trackintel_keep_one_trajectory_per_user(points, tmp_path_factory):
    single = dataclasses.replace(
        points,
        uids=tuple(f"u{k}" for k in range(len(points.tids))),
        tids=tuple(str(k + 1) for k in range(len(points.tids))),
    )
    path = tmp_path_factory.mktemp("points") / "points.csv"
    write_points(path, single, preset="trackintel")
    assert read_points(path, Reading("trackintel")) == single


SOME = Points(
    np.array([0, 2, 3]),
    np.array([1.5, 2.5, 3.5]),
    np.array([10.0, 20.0, 30.0]),
    ("a", "b"),
    ("ann", "bob"),
    np.array([0, 1_000_000, 2_500_000]),
)


def test_a_preset_names_the_columns(tmp_path):
    for preset, header in {
        "nomadp": "uid,tid,seq,datetime,lat,lng",
        "skmob": "uid,tid,datetime,lat,lng",
        "movingpandas": "traj_id,t,y,x",
        "trackintel": "user_id,tracked_at,latitude,longitude",
        "ptrail": "traj_id,DateTime,lat,lon",
    }.items():
        write_points(tmp_path / "points.csv", SOME, preset=preset)
        assert (tmp_path / "points.csv").read_text(encoding="utf-8").split("\n")[0] == header


def test_refuses_a_preset_whose_columns_cannot_be_filled(tmp_path):
    nobody = dataclasses.replace(SOME, uids=None)
    with refused(SchemaError, "columns_missing", missing=("uid",)):
        write_points(tmp_path / "points.csv", nobody, preset="trackintel")
    timeless = dataclasses.replace(SOME, moment_us=None)
    with refused(SchemaError, "columns_missing", missing=("datetime",)):
        write_points(tmp_path / "points.csv", timeless, preset="movingpandas")
    with refused(SchemaError, "unknown_preset", preset="porto"):
        write_points(tmp_path / "points.csv", SOME, preset="porto")
    with refused(SchemaError, "preset_of_tables"):
        write_points(tmp_path / "points.geojson", SOME, preset="skmob")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["points.xlsx", "points", "points.gpx"])
def test_refuses_to_write_what_it_does_not_know(tmp_path, name):
    with refused(SchemaError, "unknown_suffix"):
        write_points(tmp_path / name, SOME)


def test_refuses_to_read_what_it_does_not_know(tmp_path):
    (tmp_path / "points.xlsx").write_text("x", encoding="utf-8")
    with refused(SchemaError, "unknown_format"):
        read_points(tmp_path / "points.xlsx")
    with refused(SchemaError, "file_unreadable", errno=ENOENT):
        read_points(tmp_path / "none.csv")


def test_check_in_files_are_read_by_preset_and_their_bad_rows_are_counted(
    tmp_path, caplog, wording
):
    path = tmp_path / "loc-gowalla.txt"
    rows = [
        "7\t2010-10-19T23:55:27Z\t30.5\t-97.5\tx",
        "SECRET",
        "8\t2010-10-18T00:00:00Z\t1\t2\ty",
    ]
    path.write_text("\n".join([*rows, rows[0].replace("-19T", "-17T")]), encoding="utf-8")
    with caplog.at_level(logging.INFO, logger="nomadp"):
        points = read_points(path, Reading("gowalla"))
    assert points.uids == ("7", "8")
    assert points.location_ids == ("x", "x", "y")
    assert np.all(np.diff(points.moment_us)[:1] > 0)
    wording(
        "formats",
        "log of check-ins",
        "\n".join(caplog.messages),
        hide={str(tmp_path): "FOLDER"},
    )
    assert "SECRET" not in caplog.text


def test_the_mapping_that_was_used_is_reported_and_nothing_else_of_the_header(
    tmp_path, caplog, wording
):
    path = tmp_path / "fixes.csv"
    path.write_text("user_id,tracked_at,mood,longitude,latitude\nu,2020-01-01T00:00Z,SAD,1,2\n")
    with caplog.at_level(logging.INFO, logger="nomadp"):
        read_points(path, Reading("trackintel"))
    wording(
        "formats",
        "log of mapped columns",
        "\n".join(caplog.messages),
        hide={str(tmp_path): "FOLDER"},
    )
    assert "mood" not in caplog.text


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet", "geoparquet", "geojson"])
def test_only_its_owner_can_read_what_was_written(suffix, tmp_path):
    path = tmp_path / f"points.{suffix}"
    write_points(path, SOME)
    assert path.stat().st_mode & 0o777 == 0o600
