"""Points of any source over public locations."""

import numpy as np
from refusals import refused

from nomadp.datasets.built import read_built, write_built
from nomadp.datasets.snapped import SnapTo, grid_cells, input_hashes, snap
from nomadp.errors import DomainError, InvalidArgument
from nomadp.formats.box import Box
from nomadp.formats.points import Points
from nomadp.locations import LocationSet

BOX = Box(8.0, 47.0, 8.2, 47.1)
CELLS = grid_cells(BOX, 5)
WORLD = LocationSet.from_columns(["x", "y"], [47.0, 47.1], [8.0, 8.2])


def points(**change):
    columns = {
        "offsets": np.array([0, 2, 3]),
        "lat": np.array([47.01, 47.09, 47.04]),
        "lng": np.array([8.01, 8.19, 8.05]),
        "tids": ("t", "t"),
        "uids": ("ann", "bob"),
        "moment_us": np.array([1, 2, 3]) * 1_000_000,
    }
    return Points(**{**columns, **change})


def test_points_go_to_the_nearest_location_and_the_recipe_says_how_far():
    built = snap(points(), SnapTo(WORLD), {"f": "hash"})
    assert [built.trajectories[k].tolist() for k in range(2)] == [[0, 1], [0]]
    counts = built.recipe["counts"]
    assert (counts["points"], counts["trajectories"], counts["of_one_point"]) == (3, 2, 1)
    assert counts["moved"]["points"] == 3
    assert built.recipe["inputs"] == {"f": "hash"}
    assert built.recipe["parameters"]["by"] == "nearest"


def test_no_user_id_becomes_a_name(tmp_path):
    built = snap(points(), SnapTo(WORLD), {})
    assert built.trajectories.tids == ("1", "2")
    write_built(tmp_path, built)
    content = "".join(file.read_text(encoding="utf-8") for file in tmp_path.iterdir())
    assert "ann" not in content


def test_named_places_are_kept_if_the_location_set_was_given():
    named = points(location_ids=("y", "x", "y"))
    built = snap(named, SnapTo(WORLD), {})
    assert built.trajectories.locations.tolist() == [1, 0, 1]
    assert built.recipe["parameters"]["by"] == "location_id"
    in_cells = snap(named, SnapTo(CELLS, BOX), {})
    assert in_cells.recipe["parameters"]["by"] == "nearest"


def test_rows_that_name_no_location_go_to_the_nearest():
    built = snap(points(location_ids=("y", "y", "elsewhere")), SnapTo(WORLD), {})
    assert built.trajectories.locations.tolist() == [1, 1, 0]
    assert built.recipe["counts"]["moved"]["points"] == 1


FAR = {"lat": np.array([47.01, 12.34567, 47.05])}


def test_points_outside_the_box_are_refused_counted_and_not_quoted():
    with refused(DomainError, "points_outside_box", outside=1, points=3) as refusal:
        snap(points(**FAR), SnapTo(CELLS, BOX), {})
    assert "12.3" not in str(refusal.value)


def test_points_outside_the_box_are_dropped_or_moved_if_asked():
    dropped = snap(points(**FAR), SnapTo(CELLS, BOX, "drop"), {})
    assert dropped.trajectories.lengths.tolist() == [1, 1]
    assert dropped.recipe["counts"]["outside_box"] == 1
    assert dropped.moment_us.tolist() == [1_000_000, 3_000_000]
    with refused(DomainError, "points_too_far", far=1, points=3):
        snap(points(**FAR), SnapTo(CELLS, BOX, "nearest"), {})
    moved = snap(points(**FAR), SnapTo(CELLS, BOX, "nearest", max_km=5000), {})
    assert moved.trajectories.lengths.tolist() == [2, 1]


def test_points_in_a_box_of_large_cells_are_near_by_definition():
    wide = Box(0.0, 40.0, 10.0, 50.0)
    built = snap(points(), SnapTo(grid_cells(wide, 500), wide), {})
    assert built.recipe["counts"]["moved"]["max_km"] > 50


def test_refuses_a_box_without_points_and_an_unknown_wish():
    with refused(DomainError, "points_outside_box", outside=3, points=3):
        snap(points(lat=np.zeros(3)), SnapTo(CELLS, BOX, "drop"), {})
    with refused(InvalidArgument, "unknown_outside_rule"):
        snap(points(), SnapTo(CELLS, BOX, "keep"), {})


def test_the_location_set_of_a_grid_does_not_depend_on_the_points(tmp_path):
    one = snap(points(), SnapTo(CELLS, BOX), {})
    other = snap(points(lat=np.full(3, 47.05)), SnapTo(CELLS, BOX), {})
    assert one.locations.sha256 == other.locations.sha256
    write_built(tmp_path / "one", one)
    assert read_built(tmp_path / "one") == (one.locations, one.trajectories)


def test_inputs_are_hashed_by_file_or_by_folder(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("1", encoding="utf-8")
    file = input_hashes(tmp_path / "in" / "a.csv")
    folder = input_hashes(tmp_path / "in")
    assert (list(file), list(folder)) == (["a.csv"], ["in/"])
    assert list(input_hashes(*[tmp_path / "in" / "a.csv"] * 2)) == ["a.csv", "a.csv (2)"]
    (tmp_path / "in" / "a.csv").write_text("2", encoding="utf-8")
    assert input_hashes(tmp_path / "in") != folder
