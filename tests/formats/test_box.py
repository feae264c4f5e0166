"""A rectangle of the map, across the date line too."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from nomadp.errors import InvalidArgument
from nomadp.formats.box import Box

CHICAGO = Box(-88.0, 41.6, -87.4, 42.0)
FIJI = Box(177.0, -19.0, -178.0, -16.0)


@given(st.tuples(*[st.floats(-180, 180)] * 2), st.tuples(*[st.floats(-90, 90)] * 2))
def test_a_box_survives_being_printed_and_parsed(lng, lat):
    south, north = sorted(lat)
    if south == north or lng[0] == lng[1]:
        return
    box = Box(lng[0], south, lng[1], north)
    assert Box.parse(str(box)) == box


def test_borders_belong_to_it():
    assert CHICAGO.contains([41.6, 42.0, 41.8], [-88.0, -87.4, -87.7]).all()
    assert not CHICAGO.contains([41.59, 42.01, 41.8, 41.8], [-87.7, -87.7, -88.01, -87.3]).any()


def test_a_box_may_cross_the_date_line():
    assert FIJI.contains([-17.0, -17.0], [179.0, -179.0]).all()
    assert not FIJI.contains([-17.0], [0.0]).any()
    assert FIJI.width_degrees == 5.0
    np.testing.assert_allclose(FIJI.lng_at([0.0, 0.5, 1.0]), [177.0, 179.5, -178.0])


def test_its_size_is_that_of_its_widest_parallel():
    width_km, height_km = Box(-1.0, -1.0, 1.0, 2.0).size_km
    assert width_km == pytest.approx(2 * 111.195, abs=0.01)
    assert height_km == pytest.approx(3 * 111.195, abs=0.01)
    assert Box(0, 60, 1, 61).size_km[0] == pytest.approx(111.195 / 2, abs=0.01)


@pytest.mark.parametrize(
    ("code", "texts"),
    [
        ("not_a_box", ["", "1,2,3", "a,b,c,d", "nan,0,1,1"]),
        ("box_out_of_range", ["0,1,1,0", "0,0,0,1", "0,0,181,1", "0,0,1,91"]),
    ],
)
def test_refuses_what_is_no_box(code, texts):
    for text in texts:
        with refused(InvalidArgument, code):
            Box.parse(text)
