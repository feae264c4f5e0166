"""Nothing that can be seen from outside of a device depends on the trajectory, but the value.

The real command, against a real server on loopback that keeps every byte: for files of every
kind of content, the same requests of the same sizes, on as many connections, and the same end.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from devices import Collector, atlas_bundle, collecting, question_bundle
from hypothesis import given, settings
from hypothesis import strategies as st

from nomadp.client import private_trajectory
from nomadp.client.private_trajectory import PrivatePoints, PrivateTrajectory
from nomadp.formats import point_files
from nomadp.formats.point_files import read_any_points
from nomadp.formats.presets import Reading
from nomadp.formats.stops import StopRule
from nomadp.formats.thinning import Thinning
from nomadp.protocol import TaskBundle
from tests.cli.conftest import Run

WHEN = question_bundle("visits", "quiet", when="weekday")
ATLAS = atlas_bundle("quiet")
TIMED = "tid,datetime,lat,lng"
NAMED = "tid,seq,location_id"


def at(hour: int, place: str, tid: str = "a") -> str:
    return f"{tid},2020-01-06T{hour:02d}:00:00Z,{place}"


CSV: dict[str, list[str]] = {
    "a day out": [TIMED, *(at(k, f"40.0{k // 3},-74.0{k // 3}") for k in range(8, 20))],
    "a day at home": [TIMED, *(at(k, "40.001,-74.001") for k in range(24))],
    "no row": [TIMED],
    "one point": [TIMED, at(8, "40.0,-74.0")],
    "all invalid": [TIMED, at(8, "91,0"), at(9, "nan,nan"), at(10, ",")],
    "one invalid": [TIMED, at(8, "40.0,-74.0"), at(9, "inf,0"), at(10, "40.02,-73.98")],
    "around the earth": [TIMED, at(8, "40.0,286"), at(9, "40.0,-434"), at(10, "40.0,1e300")],
    "far away": [TIMED, at(8, "-33.9,151.2"), at(9, "89.9,-179.9")],
    "very long": [
        TIMED,
        *(
            f"a,2020-01-{k // 600 + 1:02d}T{k // 60 % 10:02d}:{k % 60:02d}:00Z,40.0,-74.0"
            for k in range(18_000)
        ),
    ],
    "unreadable times": [TIMED, "a,yesterday,40.0,-74.0", "a,,40.0,-74.0"],
    "times without a zone": [TIMED, "a,2020-01-06T08:00:00,40.0,-74.0"],
    "torn rows": [TIMED, "a", at(8, "40.0,-74.0"), at(9, "40.0,-74.0,7,8"), ",,,"],
    "many journeys": [TIMED, *(at(k, "40.0,-74.0", f"t{k}") for k in range(24))],
}
NAMES: dict[str, list[str]] = {
    "known ids": [NAMED, "a,0,p3", "a,1,p7"],
    "one unknown id": [NAMED, "a,0,p3", "a,1,elsewhere"],
    "unknown ids": [NAMED, "a,0,here", "a,1,there"],
    "no ids": [NAMED, "a,0,", "a,1,"],
    "seq repeats and is odd": [NAMED, "a,0,p1", "a,0,p2", "a,x,p3", "a,,p4"],
}
OTHERS = {
    "nothing.gpx": "<gpx><trk><trkseg></trkseg></trk></gpx>",
    "odd.gpx": "<gpx><trk><trkseg><trkpt lat='x' lon='999'/></trkseg></trk></gpx>",
    "none.geojson": json.dumps({"type": "FeatureCollection", "features": []}),
    "odd.geojson": json.dumps(
        {
            "type": "Feature",
            "properties": {},
            "geometry": {"type": "LineString", "coordinates": [[0, None], [999, 2], [1, 99]]},
        }
    ),
    "Records.json": json.dumps({"locations": [{"latitudeE7": 9e99, "timestamp": "never"}]}),
}


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with collecting(ATLAS, WHEN) as found:
        yield found


def seen(
    collector: Collector, bundle: TaskBundle, file: Path, *options: str
) -> tuple[list[tuple[str, int, int]], int, int, int]:
    """Every request and its sizes, how many connections, the exit code and what is printed."""
    collector.seen.clear()
    collector.connections = 0
    url = f"{collector.url}/tasks/{bundle.task.id}"
    command = ["-m", "nomadp", "report", str(file), "--task", url, "--now", "--yes", *options]
    home = file.parent / f"home {file.name} {bundle.task.mechanism}"
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        env=os.environ | {"NOMADP_HOME": str(home), "OPENBLAS_NUM_THREADS": "1"},
    )
    requests = [(each.line, len(each.raw_head), len(each.body)) for each in collector.seen]
    n_printed = len(done.stdout) + len(done.stderr)
    return requests, collector.connections, done.returncode, n_printed


def same(all_seen: dict[str, Any]) -> None:
    expected, *_ = all_seen.values()
    requests, connections, code, _ = expected
    assert code == 0
    assert connections == len(requests) == 5
    assert requests[-1][0].startswith("POST")
    assert {name: each for name, each in all_seen.items() if each != expected} == {}


def written(folder: Path, files: dict[str, list[str]]) -> dict[str, Path]:
    paths = {name: folder / f"{k}.csv" for k, name in enumerate(files)}
    for name, path in paths.items():
        path.write_text("\n".join(files[name]) + "\n")
    return paths


def test_any_table_of_points_is_reported_alike(tmp_path: Path, collector: Collector) -> None:
    paths = written(tmp_path, CSV)
    options = ("--stops", "--choose", "7")
    same({name: seen(collector, ATLAS, path, *options) for name, path in paths.items()})


def test_any_hour_is_reported_alike(tmp_path: Path, collector: Collector) -> None:
    chosen = ("a day out", "no row", "very long", "unreadable times", "times without a zone")
    paths = written(tmp_path, {name: CSV[name] for name in chosen})
    same({name: seen(collector, WHEN, path) for name, path in paths.items()})


def test_any_ids_are_reported_alike(tmp_path: Path, collector: Collector) -> None:
    paths = written(tmp_path, NAMES)
    same({name: seen(collector, ATLAS, path) for name, path in paths.items()})


def test_any_export_is_reported_alike(tmp_path: Path, collector: Collector) -> None:
    for name, content in OTHERS.items():
        (tmp_path / name).write_text(content)
    same({name: seen(collector, ATLAS, tmp_path / name) for name in OTHERS})


def operations_after_the_first_request(
    run: Run, collector: Collector, monkeypatch: pytest.MonkeyPatch, file: str
) -> list[tuple[str, int]]:
    """What is done with points once a request was made, and with how many."""
    collector.seen.clear()
    done: list[tuple[str, int]] = []

    def watched(name: str, plain: Callable[..., Any], size: Callable[[Any], int]) -> Any:
        def call(*given: Any) -> Any:
            found = plain(*given)
            if collector.seen:
                done.append((name, size(found)))
            return found

        return call

    with monkeypatch.context() as patch:
        distance = watched("distances", private_trajectory.distance_km, np.size)
        patch.setattr(private_trajectory, "distance_km", distance)
        usable = watched(
            "coordinates", private_trajectory.usable_degrees, lambda found: found[0].size
        )
        patch.setattr(private_trajectory, "usable_degrees", usable)
        read = watched("files", point_files.read_any_points, lambda found: 1)
        patch.setattr(point_files, "read_any_points", read)
        url = f"{collector.url}/tasks/{WHEN.task.id}"
        result = run("report", file, "--task", url, "--now", "--yes", "--home", file + " home")
    assert result.exit_code == 0, result.stderr
    return done


def test_files_are_read_before_the_first_request(
    run: Run, folder: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = written(folder, {name: CSV[name] for name in ("one point", "very long", "no row")})
    done = [
        operations_after_the_first_request(run, collector, monkeypatch, path.name)
        for path in paths.values()
    ]
    assert [name for name, _ in done[0]] == ["distances"]
    assert done[0] == done[1] == done[2]


def test_what_depends_on_a_trajectory_is_done_before_the_collector_is_asked(
    run: Run, folder: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between that question and the upload is the charge and the draw, alike for all."""
    paths = written(folder, {"a day out": CSV["a day out"]})
    asked_before = []
    plain = PrivateTrajectory.of

    def look(*given: Any) -> PrivateTrajectory:
        asked_before.append(any("/status" in each.line for each in collector.seen))
        return plain(*given)

    monkeypatch.setattr(PrivateTrajectory, "of", staticmethod(look))
    collector.seen.clear()
    url = f"{collector.url}/tasks/{ATLAS.task.id}"
    options = ("--task", url, "--now", "--yes", "--home", "home")
    assert run("report", paths["a day out"].name, *options).exit_code == 0
    assert asked_before == [False]
    assert any("/status" in each.line for each in collector.seen)


cells = st.one_of(
    st.floats().map(str),
    st.floats(-400, 400).map(str),
    st.sampled_from(
        ["", "x", "1_0", "2020-01-06T08:00:00Z", "\u0661", "p3", "-0", "1e999", '""']
    ),
)
tables = st.tuples(
    st.sampled_from([TIMED, NAMED, f"{NAMED},lat,lng", "uid,datetime,geometry"]),
    st.lists(st.lists(cells, min_size=1, max_size=6), max_size=8),
)
RULES = [Thinning(), Thinning(StopRule()), Thinning(every_s=60.0), Thinning(points=3)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any") / "any.csv"


def reported(file: Path, how: Reading) -> list[int]:
    """How many points of each trajectory are of use; each is a report of both tasks."""
    points = read_any_points(file, how)
    if points is None:
        return []
    counts = []
    for k, (start, end) in enumerate(pairwise(points.offsets.tolist())):
        ids = points.location_ids and points.location_ids[start:end]
        steps = PrivatePoints.placed(points.lat[start:end], points.lng[start:end], ids)
        hour = points.hour(k)
        assert len(PrivateTrajectory.of(steps, ATLAS, hour).locations) == ATLAS.task.length
        assert PrivateTrajectory.of(steps, WHEN, hour).hour in range(168)
        counts.append(len(steps))
    return counts


@settings(max_examples=150)
@given(tables, st.sampled_from(RULES), st.sampled_from([None, 3.0]))
def test_a_table_of_any_values_is_a_report(
    place: Path, table: tuple[str, list[list[str]]], rule: Thinning, split_hours: float | None
) -> None:
    header, rows = table
    if rule.by_place and "lat" not in header and "geometry" not in header:
        rule = Thinning()
    place.write_text("\n".join([header, *(",".join(row) for row in rows)]) + "\n")
    reported(place, Reading(thinning=rule, split_hours=split_hours))


values = st.recursive(
    st.one_of(
        st.sampled_from([None, True, "", "x", "2020-01-06T08:00:00Z", 10**400]),
        st.floats(allow_nan=False, allow_infinity=False),
    ),
    lambda some: st.lists(some, max_size=3) | st.dictionaries(st.just("times"), some),
    max_leaves=4,
)
positions = st.lists(st.lists(st.floats(-400, 400), min_size=2, max_size=4), max_size=4)
geometries = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["Point", "LineString", "Polygon"]),
        "coordinates": st.one_of(positions, values),
    }
)
properties = st.dictionaries(
    st.sampled_from(["times", "coordTimes", "datetime", "seq", "location_ids"]), values
).map(lambda found: {"tid": "a"} | found)


@settings(max_examples=150)
@given(st.lists(st.tuples(geometries, properties), max_size=4), st.sampled_from(RULES))
def test_geojson_of_any_values_is_a_report(
    place: Path, features: list[tuple[Any, Any]], rule: Thinning
) -> None:
    listed = [
        {"type": "Feature", "geometry": geometry, "properties": found}
        for geometry, found in features
    ]
    file = place.with_suffix(".geojson")
    file.write_text(json.dumps({"type": "FeatureCollection", "features": listed}))
    reported(file, Reading(thinning=rule))


def test_columns_with_missing_values_are_reports(place: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    moments = pa.array([1_578_300_000_000_000, None, 0, 0], pa.timestamp("us"))
    columns = {
        "tid": ["a", "a", "b", None],
        "seq": pa.array([None, 1, 0, 0], pa.int32()),
        "datetime": moments,
        "lat": [40.0, None, float("nan"), 40.0],
        "lng": [286.0, -74.0, 1.0, -74.0],
        "location_id": ["p1", "", None, "p2"],
    }
    file = place.with_suffix(".parquet")
    parquet.write_table(pa.table(columns), file)
    assert reported(file, Reading()) == [1, 0]
    assert reported(file, Reading(thinning=Thinning(StopRule()))) == [2, 0]
    names = ("tid", "seq", "location_id")
    wkb = {name: columns[name] for name in names} | {"geometry": [b"", None, b"x", b"y"]}
    parquet.write_table(pa.table(wkb), file)
    assert reported(file, Reading()) == [1, 0]
