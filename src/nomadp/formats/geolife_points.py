"""Points from Geolife: one .plt file per trajectory, in a folder per user, times in GMT.

The name of a file is the moment it starts, so it names nothing here: files are numbered.
"""

import logging
from datetime import UTC
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import SchemaError
from nomadp.formats.columns import BadValue, Moments, Wishes, degrees
from nomadp.formats.points import Points, numbers
from nomadp.geometry import Floats

__all__ = ["read_geolife_points"]

log = logging.getLogger(__name__)

HEADER_LINES = 6
FIELDS = 7
LAT, LNG, DATE, TIME = 0, 1, 5, 6


def read_geolife_points(path: Path, wishes: Wishes) -> Points:
    """A .plt file, or a folder with USER/Trajectory/*.plt at any depth."""
    found = sorted(path.rglob("*.plt")) if path.is_dir() else [path]
    if not found:
        raise SchemaError(f"{path} must hold .plt files, and holds none")
    log.info(
        "%s: columns 1 and 2 are lat and lng, 6 and 7 are datetime in GMT; files are numbered "
        "and the folder above Trajectory is uid; %d files",
        path,
        len(found),
    )
    pieces = []
    for k, file in enumerate(found):
        pieces.append(_read(file))
        if wishes.progress is not None:
            wishes.progress(k + 1, len(found))
    lat, lng, moment_us = (np.concatenate(column) for column in zip(*pieces, strict=True))
    return Points(
        np.concatenate([[0], np.cumsum([len(piece[0]) for piece in pieces])]),
        lat,
        lng,
        numbers(len(found)),
        tuple(_user(file) for file in found),
        moment_us,
    )


def _user(file: Path) -> str:
    parent = file.resolve().parent
    return parent.parent.name if parent.name == "Trajectory" else parent.name


def _read(file: Path) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Latitudes, longitudes, microseconds."""
    try:
        lines = file.read_text(encoding="latin-1").splitlines()[HEADER_LINES:]
    except OSError as error:
        raise SchemaError(f"{file} cannot be read: {error.strerror or error}") from error
    rows = [line.split(",") for line in lines if line.strip()]
    if not rows:
        raise SchemaError(f"{file} must have points after its {HEADER_LINES} lines of header")
    try:
        torn = [k for k, row in enumerate(rows) if len(row) != FIELDS]
        if torn:
            raise BadValue(torn[0], f"must have {FIELDS} fields")
        lat, lng = degrees([row[LAT] for row in rows], [row[LNG] for row in rows])
        moment_us = Moments(UTC).add([f"{row[DATE]}T{row[TIME]}" for row in rows])
    except BadValue as bad:
        row, rule = bad.row, bad.rule
    else:
        order = np.argsort(moment_us, kind="stable")
        return lat[order], lng[order], moment_us[order]
    raise SchemaError(f"{file}: line {HEADER_LINES + 1 + row}: {rule}")
