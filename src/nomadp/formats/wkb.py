"""Points in well-known binary: the geometry column of GeoParquet."""

import struct
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from nomadp.formats.columns import BadValue
from nomadp.geometry import Floats

__all__ = ["read_points", "write_points"]

POINT = np.dtype([("order", "u1"), ("kind", "<u4"), ("lng", "<f8"), ("lat", "<f8")])
LITTLE_ENDIAN, POINT_KIND = 1, 1
POINT_KINDS = {1, 1001, 2001, 3001}
"""A point, with height, with measure, with both: ISO's numbers."""
EWKB_Z, EWKB_M, EWKB_SRID = 0x80000000, 0x40000000, 0x20000000


def write_points(lat: Floats, lng: Floats) -> Any:
    """An Arrow column of points; in WKB, x is the longitude."""
    import pyarrow as pa

    rows = np.empty(len(lat), dtype=POINT)
    rows["order"], rows["kind"] = LITTLE_ENDIAN, POINT_KIND
    rows["lng"], rows["lat"] = lng, lat
    kind, buffers = pa.binary(POINT.itemsize), [None, pa.py_buffer(rows.tobytes())]
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(rows), buffers).cast(pa.binary())


def read_points(values: Sequence[bytes]) -> Floats:
    """Longitudes and latitudes, shape (rows, 2)."""
    if set(map(len, values)) <= {POINT.itemsize}:
        rows = np.frombuffer(b"".join(values), dtype=POINT)
        if np.all((rows["order"] == LITTLE_ENDIAN) & (rows["kind"] == POINT_KIND)):
            return _finite(np.stack([rows["lng"], rows["lat"]], axis=1))
    return _finite(np.array([_point(k, value) for k, value in enumerate(values)]))


def _point(row: int, value: bytes) -> tuple[float, float]:
    """Any byte order and flavour; heights and measures are left behind."""
    with suppress(KeyError, IndexError, struct.error):
        order = {0: ">", 1: "<"}[value[0]]
        (kind,) = struct.unpack_from(f"{order}I", value, 1)
        start = 9 if kind & EWKB_SRID else 5
        if kind & ~(EWKB_Z | EWKB_M | EWKB_SRID) in POINT_KINDS:
            lng, lat = struct.unpack_from(f"{order}dd", value, start)
            return lng, lat
    raise BadValue(row, "must be a point in WKB")


def _finite(points: Floats) -> Floats:
    unbounded = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(unbounded):
        raise BadValue(int(unbounded[0]), "must be a point with finite coordinates")
    return points
