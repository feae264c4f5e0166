"""Whatever the values of a file or of a program are, there is something to be reported."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from devices import atlas_bundle, question_bundle
from refusals import refused

from nomadp.client import private_trajectory
from nomadp.client.private_trajectory import PrivatePoints, PrivateTrajectory, farthest_km
from nomadp.errors import DomainError
from nomadp.formats import json_stream
from nomadp.formats.point_files import read_any_points
from nomadp.formats.points import Points
from nomadp.formats.presets import Reading
from nomadp.formats.thinning import Thinning

ATLAS = atlas_bundle("any")
VISITS = question_bundle("visits", "visits")


def line(*places: Any, **properties: Any) -> dict[str, Any]:
    geometry = {"type": "LineString", "coordinates": places}
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def point(*place: float, **properties: Any) -> dict[str, Any]:
    geometry = {"type": "Point", "coordinates": place}
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def collected(*features: dict[str, Any]) -> dict[str, Any]:
    return {"type": "FeatureCollection", "features": features}


TABLE = "tid,seq,lat,lng\na,0,40.0,-74.0\n"
FILES: dict[str, tuple[str, Any]] = {
    "an empty history": ("Records.json", {"locations": []}),
    "a number beyond 64 bits": ("a.geojson", line([10**30, 1], [1, 2])),
    "a point beyond 64 bits": ("a.geojson", collected(point(10**30, 1, tid="a", seq=0))),
    "a first point without a time": (
        "a.geojson",
        collected(point(1, 1, tid="a"), point(1, 2, tid="a", seq=1)),
    ),
    "a track point of no place": (
        "a.gpx",
        "<gpx><trk><trkpt lat='1' lon='2'/><trkseg><trkpt/></trkseg></trk></gpx>",
    ),
    "a quote that does not match": ("a.csv", f'{TABLE}a,1,"40.0,-74.0\n'),
    "a quote within a field": ("a.csv", f'{TABLE}a,1,"40"0,-74.0\n'),
    "a field without end": ("a.csv", f"{TABLE}a,1,{'4' * 200_000},-74.0\n"),
    "times after many torn rows": (
        "a.csv",
        "tid,datetime,lat,lng\n" + "a\n" * 65536 + "a,5,40.0,-74.0\n",
    ),
}


def read(path: Path, preset: str = "nomadp", rule: Thinning | None = None) -> Points | None:
    return read_any_points(path, Reading(preset, thinning=rule or Thinning()))


@pytest.mark.parametrize("name", FILES)
def test_values_never_refuse_a_file(tmp_path: Path, name: str) -> None:
    file, content = FILES[name]
    path = tmp_path / file
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    points = read(path)
    if points is not None:
        PrivatePoints.placed(points.lat, points.lng, points.location_ids)


def test_an_entry_without_end_is_none_that_can_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_stream, "MAX_ELEMENT_CHARACTERS", 1000)
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"semanticSegments": ["x" * 200_000]}))
    assert read(path) is None


def test_a_table_is_read_up_to_what_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(TABLE.encode() + b'a,1,caf\xe9,-74.0\na,2,"4')
    points = read(path)
    assert points is not None
    assert points.lat.tolist() == [40.0]


def test_check_ins_without_a_good_row_refuse_no_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("1\t2010-10-19T23:55:27Z\t95.0\t2.0\tx\n")
    assert read(path, "gowalla") is None


def test_a_line_of_places_that_there_are_none_is_not_thinned_with_them(tmp_path: Path) -> None:
    path = tmp_path / "a.geojson"
    path.write_text(json.dumps(line([361, 2], [0, 99], [3, 2])))
    points = read(path, rule=Thinning(points=3))
    assert points is not None
    assert points.lng.tolist() == pytest.approx([1, 2, 3])


INFERRED: dict[str, dict[str, list[Any]]] = {
    "nothing but missing coordinates": {"lat": [None, None]},
    "missing positions": {"seq": [0.0, None]},
    "missing ids": {"location_id": [5.0, None]},
    "no ids": {"location_id": [None, None], "uid": [None, None]},
    "a coordinate as text": {"lat": ["40.0", "x"]},
    "a position as text": {"seq": ["0", "x"]},
    "no times": {"datetime": [None, None]},
    "missing times": {"datetime": [5.0, None]},
    "missing names": {"tid": [1.0, None]},
    "no points": {"geometry": [None, None]},
}


@pytest.mark.parametrize("name", INFERRED)
def test_a_type_that_was_inferred_from_values_refuses_no_file(
    tmp_path: Path, name: str
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    usual = {"tid": ["a", "a"], "seq": [0, 1], "lat": [40.0, 40.0], "lng": [-74.0, -74.0]}
    pq.write_table(pa.table(usual | INFERRED[name]), tmp_path / "a.parquet")
    read(tmp_path / "a.parquet")


@pytest.mark.parametrize("rows", ["", "u,a,0,40.0,-74.0\n"])
def test_values_do_not_decide_which_files_can_be_read_together(
    tmp_path: Path, rows: str
) -> None:
    """One says whose its points are, the other does not; the first may hold none."""
    (tmp_path / "1.csv").write_text("uid,tid,seq,lat,lng\n" + rows)
    (tmp_path / "2.csv").write_text("tid,seq,location_id\na,0,p3\n")
    assert read(tmp_path) is not None


@pytest.mark.parametrize(
    "odd", [None, (None, None), (40.0, None), (10**400, 0), (0, -(10**30))]
)
def test_a_program_may_have_points_that_it_does_not_know(odd: Any) -> None:
    known = PrivateTrajectory.of([(40.0, -74.0)], ATLAS, None).locations
    found = PrivateTrajectory.of([(40.0, -74.0), odd], ATLAS, None).locations
    if odd is None or None in odd or max(odd) > 90:
        assert found.tolist() == known.tolist()
    assert len(PrivateTrajectory.of([odd], ATLAS, None).locations) == ATLAS.task.length


@pytest.mark.parametrize("odd", [None, -1, 10**6, 10**30, -(2**63), 2**63])
def test_a_program_may_have_locations_that_it_does_not_know(odd: Any) -> None:
    assert PrivateTrajectory.of([3, odd], ATLAS, None).locations.tolist()[:2] == [3, 0]
    assert set(PrivateTrajectory.of([odd], ATLAS, None).locations.tolist()) == {0}


@pytest.mark.parametrize(
    "journey",
    [
        [3, math.nan],
        [3.0, math.nan],
        np.array([3.0, math.nan]),
        np.array([3, None], dtype=object),
        np.array([3, math.nan], dtype=object),
    ],
)
def test_a_missing_location_may_be_no_number(journey: Any) -> None:
    """What tables have for a missing number makes whole numbers of a column decimals."""
    assert PrivateTrajectory.of(journey, ATLAS, None).locations.tolist()[:2] == [3, 0]
    alone = PrivateTrajectory.of([math.nan], ATLAS, None).locations
    assert set(alone.tolist()) == {0}
    known = PrivateTrajectory.of([(40.0, -74.0)], ATLAS, None).locations
    found = PrivateTrajectory.of([(40.0, -74.0), math.nan], ATLAS, None).locations
    assert found.tolist() == known.tolist()


@pytest.mark.parametrize("pair", [[40.5, -74.25], np.array([40.5, -74.25])])
def test_one_flat_pair_of_degrees_is_no_journey(pair: Any) -> None:
    with refused(DomainError, "trajectory_malformed"):
        PrivateTrajectory.of(pair, ATLAS, None)


@pytest.mark.parametrize("bundle", [ATLAS, VISITS])
def test_how_far_points_are_takes_as_many_steps_for_every_history(
    bundle: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person is asked between two requests."""
    sizes = []
    plain = private_trajectory.distance_km

    def watched(*given: Any) -> Any:
        found = plain(*given)
        sizes[-1] += found.size
        return found

    monkeypatch.setattr(private_trajectory, "distance_km", watched)
    for count in (0, 3, 20_000):
        sizes.append(0)
        farthest_km(PrivatePoints.of(np.full((count, 2), 40.0)), bundle)
    assert sizes[0] == sizes[1] == sizes[2] > 0
