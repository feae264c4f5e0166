"""Files of answers come back as they were, and open in the tools of strangers."""

import csv
import gzip
import json
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import duckdb
import geopandas
import numpy as np
import pyarrow.parquet as pq
import pyogrio
import pytest
from refusals import refused
from same_answers import assert_same

import nomadp
from nomadp.answers import Estimate
from nomadp.answers.estimate_files import flowmap_writes, table_writes
from nomadp.errors import OutputError, SchemaError

MAPPED = ("hotspots", "density", "flows")


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_tables_come_back(answer: Estimate, suffix: str, tmp_path: Path) -> None:
    answer.write(tmp_path / f"answer{suffix}")
    assert_same(Estimate.read(tmp_path / f"answer{suffix}"), answer, outlines=False)


@pytest.mark.parametrize("suffix", [".geoparquet", ".geojson"])
@pytest.mark.parametrize("kind", MAPPED)
def test_maps_come_back_with_their_outlines(
    kind: str, suffix: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    answer: Estimate = request.getfixturevalue(kind)
    answer.write(tmp_path / f"answer{suffix}")
    back = Estimate.read(tmp_path / f"answer{suffix}")
    assert_same(back, answer, outlines=kind != "flows")


@pytest.mark.parametrize("suffix", [".csv", ".geojson"])
def test_decimals_that_are_not_known_come_back(suffix: str, tmp_path: Path) -> None:
    column = {"lat": [1.5, 2.5], "lng": [3.5, 4.5], "share": [0.1 + 0.2, np.nan]}
    table = Estimate("density", column, {"epsilon": "4"})
    table.write(tmp_path / f"x{suffix}")
    assert_same(Estimate.read(tmp_path / f"x{suffix}"), table)


def test_csv_is_plain_and_its_facts_stand_beside(hotspots: Estimate, tmp_path: Path) -> None:
    hotspots.write(tmp_path / "hot.csv.gz")
    with gzip.open(tmp_path / "hot.csv.gz", "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[:4] == ["location_id", "lat", "lng", "share"]
    assert [float(row["share"]) for row in rows] == hotspots["share"].tolist()
    about = json.loads((tmp_path / "hot.csv.gz.meta.json").read_text())
    assert about["epsilon"] == "4"
    assert about["table"]["kind"] == "hotspots"


def test_a_table_never_stands_without_saying_how_it_was_made(
    hotspots: Estimate, flows: Estimate, tmp_path: Path
) -> None:
    for writes in (
        table_writes(tmp_path / "x.csv", hotspots),
        flowmap_writes(tmp_path / "x.csv", flows),
    ):
        assert next(iter(writes)) == tmp_path / "x.csv.meta.json"  # moved in this order


@pytest.mark.parametrize("kind", MAPPED)
def test_geoparquet_opens_in_geopandas_with_its_crs(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    answer: Estimate = request.getfixturevalue(kind)
    answer.write(tmp_path / "x.parquet", geometry=True)
    frame = geopandas.read_parquet(tmp_path / "x.parquet")
    assert frame.crs.equals("OGC:CRS84")
    assert frame.to_crs(4326).geometry.geom_equals(answer.to_geopandas().geometry).sum() == sum(
        answer.to_geopandas().geometry.notna()
    )
    geo = json.loads(pq.read_schema(tmp_path / "x.parquet").metadata[b"geo"])
    column = geo["columns"]["geometry"]
    assert (geo["version"], column["encoding"]) == ("1.1.0", "WKB")
    assert column["bbox"] == pytest.approx(frame.total_bounds.tolist(), abs=1e-12)
    kinds = set(frame.geom_type.dropna())
    assert set(column["geometry_types"]) == kinds


def test_geoparquet_is_a_plain_table_to_duckdb(density: Estimate, tmp_path: Path) -> None:
    density.write(tmp_path / "x.geoparquet")
    found = duckdb.sql(f"select * from read_parquet('{tmp_path / 'x.geoparquet'}')")
    names = [*density.columns, "geometry"]
    assert found.columns == names
    share = found.select(duckdb.ColumnExpression("share")).fetchnumpy()["share"]
    assert share.tolist() == density["share"].tolist()


def test_geoparquet_has_geometry_and_crs_to_duckdb_itself(
    density: Estimate, tmp_path: Path
) -> None:
    if int(duckdb.__version__.partition(".")[0]) < 2:
        pytest.skip("before 2.0, only the extension spatial of DuckDB knows geometry")
    density.write(tmp_path / "x.geoparquet")
    found = duckdb.sql(f"select geometry from read_parquet('{tmp_path / 'x.geoparquet'}')")
    assert [str(kind) for kind in found.types] == ["GEOMETRY('OGC:CRS84')"]
    wanted = [each.wkb for each in density.to_geopandas().geometry]
    assert [bytes(each) for (each,) in found.fetchall()] == wanted


@pytest.fixture(scope="session")
def spatial() -> duckdb.DuckDBPyConnection:
    """DuckDB with its extension, installed or as in the package duckdb-extension-spatial."""
    connection = duckdb.connect()
    package = find_spec("duckdb_extension_spatial")
    folders = [] if package is None else package.submodule_search_locations or []
    kept = [each for folder in folders for each in Path(folder).rglob("*.duckdb_extension")]
    for name in ("spatial", *(f"'{each}'" for each in kept)):
        with suppress(duckdb.Error):
            return connection.execute(f"load {name}")
    pytest.skip("DuckDB's extension spatial is not installed, and nothing is downloaded")


@pytest.mark.parametrize("kind", MAPPED)
def test_geoparquet_has_geometry_and_crs_to_duckdb_spatial(
    kind: str,
    spatial: duckdb.DuckDBPyConnection,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    answer: Estimate = request.getfixturevalue(kind)
    answer.write(tmp_path / "x.geoparquet")
    table, wanted = f"read_parquet('{tmp_path / 'x.geoparquet'}')", answer.to_geopandas()
    query = f"select st_geometrytype(geometry), st_aswkb(geometry) from {table}"
    kinds, places = zip(*spatial.sql(query).fetchall(), strict=True)
    assert {str(each).title() for each in kinds if each is not None} == {
        each.title() for each in wanted.geom_type.dropna()
    }
    assert [each and bytes(each) for each in places] == wanted.geometry.to_wkb().tolist()
    if [int(each) for each in duckdb.__version__.split(".")[:2]] >= [1, 5]:
        crs = spatial.sql(f"select distinct st_crs(geometry) from {table}").fetchall()
        assert ("OGC:CRS84",) in crs


@pytest.mark.parametrize("kind", MAPPED)
def test_geoparquet_opens_in_gdal(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    if "Parquet" not in pyogrio.list_drivers():
        pytest.skip("the GDAL in pyogrio's wheel has no driver for Parquet")
    answer: Estimate = request.getfixturevalue(kind)
    answer.write(tmp_path / "x.parquet", geometry=True)
    frame, wanted = pyogrio.read_dataframe(tmp_path / "x.parquet"), answer.to_geopandas()
    assert frame.crs.equals("OGC:CRS84") or frame.crs.to_epsg() == 4326  # by GDAL's version
    assert list(frame.columns) == list(wanted.columns)
    assert frame.geometry.to_wkb().tolist() == wanted.geometry.to_wkb().tolist()
    value = "flow" if kind == "flows" else "share"
    assert frame[value].tolist() == answer[value].tolist()


@pytest.mark.parametrize("kind", MAPPED)
def test_geojson_opens_in_gdal(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    answer: Estimate = request.getfixturevalue(kind)
    answer.write(tmp_path / "x.geojson")
    frame = pyogrio.read_dataframe(tmp_path / "x.geojson")
    assert frame.crs.to_epsg() == 4326
    assert [name for name in frame.columns if name != "geometry"] == list(answer.columns)
    value = "flow" if kind == "flows" else "share"
    assert frame[value].tolist() == answer[value].tolist()


def test_flow_maps_have_their_names_and_places(flows: Estimate, tmp_path: Path) -> None:
    flows.write(tmp_path / "flows.csv", flowmap=True)
    with (tmp_path / "flows.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["origin", "dest", "count"]
    assert sum(float(row["count"]) for row in rows) == pytest.approx(5000, abs=1)
    with (tmp_path / "flows.locations.csv").open(newline="") as file:
        places = {
            row["id"]: (float(row["lat"]), float(row["lon"])) for row in csv.DictReader(file)
        }
    assert flows.shapes is not None
    assert places == dict(flows.shapes.places)
    assert {row["origin"] for row in rows} <= places.keys()


def test_a_flow_map_of_timed_flows_has_each_trip_once(tmp_path: Path) -> None:
    """The rows of single times repeat those of all times combined; together they are 2."""
    city = nomadp.synthetic_city(seed=1, places=50, trips=300)
    trips = nomadp.make_mechanism(
        "trips", city.locations, epsilon=8, zones="grid:2", when="day-part"
    )
    true = city.trajectories
    hours = np.arange(len(true)) % 168
    people = nomadp.TrajectorySet(true.offsets, true.locations, true.tids, hours)
    reports = nomadp.perturb_set(trips, people, nomadp.SeededRandom(1))
    nomadp.flows(nomadp.fit(trips, reports)).write(tmp_path / "flows.csv", flowmap=True)
    with (tmp_path / "flows.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert sum(float(row["count"]) for row in rows) == pytest.approx(300, abs=1)
    assert len({(row["origin"], row["dest"]) for row in rows}) == len(rows)


def test_a_flow_map_of_no_flows_is_refused(hotspots: Estimate, tmp_path: Path) -> None:
    with refused(SchemaError, "not_flows", answer="hotspots"):
        hotspots.write(tmp_path / "x.csv", flowmap=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "geometry", "code"),
    [
        ("x.txt", None, "unknown_suffix"),
        ("x.csv", True, "geometry_not_optional"),
        ("x.geojson", False, "geometry_not_optional"),
    ],
)
def test_what_cannot_be_written_is_refused_and_leaves_nothing(
    name: str, geometry: bool | None, code: str, hotspots: Estimate, tmp_path: Path
) -> None:
    with refused(SchemaError, code):
        hotspots.write(tmp_path / name, geometry=geometry)
    assert list(tmp_path.iterdir()) == []


def test_lengths_on_a_map_are_refused_and_leave_nothing(
    lengths: Estimate, tmp_path: Path
) -> None:
    for name in ("x.geojson", "x.geoparquet"):
        with refused(SchemaError, "no_geometry", answer="lengths"):
            lengths.write(tmp_path / name)
    with pytest.raises(OutputError):
        lengths.write(tmp_path / "nowhere" / "x.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("x.csv", b"a,b\n1,2\n", "no_description"),
        ("x.parquet", b"PAR1", "not_parquet"),
        (
            "x.geojson",
            b'{"type": "FeatureCollection", "features": []}',
            "no_description",
        ),
        ("x.geojson", b"[]", "not_geojson"),
    ],
)
def test_files_of_others_are_refused(
    name: str, content: bytes, code: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with refused(SchemaError, code):
        Estimate.read(tmp_path / name)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace("share", "part"),
        lambda text: text + "a,b\n",
        lambda text: text.replace("0.", "zero.", 5),
        lambda text: text + '"',
    ],
)
def test_a_spoilt_csv_is_refused(spoil: object, hotspots: Estimate, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    hotspots.write(path)
    path.write_text(spoil(path.read_text()))  # type: ignore[operator]
    with pytest.raises(SchemaError):
        Estimate.read(path)


def test_a_newer_format_is_refused(hotspots: Estimate, tmp_path: Path) -> None:
    hotspots.write(tmp_path / "x.csv")
    beside = tmp_path / "x.csv.meta.json"
    beside.write_text(beside.read_text().replace('"format": 1', '"format": 2'))
    with refused(SchemaError, "unknown_table_format", format="2"):
        Estimate.read(tmp_path / "x.csv")


@pytest.mark.parametrize("cell", ["=HYPERLINK(1)", "+1", "-1", "@SUM(1)", "\tx"])
@pytest.mark.parametrize("safe", [True, False])
def test_a_spreadsheet_works_nothing_out_if_asked(
    cell: str, safe: bool, tmp_path: Path
) -> None:
    table = Estimate("density", {"zone": [cell, "a=b"], "share": [-0.5, 0.5]}, {})
    (write,) = (
        each
        for path, each in table_writes(tmp_path / "x.csv", table, for_spreadsheets=safe).items()
        if path.name == "x.csv"
    )
    write(tmp_path / "x.csv")
    with (tmp_path / "x.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[1:] == [[f"'{cell}" if safe else cell, "-0.5"], ["a=b", "0.5"]]
