"""Points from the taxi trips of Porto (ECML/PKDD 2015): rows of polylines, a point per 15 s.

A TRIP_ID is a time and a taxi, so it is not read: trips are numbered.
"""

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np

from nomadp.errors import SchemaError
from nomadp.formats.columns import Kind, Table, Text, Wishes
from nomadp.formats.files import columns_or_refusal, read_table
from nomadp.formats.points import Points, numbers

__all__ = ["read_porto_points"]

log = logging.getLogger(__name__)

COLUMNS = {
    "TAXI_ID": Kind.TEXT,
    "TIMESTAMP": Kind.WHOLE,
    "POLYLINE": Kind.TEXT,
}
STEP_US = 15_000_000


def read_porto_points(path: Path, wishes: Wishes) -> Points:
    """Trips are numbered, TAXI_ID is uid; trips without a position are left out."""
    table = read_table(path, lambda found: columns_or_refusal(path, found, COLUMNS), wishes)
    lines = _polylines(table)
    lengths = np.array([len(line) for line in lines])
    kept = np.flatnonzero(lengths)
    log.info(
        "%s: trips are numbered, TAXI_ID is uid, TIMESTAMP and 15 s per point are datetime, "
        "POLYLINE is lng and lat; %d of %d trips have no position and are left out",
        path,
        len(lines) - len(kept),
        len(lines),
    )
    if not len(kept):
        raise SchemaError(f"{path} must have at least one trip with a position, and has none")
    flat = np.array([position for line in lines for position in line], dtype=np.float64)
    offsets = np.concatenate([[0], np.cumsum(lengths[kept])])
    seq = np.arange(len(flat)) - np.repeat(offsets[:-1], lengths[kept])
    start_us = np.repeat(table.column["TIMESTAMP"][kept] * 1_000_000, lengths[kept])
    uid = table.column["TAXI_ID"].at(kept)
    moment_us = start_us + seq * STEP_US
    return Points(offsets, flat[:, 1], flat[:, 0], numbers(len(kept)), uid, moment_us)


def _polylines(table: Table) -> list[list[Any]]:
    text: Text = table.column["POLYLINE"]
    parsed = [_polyline(value) for value in text.values]
    if None in parsed:
        bad = parsed.index(None)
        row = int(np.flatnonzero(text.codes == bad)[0])
        place = f"{table.path}: {table.where(row)}"
        raise SchemaError(f"{place}: POLYLINE must be a list of [longitude, latitude]")
    return [parsed[code] or [] for code in text.codes]


def _polyline(value: str) -> list[Any] | None:
    try:
        line = json.loads(value)
    except (ValueError, RecursionError):
        return None
    good = isinstance(line, list) and all(_is_position(position) for position in line)
    return line if good else None


def _is_position(position: Any) -> bool:
    if not isinstance(position, list) or len(position) != 2:
        return False
    lng, lat = position
    plain = all(isinstance(n, int | float) and not isinstance(n, bool) for n in position)
    return plain and -180 <= lng <= 180 and -90 <= lat <= 90
