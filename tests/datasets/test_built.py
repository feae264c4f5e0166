"""A data set in a folder: whole, repeatable, and never over somebody else's files."""

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest
from refusals import refused

from nomadp.datasets.built import BuiltData, read_built, recipe_of, write_built
from nomadp.errors import DomainError, SchemaError
from nomadp.locations import LocationSet
from nomadp.trajectory import TrajectorySet
from nomadp.zones import polygon_zones

WORLD = LocationSet.from_columns(["home", "work"], [10.123456, 10.2], [20.5, 20.6])
TRIPS = TrajectorySet.from_lists([[0, 1, 0], [1, 0]], ["x", "y"], size=2)
MOMENTS = np.array([0, 1_500_000, 2_000_000, 5_000_000, 6_000_000])


def built(moments=MOMENTS):
    return BuiltData(WORLD, TRIPS, recipe_of("test", 3, {"seed": 1}, {"points": 5}), moments)


def test_what_is_written_is_read_again(tmp_path):
    write_built(tmp_path / "deep" / "set", built())
    assert read_built(tmp_path / "deep" / "set") == (WORLD, TRIPS)


def test_the_columns_are_those_of_the_papers_sets(tmp_path):
    write_built(tmp_path, built())
    lines = (tmp_path / "trajectories.csv").read_text(encoding="utf-8").splitlines()
    assert lines[:3] == [
        "tid,seq,location_id,datetime",
        "x,0,home,1970-01-01T00:00:00.000000Z",
        "x,1,work,1970-01-01T00:00:01.500000Z",
    ]
    write_built(tmp_path, built(moments=None))
    lines = (tmp_path / "trajectories.csv").read_text(encoding="utf-8").splitlines()
    assert lines[1] == "x,0,home,"


def test_the_recipe_vouches_for_the_files(tmp_path):
    returned = write_built(tmp_path, built())
    recipe = json.loads((tmp_path / "recipe.json").read_text(encoding="utf-8"))
    assert recipe == returned
    assert (recipe["recipe"], recipe["version"], recipe["parameters"]) == (
        "test",
        3,
        {"seed": 1},
    )
    assert recipe["location_set_sha256"] == WORLD.sha256
    for name, claimed in recipe["outputs"].items():
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == claimed
    assert set(recipe["outputs"]) == {"locations.csv", "trajectories.csv"}


def test_building_again_gives_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        write_built(tmp_path / name, built())
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()


def test_only_the_trajectories_are_for_their_owner_alone(tmp_path):
    write_built(tmp_path / "set", built())
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "set").iterdir()}
    assert modes.pop("trajectories.csv") == 0o600
    assert 0o600 not in modes.values()


def test_refuses_to_replace_data_that_no_recipe_made(tmp_path):
    (tmp_path / "trajectories.csv").write_text("theirs", encoding="utf-8")
    with refused(SchemaError, "not_built_here", files=("trajectories.csv",)):
        write_built(tmp_path, built())
    assert [path.name for path in tmp_path.iterdir()] == ["trajectories.csv"]


def test_refuses_a_file_for_a_folder(tmp_path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with refused(SchemaError, "not_a_folder"):
        write_built(tmp_path / "file", built())


def test_a_failure_leaves_nothing_behind(tmp_path):
    broken = BuiltData(WORLD, TRIPS, recipe_of("test", 1, {"seed": float("nan")}, {}))
    with pytest.raises(ValueError, match="JSON"):  # Python's own
        write_built(tmp_path / "set", broken)
    assert list((tmp_path / "set").iterdir()) == []


def test_moments_must_be_as_many_as_points():
    with refused(DomainError, "column_lengths_differ", moments=4, points=5):
        built(MOMENTS[:4])


def test_nothing_private_is_printed():
    assert "withheld" in repr(built())
    assert "home" not in repr(built())


def test_districts_of_what_was_built_here_before_do_not_stay(tmp_path):
    areas = polygon_zones(WORLD, [[[[20, 10], [21, 10], [21, 11], [20, 11]]]], ["all"])
    write_built(tmp_path, replace(built(), districts=areas))
    assert (tmp_path / "districts.geojson").exists()
    write_built(tmp_path, built())
    assert not (tmp_path / "districts.geojson").exists()
