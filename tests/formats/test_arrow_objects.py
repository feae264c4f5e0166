"""Frames of other libraries are read wherever a file is, with the same result."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import geopandas
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from refusals import refused

import nomadp
from nomadp.errors import DomainError, SchemaError
from nomadp.formats.columns import ReadOptions
from nomadp.formats.presets import Reading

Make = Callable[[dict[str, Any]], Any]


def reader(column: dict[str, Any]) -> pa.RecordBatchReader:
    """A stream that can be read only once."""
    return pa.table(column).to_reader(max_chunksize=2)


FRAMES: dict[str, Make] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "duckdb": lambda column: duckdb.from_arrow(pa.table(column)),
    "arrow": pa.table,
    "stream": reader,
}
every_frame = pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)

PLACES = {
    "location_id": [f"p{k}" for k in range(12)],
    "lat": [40 + k // 4 / 50 for k in range(12)],
    "lng": [-74 + k % 4 / 50 for k in range(12)],
}
TRIPS = {
    "tid": ["b", "a", "a", "b", "b"],
    "seq": [0, 0, 1, 1, 2],
    "location_id": ["p7", "p0", "p5", "p2", "p11"],
}


@pytest.fixture(scope="module")
def places() -> nomadp.LocationSet:
    return nomadp.LocationSet.from_columns(*PLACES.values())


@every_frame
def test_locations_come_from_any_frame(make: Make, places: nomadp.LocationSet) -> None:
    assert nomadp.read_locations(make(PLACES)) == places


def test_locations_come_from_points_of_geopandas(places: nomadp.LocationSet) -> None:
    points = geopandas.points_from_xy(PLACES["lng"], PLACES["lat"], crs=4326)
    frame = geopandas.GeoDataFrame({"location_id": PLACES["location_id"]}, geometry=points)
    assert nomadp.read_locations(frame) == places
    assert nomadp.read_locations(frame.rename_geometry("geom")) == places


def test_geopandas_in_other_coordinates_is_refused() -> None:
    points = geopandas.points_from_xy(PLACES["lng"], PLACES["lat"], crs=4326)
    frame = geopandas.GeoDataFrame({"location_id": PLACES["location_id"]}, geometry=points)
    with refused(SchemaError, "not_wgs84"):
        nomadp.read_locations(frame.to_crs(3857))


def test_decimals_of_sql_are_numbers(places: nomadp.LocationSet) -> None:
    rows = duckdb.sql(
        "select * from (values ('a', 40.0, -74.0), ('b', 40.5, -74.5)) t(location_id, lat, lng)"
    )
    assert nomadp.read_locations(rows).lat.tolist() == [40.0, 40.5]


@every_frame
def test_trajectories_come_from_any_frame(make: Make, places: nomadp.LocationSet) -> None:
    trajectories, summary = nomadp.read_trajectories(make(TRIPS), places)
    assert trajectories.lengths.tolist() == [3, 2]
    assert trajectories.locations.tolist() == [7, 2, 11, 0, 5]
    assert summary.snapped is None


@every_frame
def test_one_row_to_a_trajectory_comes_from_any_frame(
    make: Make, places: nomadp.LocationSet
) -> None:
    frame = make({"tid": ["a", "b"], "uid": ["u", "u"], "location_ids": [["p1", "p2"], ["p3"]]})
    trajectories, summary = nomadp.read_trajectories(frame, places)
    assert trajectories.locations.tolist() == [1, 2, 3]
    assert summary.people is not None
    assert summary.people.count == 1


def test_raw_tracks_come_from_frames_with_times(places: nomadp.LocationSet) -> None:
    stamps = pd.to_datetime(["2020-01-01T11:00Z", "2020-01-01T10:00Z"])
    track = {"uid": [1, 1], "datetime": stamps, "lat": [40.021, 40.001], "lng": [-73.98, -74.0]}
    points = geopandas.points_from_xy(track["lng"], track["lat"], crs=4326)
    located = geopandas.GeoDataFrame({"traj_id": [1, 1], "t": stamps}, geometry=points)
    frames: list[tuple[Any, Reading]] = [
        (pd.DataFrame(track), Reading()),
        (pl.DataFrame(track), Reading()),
        (located, Reading("movingpandas")),
    ]
    for frame, reading in frames:
        trajectories, _ = nomadp.read_trajectories(frame, places, reading)
        assert trajectories.locations.tolist() == [0, 5]


def test_frames_and_files_are_read_together(places: nomadp.LocationSet, tmp_path: Path) -> None:
    pd.DataFrame(TRIPS).to_csv(tmp_path / "trips.csv", index=False)
    trajectories, _ = nomadp.read_trajectories(
        [tmp_path / "trips.csv", pl.DataFrame(TRIPS)], places
    )
    assert trajectories.lengths.tolist() == [3, 2, 3, 2]


@pytest.mark.parametrize(
    ("spoil", "error", "code", "facts"),
    [
        (
            {"location_id": ["p7", "p0", "secret", "p2", "p1"]},
            DomainError,
            "unknown_locations",
            {"unknown": 1, "size": 12, "row": 3},
        ),
        ({"location_id": None}, SchemaError, "columns_insufficient", {"used": ("tid", "seq")}),
        ({"seq": [0, 0, 0, 1, 2]}, SchemaError, "seq_repeated", {"column": "seq", "row": 3}),
        (
            {"seq": [0.5] * 5},
            SchemaError,
            "wrong_column_type",
            {"expected": "whole numbers", "column": "seq"},
        ),
    ],
)
def test_refusals_name_the_frame_and_quote_nothing(
    spoil: dict[str, Any],
    error: type[Exception],
    code: str,
    facts: dict[str, Any],
    places: nomadp.LocationSet,
) -> None:
    column = {name: each for name, each in (TRIPS | spoil).items() if each is not None}
    with refused(error, code, **facts) as refusal:
        nomadp.read_trajectories(pd.DataFrame(column), places)
    assert str(refusal.value).startswith("the given DataFrame")
    assert "secret" not in str(refusal.value)
    assert refusal.value.__context__ is None or "secret" not in str(refusal.value.__context__)


def test_the_columns_of_a_frame_are_named_in_python(places: nomadp.LocationSet) -> None:
    frame = pd.DataFrame(TRIPS).rename(columns={"tid": "ride"})
    with refused(SchemaError, "columns_insufficient"):
        nomadp.read_trajectories(frame, places)
    read, _ = nomadp.read_trajectories(frame, places, Reading(columns={"ride": "tid"}))
    assert len(read) == len(set(TRIPS["tid"]))


def test_a_frame_of_mixed_values_is_refused_without_quoting(places: nomadp.LocationSet) -> None:
    frame = pd.DataFrame({**TRIPS, "seq": pd.Series(["secret", 1, 2, 3, 4], dtype=object)})
    with refused(SchemaError, "not_arrow") as refusal:
        nomadp.read_trajectories(frame, places)
    assert refusal.value.__context__ is None


def test_an_empty_frame_is_refused(places: nomadp.LocationSet) -> None:
    with refused(SchemaError, "no_rows"):
        nomadp.read_locations(pl.DataFrame(PLACES).clear())
    empty = pa.schema([("tid", pa.string()), ("location_ids", pa.list_(pa.string()))])
    with refused(SchemaError, "no_rows"):
        nomadp.read_trajectories(empty.empty_table(), places)


def test_a_preset_of_files_is_no_frame(places: nomadp.LocationSet) -> None:
    with refused(SchemaError, "preset_of_files", preset="porto"):
        nomadp.read_trajectories(
            pd.DataFrame(TRIPS), places, Reading("porto", options=ReadOptions())
        )


@pytest.fixture(scope="module")
def exp(places: nomadp.LocationSet) -> nomadp.Mechanism:
    return nomadp.make_mechanism("exp", places, epsilon=4)


@pytest.fixture(scope="module")
def reports(exp: nomadp.Mechanism, places: nomadp.LocationSet) -> Any:
    trips, _ = nomadp.read_trajectories(pa.table(TRIPS), places)
    return nomadp.perturb_set(exp, trips, nomadp.SeededRandom(1))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_reports_come_from_any_frame(
    suffix: str, exp: nomadp.Mechanism, reports: Any, places: nomadp.LocationSet, tmp_path: Path
) -> None:
    path = tmp_path / f"reports.{suffix}"
    nomadp.write_simulated(path, reports)
    read = pd.read_csv if suffix == "csv" else pd.read_parquet
    frames = {
        "pandas": read(path),
        "polars": pl.read_csv(path) if suffix == "csv" else pl.read_parquet(path),
        "duckdb": duckdb.sql(f"select * from '{path}'"),
    }
    for frame in frames.values():
        read_back = nomadp.read_reports(frame, places, exp)
        assert sorted(read_back.names) == sorted(reports.names)
        assert np.array_equal(np.sort(read_back.locations), np.sort(reports.locations))
        with pytest.raises(SchemaError):
            nomadp.read_reports(frame, places)


def test_reports_in_arrow_bring_their_header(
    reports: Any, places: nomadp.LocationSet, tmp_path: Path
) -> None:
    import pyarrow.parquet as pq

    nomadp.write_simulated(tmp_path / "reports.parquet", reports)
    read_back = nomadp.read_reports(pq.read_table(tmp_path / "reports.parquet"), places)
    assert read_back.header == reports.header
