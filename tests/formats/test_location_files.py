"""Files of locations: read back equal, refused in one sentence."""

import codecs
import gzip
from errno import EISDIR, ENOENT

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refused

from nomadp.errors import DomainError, NomadpError, SchemaError
from nomadp.formats.location_files import read_locations, write_locations
from nomadp.locations import LocationSet

GOOD = "location_id,lat,lng\na,1.5,2.5\nb,-3.25,179.0\n"
FORMATS = ("csv", "csv.gz", "parquet", "geojson")


def odd_set():
    ids = ["plain", "with,comma", 'with "quotes"', "=two\u00a0words", "Zürich 東京", " space "]
    rng = np.random.default_rng(1)
    return LocationSet.from_columns(ids, rng.uniform(-90, 90, 6), rng.uniform(-180, 180, 6))


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_set_survives_being_written_and_read_to_the_bit(tmp_path, suffix):
    path = tmp_path / f"places.{suffix}"
    write_locations(path, odd_set())
    assert read_locations(path) == odd_set()
    assert read_locations(str(path)).ids == odd_set().ids
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_same_set_makes_the_same_bytes(tmp_path, suffix):
    one, two = tmp_path / f"one.{suffix}", tmp_path / f"two.{suffix}"
    write_locations(one, odd_set())
    write_locations(two, odd_set())
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize(
    "content",
    [
        GOOD,
        GOOD.replace("\n", "\r\n"),
        GOOD.rstrip(),
        GOOD.replace("\n", "\n\n"),
        "\n" + GOOD,
        "\ufeff" + GOOD,
        "lng,name,lat,location_id\n2.5,x,1.5,a\n179,y,-3.25,b\n",
        "location_id , lat, lng\na, 1.5 ,2.5\nb,-3.25,179.0\n",
        'location_id,lat,lng\n"a","1.5","2.5"\n"b","-3.25","179.0"\n',
    ],
)
def test_reads_the_ways_people_write_csv(tmp_path, content):
    path = tmp_path / "places.csv"
    path.write_text(content, encoding="utf-8", newline="")
    expected = LocationSet.from_columns(["a", "b"], [1.5, -3.25], [2.5, 179.0])
    assert read_locations(path) == expected


@pytest.mark.parametrize(
    ("content", "kind", "code", "facts"),
    [
        ("", SchemaError, "file_empty", {}),
        ("\n\n", SchemaError, "file_empty", {}),
        ("location_id,lat,lng\n", SchemaError, "no_rows", {}),
        ("location_id,lat,lng\na,1,2\n", DomainError, "too_few_locations", {"locations": 1}),
        ("location_id,lat\na,1\n", SchemaError, "columns_missing", {"missing": ("lng",)}),
        (
            "id;lat;lng\na;1;2\n",
            SchemaError,
            "columns_missing",
            {"missing": ("location_id", "lat", "lng")},
        ),
        (
            "location_id,lat,lng,lat\na,1,2,1\n",
            SchemaError,
            "column_repeated",
            {"column": "lat"},
        ),
        (
            GOOD + "a,1,2\n",
            SchemaError,
            "location_ids_repeated",
            {"column": "location_id", "line": 4},
        ),
        (
            GOOD + "a,1,2\nb,1,2\n",
            SchemaError,
            "location_ids_repeated",
            {"column": "location_id", "rows": 2, "line": 4},
        ),
        (GOOD + "c,x,2\n", SchemaError, "not_a_number", {"line": 4, "column": "lat"}),
        (GOOD + "c,nan,2\n", SchemaError, "not_finite", {"line": 4, "column": "lat"}),
        (GOOD + "c,1,\n", SchemaError, "not_a_number", {"line": 4, "column": "lng"}),
        (GOOD + "c,1,inf\n", SchemaError, "not_finite", {"line": 4, "column": "lng"}),
        (GOOD + ",1,2\n", SchemaError, "value_empty", {"line": 4, "column": "location_id"}),
        (GOOD + "c,91,2\n", SchemaError, "not_degrees", {"column": "lat", "line": 4}),
        (GOOD + "c,1,-181\n", SchemaError, "not_degrees", {"column": "lng", "line": 4}),
        (
            GOOD + "c,1\n",
            SchemaError,
            "wrong_field_count",
            {"line": 4, "fields": 2, "expected": 3},
        ),
        (
            GOOD + "\n\nc,1,2,3\n",
            SchemaError,
            "wrong_field_count",
            {"line": 6, "fields": 4, "expected": 3},
        ),
        (
            'location_id,lat,lng\n"a\nb",1,2\nc,x,2\n',
            SchemaError,
            "not_a_number",
            {"line": 4, "column": "lat"},
        ),
        (GOOD + '"c,1,2\n', SchemaError, "not_csv", {}),
    ],
)
def test_refuses_a_bad_file_in_one_sentence(tmp_path, content, kind, code, facts):
    path = tmp_path / "places.csv"
    path.write_text(content, encoding="utf-8", newline="")
    with refused(kind, code, **facts) as refusal:
        read_locations(path)
    assert isinstance(refusal.value, NomadpError)
    assert "\n" not in str(refusal.value)


def test_a_bad_row_far_down_is_named_by_its_line(tmp_path):
    path = tmp_path / "places.csv"
    rows = [f"p{k},1,2" for k in range(150_000)]
    rows[140_000] = "p140000,1,east"
    path.write_text("location_id,lat,lng\n" + "\n".join(rows), encoding="utf-8")
    with refused(SchemaError, "not_a_number", line=140002, column="lng"):
        read_locations(path)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_refuses_another_encoding_and_names_the_fix(tmp_path, encoding):
    path = tmp_path / "places.csv"
    path.write_bytes(GOOD.replace("b,", "Zürich,").encode(encoding))
    with refused(SchemaError, "not_utf8"):
        read_locations(path)


def test_refuses_what_is_not_a_whole_gzip_file(tmp_path):
    path = tmp_path / "places.csv.gz"
    for content in (GOOD.encode(), gzip.compress(GOOD.encode())[:-12]):
        path.write_bytes(content)
        with refused(SchemaError, "damaged_archive"):
            read_locations(path)


def test_gzip_carries_no_time_of_writing(tmp_path):
    write_locations(tmp_path / "places.csv.gz", odd_set())
    assert (tmp_path / "places.csv.gz").read_bytes()[4:8] == bytes(4)


def test_reads_a_byte_order_mark_inside_gzip(tmp_path):
    path = tmp_path / "places.csv.gz"
    path.write_bytes(gzip.compress(codecs.BOM_UTF8 + GOOD.encode()))
    assert len(read_locations(path)) == 2


def test_refuses_a_suffix_it_does_not_know(tmp_path):
    path = tmp_path / "places.xlsx"
    path.write_text(GOOD, encoding="utf-8")
    with refused(SchemaError, "unknown_suffix"):
        read_locations(path)
    with refused(SchemaError, "unknown_suffix"):
        write_locations(path, odd_set())


@pytest.mark.parametrize("name", ["nowhere.csv", "nowhere.parquet"])
def test_a_missing_file_is_one_sentence(tmp_path, name):
    with refused(SchemaError, "file_unreadable", errno=ENOENT):
        read_locations(tmp_path / name)


@pytest.mark.parametrize("name", ["folder.csv", "folder.parquet"])
def test_a_folder_is_not_a_file(tmp_path, name):
    (tmp_path / name).mkdir()
    with refused(SchemaError, "file_unreadable", errno=EISDIR):
        read_locations(tmp_path / name)


# Parquet


def parquet(path, **column):
    pq.write_table(pa.table(column), path)
    return path


def test_reads_ids_that_are_integers_or_categories(tmp_path):
    lat, lng = [1.0, 2.0], [3, 4]
    for ids in (pa.array([7, 8]), pa.array(["7", "8"]).dictionary_encode()):
        path = parquet(
            tmp_path / "places.parquet", location_id=ids, lat=lat, lng=lng, extra=lat
        )
        assert read_locations(path).ids == ("7", "8")


@pytest.mark.parametrize(
    ("change", "code", "facts"),
    [
        ({"lat": None}, "columns_missing", {"missing": ("lat",)}),
        ({"lat": ["1", "2"]}, "wrong_column_type", {"expected": "numbers", "column": "lat"}),
        ({"lat": [1.0, None]}, "value_missing", {"column": "lat", "row": 2}),
        ({"lat": [1.0, float("nan")]}, "not_finite", {"column": "lat", "row": 2}),
        ({"lat": [91.0, 1.0]}, "not_degrees", {"column": "lat", "row": 1}),
        (
            {"location_id": [1.5, 2.5]},
            "wrong_column_type",
            {"expected": "text", "column": "location_id"},
        ),
        ({"location_id": ["a", ""]}, "value_empty", {"column": "location_id", "row": 2}),
        (
            {"location_id": ["a", "a"]},
            "location_ids_repeated",
            {"column": "location_id", "row": 2},
        ),
    ],
)
def test_refuses_a_bad_parquet_file_in_one_sentence(tmp_path, change, code, facts):
    column = {"location_id": ["a", "b"], "lat": [1.0, 2.0], "lng": [3.0, 4.0], **change}
    present = {name: values for name, values in column.items() if values is not None}
    with refused(SchemaError, code, **facts):
        read_locations(parquet(tmp_path / "places.parquet", **present))


@pytest.mark.parametrize("content", [b"PAR1 and then nothing", b"PAR1" * 30, GOOD.encode()])
def test_refuses_what_is_not_parquet(tmp_path, content):
    path = tmp_path / "places.parquet"
    path.write_bytes(content)
    with refused(SchemaError, "not_parquet"):
        read_locations(path)


def test_reads_points_of_geojson_named_by_a_property_or_by_their_id(tmp_path):
    path = tmp_path / "places.geojson"
    path.write_text(
        '{"type": "FeatureCollection", "features": ['
        '{"type": "Feature", "id": 7, "geometry": {"type": "Point", "coordinates": [2, 1]}},'
        '{"type": "Feature", "properties": {"location_id": "b"},'
        ' "geometry": {"type": "Point", "coordinates": [4.5, 3, 100]}}]}',
        encoding="utf-8",
    )
    locations = read_locations(path)
    assert (locations.ids, locations.lat.tolist(), locations.lng.tolist()) == (
        ("7", "b"),
        [1.0, 3.0],
        [2.0, 4.5],
    )


@pytest.mark.parametrize(
    "feature",
    [
        '{"type": "Feature", "geometry": {"type": "Point", "coordinates": [2, 1]}}',
        '{"type": "Feature", "id": 1, "geometry": {"type": "Point", "coordinates": [2]}}',
        '{"type": "Feature", "id": 1, "geometry": {"type": "Polygon", "coordinates": []}}',
    ],
)
def test_refuses_a_feature_that_is_no_named_point(tmp_path, feature):
    path = tmp_path / "places.geojson"
    path.write_text(
        f'{{"type": "FeatureCollection", "features": [{feature}]}}', encoding="utf-8"
    )
    with refused(SchemaError, "location_id_missing", feature=1):
        read_locations(path)
