"""Campus walks: the recipe's law, its parameters, and buildings from a file."""

import json

import numpy as np
import pytest
from refusals import refused

from nomadp.datasets.built import read_built
from nomadp.datasets.campus import build_campus, campus_walks, read_buildings, synthetic_campus
from nomadp.datasets.statistics import describe
from nomadp.errors import InvalidArgument, SchemaError
from nomadp.locations import LocationSet

CAMPUS = synthetic_campus()


def steps_km(locations, walks):
    inside = np.ones(len(walks.locations), dtype=bool)
    inside[walks.offsets[:-1]] = False
    there = np.flatnonzero(inside)
    return locations.distances_between_km(walks.locations[there - 1], walks.locations[there])


def test_the_defaults_are_the_papers():
    built = build_campus()
    assert len(built.locations) == 262
    assert len(built.trajectories) == 4000
    assert set(built.trajectories.lengths.tolist()) == set(range(3, 9))
    assert built.recipe["parameters"] == {
        "buildings": "synthetic",
        "count": 4000,
        "lengths": [3, 8],
        "speed_km_h": 4.0,
        "gap_minutes": [10, 120],
        "seed": 1,
    }


def test_the_seed_decides_everything():
    assert campus_walks(CAMPUS, seed=3) == campus_walks(CAMPUS, seed=3)
    assert campus_walks(CAMPUS, seed=3) != campus_walks(CAMPUS, seed=4)
    assert synthetic_campus(3) == synthetic_campus(3) != synthetic_campus(4)


@pytest.mark.parametrize("length", range(3, 9))
def test_a_fixed_length_is_that_of_every_walk(length):
    assert set(campus_walks(CAMPUS, count=50, lengths=length).lengths.tolist()) == {length}


@pytest.mark.parametrize("speed_km_h", [1, 2, 4, 8, 16])
def test_no_step_is_longer_than_two_hours_of_walking(speed_km_h):
    walks = campus_walks(CAMPUS, count=500, speed_km_h=speed_km_h)
    assert steps_km(CAMPUS, walks).max() <= 2 * speed_km_h


def test_without_a_speed_limit_every_building_is_equally_likely():
    few = CAMPUS.subset(range(10))
    walks = campus_walks(few, count=5000, lengths=2, speed_km_h=None)
    pair = np.bincount(walks.locations[::2] * 10 + walks.locations[1::2], minlength=100)
    # Five standard deviations of a count with expectation 50.
    assert np.all(np.abs(pair - 50) < 5 * np.sqrt(50))


def test_a_step_is_uniform_over_what_is_within_reach_the_present_building_included():
    # Ten minutes at 6 km/h reach 1 km, 120 minutes 12 km. The far one is 6.1 km away: out of
    # reach in 61 minutes or less, which are 52 of the 111 gaps.
    degree = 1 / 111.195
    line = LocationSet.from_columns(
        ["a", "b", "c"], [0.0] * 3, [0.0, 0.1 * degree, 6.1 * degree]
    )
    walks = campus_walks(line, count=20_000, lengths=2, speed_km_h=6, seed=2)
    from_a = walks.locations[1::2][walks.locations[::2] == 0]
    share = np.bincount(from_a, minlength=3) / len(from_a)
    near, far = 52 / 111 / 2 + 59 / 111 / 3, 59 / 111 / 3
    assert share == pytest.approx([near, near, far], abs=5 * 0.5 / np.sqrt(len(from_a)))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"count": 0}, "walks_out_of_range"),
        ({"lengths": 0}, "walks_out_of_range"),
        ({"lengths": (5, 3)}, "walks_out_of_range"),
        ({"speed_km_h": 0}, "speed_out_of_range"),
        ({"speed_km_h": -1}, "speed_out_of_range"),
    ],
)
def test_refuses_walks_that_make_no_sense(change, code):
    with refused(InvalidArgument, code):
        campus_walks(CAMPUS, **change)


def test_a_campus_is_some_kilometres_long_and_no_two_buildings_touch():
    assert 3 < CAMPUS.diameter_km < 4.5
    gap_km = [np.sort(CAMPUS.distances_km(k))[1] for k in range(len(CAMPUS))]
    assert min(gap_km) > 0.0249
    assert len(synthetic_campus(1, buildings=1000)) == 1000


# Buildings from a file


def feature(name, geometry, coordinates, **more):
    properties = {"BLDG_ID": name, "NAME": "Hall", **more}
    return {
        "type": "Feature",
        "properties": properties,
        "geometry": {"type": geometry, "coordinates": coordinates},
    }


RING = [[-123.25, 49.26], [-123.24, 49.26], [-123.24, 49.27], [-123.25, 49.26]]
HOLE = [[-123.2, 49.2]] * 4


def written(folder, *features, **more):
    path = folder / "buildings.geojson"
    content = {"type": "FeatureCollection", "features": list(features), **more}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_a_building_stands_at_the_first_vertex_of_its_outer_ring(tmp_path):
    path = written(
        tmp_path,
        feature("P", "Polygon", [RING, HOLE]),
        feature("M", "MultiPolygon", [[RING[1:] + RING[1:2], HOLE], [HOLE]]),
        feature("X", "Point", [-123.0, 49.0]),
        feature("P", "Polygon", [HOLE]),
    )
    buildings, repeated = read_buildings(path)
    assert buildings.ids == ("P", "M", "X")
    assert buildings.lng.tolist() == [-123.25, -123.24, -123.0]
    assert buildings.lat.tolist() == [49.26, 49.26, 49.0]
    assert repeated == 1
    built = build_campus(path, count=10)
    assert built.recipe["counts"]["repeated_buildings"] == 1
    assert list(built.recipe["inputs"]) == ["buildings.geojson"]


@pytest.mark.parametrize(
    ("broken", "code", "facts"),
    [
        (feature(None, "Polygon", [RING]), "not_a_building", {"feature": 2}),
        (feature("L", "LineString", RING), "not_a_building", {"feature": 2}),
        (feature("E", "Polygon", []), "not_a_building", {"feature": 2}),
        (feature("N", "Polygon", [[["a", "b"]]]), "not_a_building", {"feature": 2}),
        (feature("U", "Point", [5_458_000.0, 480_000.0]), "not_a_building", {"feature": 2}),
        (
            {"type": "Feature", "properties": {}, "geometry": None},
            "geometry_missing",
            {"feature": 2},
        ),
    ],
)
def test_refuses_a_building_it_cannot_place(tmp_path, broken, code, facts):
    path = written(tmp_path, feature("P", "Polygon", [RING]), broken)
    with refused(SchemaError, code, **facts):
        read_buildings(path)


def test_refuses_other_coordinates_than_longitude_and_latitude(tmp_path):
    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::26910"}}
    path = written(tmp_path, feature("P", "Polygon", [RING]), crs=crs)
    with refused(SchemaError, "not_wgs84"):
        read_buildings(path)


def test_walks_between_the_papers_buildings_step_like_the_papers(paper_data):
    locations, walks = read_built(paper_data / "cps")
    paper, ours = describe(locations, walks), describe(locations, campus_walks(locations))
    for key in ("10%", "25%", "50%", "75%", "90%", "95%"):
        assert ours.step[key] == pytest.approx(paper.step[key], abs=0.012)
    assert ours.stay_share == pytest.approx(paper.stay_share, abs=0.002)
