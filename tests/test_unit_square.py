"""The unit square over a location set, also where the map is awkward."""

import numpy as np
import pytest
from worlds import scattered

from nomadp.locations import LocationSet
from nomadp.unit_square import UnitSquare


def square(*lat_lng: tuple[float, float]) -> UnitSquare:
    lat, lng = zip(*lat_lng, strict=True)
    ids = [str(k) for k in range(len(lat))]
    return UnitSquare(LocationSet.from_columns(ids, lat, lng))


def test_x_runs_east_and_y_north_over_the_whole_set():
    box = square((10, 20), (12, 20), (10, 24), (11, 21))
    assert box.points.tolist() == [[0, 0], [0, 1], [1, 0], [0.25, 0.5]]


def test_a_set_across_the_date_line_stays_together():
    box = square((0, 179), (0, -179), (1, -178), (1, 180))
    assert box.points[:, 0] == pytest.approx([0, 2 / 3, 1, 1 / 3])


def test_a_set_on_a_line_has_no_width_across():
    box = square((5, 0), (5, 1), (5, 2))
    assert box.points.tolist() == [[0, 0], [0.5, 0], [1, 0]]
    assert box.nearest(np.array([[0.6, 0.9]])).tolist() == [1]


def test_the_box_is_as_wide_as_at_its_middle_latitude():
    box = square((59, 10), (61, 12))
    assert box.size_km == pytest.approx([111.195, 222.390], abs=1e-3)


def test_cells_are_numbered_row_by_row_and_the_far_border_belongs_to_the_last():
    box = square((0, 0), (0, 4), (4, 0), (4, 4), (1, 3))
    assert box.cells(2).tolist() == [0, 1, 2, 3, 1]
    assert box.cells(4).tolist() == [0, 3, 12, 15, 7]
    assert set(box.cells(1)) == {0}


def test_every_location_is_nearest_to_itself():
    box = UnitSquare(scattered(50))
    assert box.nearest(box.points).tolist() == list(range(50))


def test_points_beyond_the_square_count_from_its_border():
    box = square((0, 0), (0, 1), (1, 0.6), (1, 0))
    # From (0.7, 9) itself the corner locations are about as near as the one at (0.6, 1).
    assert box.nearest(np.array([[0.7, 9.0], [-5.0, 0.1], [7.0, -7.0]])).tolist() == [2, 0, 1]


def test_coincident_locations_are_reported_as_the_first_of_them():
    box = square((1, 1), (0, 0), (1, 1), (0, 0))
    assert box.nearest(np.array([[1.0, 1.0], [0.0, 0.0]])).tolist() == [0, 1]
