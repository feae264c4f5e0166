"""Public location sets that cover a public box: all cells of a grid, or of H3.

Never only the cells somebody was in: a set made from private data would itself tell where
people were.
"""

import math
from importlib import import_module

import numpy as np

from nomadp.extras import require
from nomadp.formats.box import Box
from nomadp.locations import LocationSet

__all__ = ["MAX_CELLS", "grid_cells", "h3_cells"]

MAX_CELLS = 1_000_000


def grid_cells(box: Box, cell_km: float) -> LocationSet:
    """The centres of equal cells that fill the box, none wider or higher than `cell_km`.

    Named by row and column from the south-west: r0_c0.
    """
    if not 0 < cell_km < math.inf:
        raise ValueError(f"cell_km must be a number of km above 0, got cell_km={cell_km}")
    width_km, height_km = box.size_km
    # A box that is a whole number of cells wide, but for rounding, gets that number.
    columns = max(1, math.ceil(min(width_km / cell_km, 1e9) - 1e-9))
    rows = max(1, math.ceil(min(height_km / cell_km, 1e9) - 1e-9))
    _check_count(rows * columns, "use larger cells or a smaller box")
    lat = box.lat_at((np.arange(rows) + 0.5) / rows)
    lng = box.lng_at((np.arange(columns) + 0.5) / columns)
    ids = [f"r{row}_c{column}" for row in range(rows) for column in range(columns)]
    return LocationSet.from_columns(ids, np.repeat(lat, columns), np.tile(lng, rows))


def h3_cells(box: Box, resolution: int) -> LocationSet:
    """The centres of the H3 cells that touch the box, named and sorted by their ids."""
    require("h3")
    h3 = import_module("h3")
    if not 0 <= resolution <= 15:
        raise ValueError(f"an H3 resolution must be 0 to 15, got resolution={resolution}")
    width_km, height_km = box.size_km
    expected = width_km * height_km / h3.average_hexagon_area(resolution, unit="km^2")
    _check_count(round(expected), "use a lower resolution or a smaller box")
    south, north = box.south, box.north
    corners = [
        (lat, float(box.lng_at(share)))
        for lat, share in ((south, 0.0), (south, 1.0), (north, 1.0), (north, 0.0))
    ]
    ids = sorted(
        h3.h3shape_to_cells_experimental(h3.LatLngPoly(corners), resolution, "overlap")
    )
    place = np.array([h3.cell_to_latlng(cell) for cell in ids]).reshape(-1, 2)
    return LocationSet.from_columns(ids, place[:, 0], place[:, 1])


def _check_count(cells: int, fix: str) -> None:
    if cells > MAX_CELLS:
        raise ValueError(f"there must be at most {MAX_CELLS} cells, got {cells}; {fix}")
