"""Cells that cover a public box: all of them, whoever was where."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from nomadp.datasets.snapped import grid_cells, h3_cells
from nomadp.errors import ExtraMissing, InvalidArgument
from nomadp.formats.box import Box

PORTO = Box(-8.7, 41.1, -8.5, 41.25)


@given(
    st.floats(-179, 170),
    st.floats(-80, 78),
    st.floats(0.05, 0.5),
    st.floats(0.05, 0.5),
    st.floats(2, 20),
)
def test_no_point_of_the_box_is_farther_than_half_a_diagonal_from_its_cell(
    west, south, width, height, cell_km
):
    box = Box(west, south, west + width, south + height)
    size_km = box.size_km
    if max(size_km) <= cell_km:
        cell_km = max(size_km) / 2
    cells = grid_cells(box, cell_km)
    rng = np.random.default_rng(1)
    lat, lng = box.lat_at(rng.random(50)), box.lng_at(rng.random(50))
    near = cells.nearest(lat, lng)
    from nomadp.geometry import haversine_km

    moved_km = haversine_km(lat, lng, cells.lat[near], cells.lng[near])
    assert moved_km.max() <= cell_km * 2**-0.5 * 1.001


def test_cells_are_named_by_row_and_column_from_the_south_west():
    cells = grid_cells(Box(0, 0, 0.2, 0.1), 11.2)
    assert cells.ids == ("r0_c0", "r0_c1")
    np.testing.assert_allclose(cells.lat, [0.05, 0.05])
    np.testing.assert_allclose(cells.lng, [0.05, 0.15])


def test_a_grid_crosses_the_date_line():
    cells = grid_cells(Box(179, 0, -179, 1), 60)
    assert set(np.sign(cells.lng)) == {1.0, -1.0}


@pytest.mark.parametrize("cell_km", [0, -1, float("nan"), float("inf")])
def test_refuses_cells_of_no_size(cell_km):
    with refused(InvalidArgument, "cell_size_out_of_range"):
        grid_cells(PORTO, cell_km)


def test_refuses_more_cells_than_anybody_can_hold():
    with refused(InvalidArgument, "too_many_cells"):
        grid_cells(Box(-180, -60, 180, 60), 1)


def test_h3_cells_cover_the_box():
    h3 = pytest.importorskip("h3")
    cells = h3_cells(PORTO, 8)
    assert list(cells.ids) == sorted(cells.ids)
    rng = np.random.default_rng(1)
    lat, lng = PORTO.lat_at(rng.random(2000)), PORTO.lng_at(rng.random(2000))
    own = [h3.latlng_to_cell(*place, 8) for place in zip(lat, lng, strict=True)]
    assert set(own) <= set(cells.ids)
    near = cells.nearest(lat, lng)
    same = np.mean([cells.ids[k] == cell for k, cell in zip(near, own, strict=True)])
    # Cells are not quite the regions nearest to their centres; along borders they differ.
    assert same > 0.98


def test_refuses_an_h3_resolution_that_is_none_or_too_fine():
    pytest.importorskip("h3")
    with refused(InvalidArgument, "h3_resolution_out_of_range", resolution=16):
        h3_cells(PORTO, 16)
    with refused(InvalidArgument, "too_many_cells"):
        h3_cells(PORTO, 15)


def test_without_h3_the_error_prints_the_line_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "h3", None)
    with refused(ExtraMissing, "package_missing", package="h3", extra="h3"):
        h3_cells(PORTO, 8)
