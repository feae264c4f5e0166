"""Files of estimates: where the truth probably was, from reports alone. Public.

They have the columns of reports, so that whatever reads those reads these too, and beside each
location its coordinates and the radius that probably holds the truth.
"""

import json
from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np

from nomadp.formats.files import file_path, write_described
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
    column = {
        "tid": [estimated.names[k] for k in estimated.owner],
        "seq": estimated.seq,
        "location_id": [locations.ids[k] for k in where],
        "lat": locations.lat[where],
        "lng": locations.lng[where],
        "radius_km": np.asarray(radius_km, dtype=np.float64),
    }
    said = json.dumps(dict(metadata), indent=2, sort_keys=True).encode()
    write_described(found, column, said)
