"""Column presets and explicit maps: nothing is guessed."""

import pytest
from refusals import refused

from nomadp.errors import SchemaError
from nomadp.formats.presets import PRESETS, WHOLE_FILES, Reading, parse_columns


def test_every_library_of_the_field_has_a_preset():
    assert {*PRESETS, *WHOLE_FILES} == {
        "nomadp",
        "skmob",
        "movingpandas",
        "trackintel",
        "ptrail",
        "gowalla",
        "foursquare",
        "porto",
        "geolife",
    }


def test_an_explicit_map_is_stronger_than_the_preset():
    reading = Reading("skmob", {"device": "uid", "lat": "lng", "lon": "lat"})
    columns = reading.mapping("f", ["device", "uid", "tid", "datetime", "lat", "lon"])
    assert columns == {
        "uid": "device",
        "tid": "tid",
        "datetime": "datetime",
        "lng": "lat",
        "lat": "lon",
    }


def test_a_name_that_means_something_else_now_no_longer_means_the_old():
    reading = Reading("nomadp", {"tid": "uid"})
    assert reading.mapping("f", ["tid", "seq", "lat", "lng"]) == {
        "uid": "tid",
        "seq": "seq",
        "lat": "lat",
        "lng": "lng",
    }


def test_coordinates_win_over_a_geometry():
    columns = Reading().mapping("f", ["tid", "seq", "lat", "lng", "geometry"])
    assert "geometry" not in columns


@pytest.mark.parametrize(
    "header",
    [
        ["Tid", "datetime", "lat", "lng"],
        ["tid", "time", "lat", "lng"],
        ["tid", "datetime", "lat", "lon"],
        ["tid", "seq", "location_id"],
        ["SECRET", "41.8"],
    ],
)
def test_refuses_a_header_it_would_have_to_guess_at_and_quotes_only_known_names(header):
    with refused(SchemaError, "columns_insufficient") as refusal:
        Reading().mapping("f", header)
    for name in {"Tid", "time", "lon", "SECRET", "41.8"} & set(header):
        assert f" {name}" not in str(refusal.value)


@pytest.mark.parametrize(("mark", "name"), [(";", "semicolons"), ("\t", "tabs")])
def test_a_table_with_other_separators_is_told_from_one_without_columns(mark, name):
    header = [mark.join(("ride", "seq", "X", "Y"))]
    with refused(SchemaError, "columns_insufficient", separator=name):
        Reading().mapping("f", header)
    with refused(SchemaError, "columns_missing", separator=name):
        Reading(columns={"ride": "tid"}).check_columns("f", header)


def test_two_columns_in_one_map_are_told_apart():
    reading = Reading(columns=parse_columns(["ride=tid,X=lng"]))
    with refused(SchemaError, "columns_missing", missing=("ride=tid,X",)):
        reading.check_columns("f", ["ride", "X"])


def test_refuses_a_column_named_twice():
    with refused(SchemaError, "column_repeated", column="tid"):
        Reading().mapping("f", ["tid", "tid", "seq", "lat", "lng"])


def test_an_unknown_preset_gets_a_suggestion():
    with refused(SchemaError, "unknown_preset", suggestion="skmob"):
        Reading("skmobb")


def test_refuses_to_map_columns_to_unknown_names_or_in_files_without_any():
    with refused(SchemaError, "unknown_column", column="user"):
        Reading("nomadp", {"id": "user"})
    with refused(SchemaError, "no_named_columns", preset="gowalla"):
        Reading("gowalla", {"id": "uid"})


def test_maps_are_parsed():
    assert parse_columns(["user id=uid", "a=b=tid"]) == {"user id": "uid", "a=b": "tid"}


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        (["uid"], "invalid_column_map"),
        (["=uid"], "invalid_column_map"),
        (["a="], "invalid_column_map"),
        (["a=uid", "a=tid"], "invalid_column_map"),
        (["a=uid", "b=uid"], "column_mapped_twice"),
    ],
)
def test_refuses_what_is_no_map(texts, code):
    with refused(SchemaError, code):
        parse_columns(texts)
