"""Points in well-known binary, in every flavour."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nomadp.formats.columns import BadValue
from nomadp.formats.parquet_files import from_wkb, to_wkb

PAIRS = st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 180)), min_size=1)


@given(PAIRS)
def test_points_survive_being_written_and_read(pairs):
    lat, lng = np.array(pairs).T
    lng_lat = from_wkb(to_wkb(lat, lng).to_pylist())
    assert lng_lat.tolist() == [[y, x] for x, y in pairs]


@pytest.mark.parametrize(
    "value",
    [
        struct.pack("<BIdd", 1, 1, 8.5, 47.0),
        struct.pack(">BIdd", 0, 1, 8.5, 47.0),
        struct.pack("<BIddd", 1, 1001, 8.5, 47.0, 400.0),
        struct.pack("<BIddd", 1, 0x80000001, 8.5, 47.0, 400.0),
        struct.pack("<BIIdd", 1, 0x20000001, 4326, 8.5, 47.0),
    ],
)
def test_byte_orders_heights_and_reference_systems_are_understood(value):
    assert from_wkb([value]).tolist() == [[8.5, 47.0]]
    assert from_wkb([value, struct.pack("<BIdd", 1, 1, 1.0, 2.0)])[0].tolist() == [8.5, 47.0]


@pytest.mark.parametrize(
    "value",
    [b"", b"\x01", b"\x05" * 21, struct.pack("<BIdd", 1, 2, 8.5, 47.0), b"\x01\x01\0\0\0abc"],
)
def test_what_is_no_point_is_known_by_its_row(value):
    with pytest.raises(BadValue) as refusal:
        from_wkb([struct.pack("<BIdd", 1, 1, 8.5, 47.0), value])
    assert (refusal.value.row, refusal.value.facts) == (1, {"code": "not_a_point"})
    assert refusal.value.__context__ is None


def test_an_empty_point_has_no_coordinates():
    with pytest.raises(BadValue) as refusal:
        from_wkb([struct.pack("<BIdd", 1, 1, float("nan"), float("nan"))])
    assert refusal.value.facts == {"code": "not_finite"}
