"""Files of public locations: `location_id,lat,lng`."""

from os import PathLike

import numpy as np

from nomadp.data.atomic import written_whole
from nomadp.data.columns import Kind, Table, Text, check
from nomadp.data.files import columns_or_refusal, file_path, read_table, write_table
from nomadp.geometry import Floats
from nomadp.locations import LocationSet

__all__ = ["coordinates", "read_locations", "write_locations"]

KINDS = {"location_id": Kind.TEXT, "lat": Kind.DECIMAL, "lng": Kind.DECIMAL}


def read_locations(path: str | PathLike[str]) -> LocationSet:
    """A location set from CSV or Parquet, in the file's order; other columns are ignored."""
    table = read_table(path, lambda header: columns_or_refusal(path, header, KINDS))
    ids: Text = table.column["location_id"]
    first = np.zeros(table.rows, dtype=bool)
    first[np.unique(ids.codes, return_index=True)[1]] = True
    check(table, ~first, "location_id must be unique, and an earlier row has the same")
    return LocationSet.from_columns(ids.values, *coordinates(table))


def write_locations(path: str | PathLike[str], locations: LocationSet) -> None:
    """CSV or Parquet; reading it back gives an equal set."""
    column = {"location_id": locations.ids, "lat": locations.lat, "lng": locations.lng}
    written_whole({file_path(path): lambda part: write_table(part, column)})


def coordinates(table: Table) -> tuple[Floats, Floats]:
    """The columns lat and lng, in range."""
    lat, lng = table.column["lat"], table.column["lng"]
    check(table, np.abs(lat) > 90, "lat must be in [-90, 90] degrees")
    check(table, np.abs(lng) > 180, "lng must be in [-180, 180] degrees")
    return lat, lng
