"""Files of estimates: where the truth probably was, from reports alone. Public.

They have the columns of reports, so that whatever reads those reads these too, and beside each
location its coordinates and the radius that probably holds the truth.
"""

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from nomadp.formats.atomic import Write, written_whole
from nomadp.formats.files import file_path, is_parquet, write_table
from nomadp.locations import LocationSet
from nomadp.sequences import Sequences

__all__ = ["write_estimates"]


def write_estimates(
    path: str | PathLike[str],
    locations: LocationSet,
    estimated: Sequences,
    radius_km: Any,
    metadata: Mapping[str, Any],
) -> None:
    """CSV or Parquet: `tid,seq,location_id,lat,lng,radius_km`; whole or not at all."""
    found, where = file_path(path), estimated.locations
    tid = np.repeat(np.arange(len(estimated)), estimated.lengths)
    column = {
        "tid": [estimated.names[k] for k in tid],
        "seq": np.arange(len(where)) - np.repeat(estimated.offsets[:-1], estimated.lengths),
        "location_id": [locations.ids[k] for k in where],
        "lat": locations.lat[where],
        "lng": locations.lng[where],
        "radius_km": np.asarray(radius_km, dtype=np.float64),
    }
    said = json.dumps(dict(metadata), indent=2, sort_keys=True).encode()
    writes: dict[Path, Write] = {}
    if not is_parquet(found):
        beside = found.with_name(found.name + ".meta.json")
        writes[beside] = lambda part: _create(part, said + b"\n")
    writes[found] = lambda part: write_table(part, column, said)
    written_whole(writes)


def _create(part: Path, content: bytes) -> None:
    with part.open("xb") as file:
        file.write(content)
