"""Every frame an answer turns into leads back to the same answer."""

from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import geopandas
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from refusals import refused
from same_answers import assert_same

from nomadp.answers import Estimate
from nomadp.errors import ExtraMissing, SchemaError


def test_arrow_leads_back(answer: Estimate) -> None:
    assert_same(Estimate.from_arrow(answer.to_arrow()), answer, outlines=False)


def test_any_reader_of_arrow_takes_the_answer_itself(answer: Estimate) -> None:
    assert pa.table(answer) == answer.to_arrow()
    assert pl.DataFrame(answer).equals(answer.to_polars())
    assert_same(Estimate.from_arrow(answer), answer, outlines=False)


def test_pandas_leads_back_without_being_told(answer: Estimate) -> None:
    frame = answer.to_pandas()
    assert type(frame) is pd.DataFrame
    assert frame.attrs["nomadp"]["epsilon"] == "4"
    assert_same(Estimate.from_arrow(frame), answer, outlines=False)


def test_polars_leads_back(answer: Estimate) -> None:
    frame = answer.to_polars()
    assert type(frame) is pl.DataFrame
    assert_same(Estimate.from_arrow(frame, like=answer), answer)


def test_duckdb_leads_back(answer: Estimate) -> None:
    rows = duckdb.from_arrow(answer.to_arrow()).filter("true")
    assert_same(Estimate.from_arrow(rows, like=answer), answer)


@pytest.mark.parametrize("kind", ["hotspots", "density", "flows"])
def test_geopandas_leads_back(kind: str, request: pytest.FixtureRequest) -> None:
    answer: Estimate = request.getfixturevalue(kind)
    frame = answer.to_geopandas()
    assert type(frame) is geopandas.GeoDataFrame
    assert frame.crs.to_epsg() == 4326
    back = Estimate.from_arrow(frame)
    assert_same(back, answer, outlines=kind != "flows")


def test_points_areas_and_lines_are_where_they_should_be(
    hotspots: Estimate, density: Estimate, flows: Estimate
) -> None:
    points = hotspots.to_geopandas().geometry
    assert np.array_equal(points.x, hotspots["lng"])
    assert np.array_equal(points.y, hotspots["lat"])
    areas = density.to_geopandas()
    assert set(areas.geom_type) == {"Polygon"}
    assert areas.is_valid.all()
    middles = geopandas.points_from_xy(density["lng"], density["lat"])
    assert areas.covers(geopandas.GeoSeries(middles, crs=4326)).all()
    lines = flows.to_geopandas()
    stays = np.array(flows["origin"]) == np.array(flows["destination"])
    assert np.array_equal(lines.geometry.isna(), stays)
    assert flows.shapes is not None
    first = lines[~stays].iloc[0]
    lat, lng = flows.shapes.places[first["origin"]]
    assert first.geometry.coords[0] == (lng, lat)


def test_lengths_have_no_geometry(lengths: Estimate) -> None:
    with refused(SchemaError, "no_geometry", answer="lengths"):
        lengths.to_geopandas()


def test_a_frame_that_says_nothing_needs_a_like(hotspots: Estimate) -> None:
    with refused(SchemaError, "no_description"):
        Estimate.from_arrow(hotspots.to_polars())


def test_nulls_are_unknown_decimals_and_refused_elsewhere(lengths: Estimate) -> None:
    frame = pl.DataFrame({"length": [1, 2], "share": [0.5, None]})
    back = Estimate.from_arrow(frame, like=lengths)
    assert np.isnan(back["share"]).tolist() == [False, True]
    with refused(SchemaError, "missing_values", column="length", missing=1):
        Estimate.from_arrow(pl.DataFrame({"length": [1, None]}), like=lengths)
    with refused(SchemaError, "unsupported_column_type", column="length"):
        Estimate.from_arrow(pl.DataFrame({"length": [[1], [2]]}), like=lengths)


@pytest.mark.parametrize(
    ("package", "turn", "remedy"),
    [
        ("pyarrow", Estimate.to_arrow, '"nomadp[tables]"'),
        ("polars", Estimate.to_polars, '"nomadp[polars]"'),
        ("geopandas", Estimate.to_geopandas, '"nomadp[geo]"'),
        ("pandas", Estimate.to_pandas, "pandas"),
    ],
)
def test_a_missing_package_is_named_with_its_remedy(
    package: str, turn: object, remedy: str, hotspots: Estimate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nomadp.extras.find_spec", lambda name: None if name == package else 1)
    with refused(ExtraMissing, "package_missing", package=package) as caught:
        turn(hotspots)  # type: ignore[operator]
    assert f"pip install {remedy}" in str(caught.value)


TEXTS = st.text(max_size=8)
COLUMNS = st.integers(0, 6).flatmap(
    lambda size: st.fixed_dictionaries(
        {
            "location_id": st.lists(TEXTS, min_size=size, max_size=size),
            "lat": st.lists(st.floats(-90, 90), min_size=size, max_size=size).map(np.array),
            "share": st.lists(
                st.floats(allow_infinity=False), min_size=size, max_size=size
            ).map(lambda each: np.array(each, dtype=np.float64)),
            "rank": st.lists(
                st.integers(-(2**63), 2**63 - 1), min_size=size, max_size=size
            ).map(lambda each: np.array(each, dtype=np.int64)),
            "told apart": st.lists(st.booleans(), min_size=size, max_size=size).map(
                lambda each: np.array(each, dtype=np.bool_)
            ),
        }
    )
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
ABOUTS = st.dictionaries(TEXTS.filter(lambda name: name != "table"), JSON, max_size=3)


@settings(max_examples=60, deadline=None)
@given(COLUMNS, ABOUTS)
def test_whatever_it_holds_comes_back(
    columns: dict[str, object], about: dict[str, object]
) -> None:
    table = Estimate("synthetic", columns, about)
    assert_same(Estimate.from_arrow(table.to_arrow()), table)
    assert_same(Estimate.from_arrow(table.to_polars(), like=table), table)
    assert_same(Estimate.from_arrow(table.to_pandas(), like=table), table)
    with TemporaryDirectory() as folder:
        for name in ("a.csv", "a.csv.gz", "a.parquet"):
            table.write(Path(folder, name))
            assert_same(Estimate.read(Path(folder, name)), table)
