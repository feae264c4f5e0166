"""A data set over public locations (given ones, a grid or H3 cells) from points of any source.

A grid covers a public box, not only the visited cells: a location set that was built from
private data would itself reveal where people were.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from nomadp.datasets.built import BuiltData, recipe_of
from nomadp.datasets.places import equal_cells
from nomadp.errors import DomainError, InvalidArgument
from nomadp.extras import require
from nomadp.formats.box import Box
from nomadp.formats.measured_file import file_sha256
from nomadp.formats.point_files import MAX_SNAP_KM, snap_points
from nomadp.formats.points import Points
from nomadp.locations import LocationSet

__all__ = ["MAX_CELLS", "OUTSIDE", "SnapTo", "grid_cells", "h3_cells", "input_hashes", "snap"]

VERSION = 1
MAX_CELLS = 1_000_000
OUTSIDE = ("refuse", "drop", "nearest")


@dataclass(frozen=True)
class SnapTo:
    """The locations to snap points to, and what to do with points outside the box."""

    locations: LocationSet
    box: Box | None = None
    """None if the locations were given. Every point is then snapped to the nearest one."""
    outside: str = "refuse"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Entries of the recipe about how the locations were made."""
    max_km: float = MAX_SNAP_KM


def snap(points: Points, target: SnapTo, inputs: Mapping[str, str]) -> BuiltData:
    """Snap points: to the location that a point names, otherwise to the nearest one."""
    counts: dict[str, Any] = {"points_read": len(points), "trajectories_read": len(points.tids)}
    remaining = _inside(points, target, counts)
    if target.box is not None:
        remaining = replace(remaining, location_ids=None)
    # A point in the box is in a cell. Cells may be of any size, so there is no limit.
    is_unlimited = target.box is not None and target.outside != "nearest"
    limit_km = math.inf if is_unlimited else target.max_km
    trajectories, summary = snap_points(
        replace(remaining, local_us=None), target.locations, limit_km
    )
    if summary is not None:
        counts["moved"] = asdict(summary)
    counts.update(
        points=len(remaining),
        trajectories=len(remaining.tids),
        of_one_point=int(np.count_nonzero(remaining.lengths == 1)),
    )
    parameters = {
        **target.parameters,
        "box": None if target.box is None else str(target.box),
        "outside": target.outside,
        "by": "location_id" if summary is None else "nearest",
        "max_snap_km": target.max_km,
    }
    return BuiltData(
        target.locations,
        trajectories,
        recipe_of("snapped", VERSION, parameters, counts, inputs),
        remaining.moment_us,
        remaining.local_us,
    )


def _inside(points: Points, target: SnapTo, counts: dict[str, Any]) -> Points:
    if target.outside not in OUTSIDE:
        raise InvalidArgument(
            f"outside must be one of {', '.join(OUTSIDE)}, got {target.outside}",
            code="unknown_outside_rule",
        )
    if target.box is None:
        return points
    inside = target.box.contains(points.lat, points.lng)
    outside = int(np.count_nonzero(~inside))
    counts["outside_box"] = outside
    if outside == len(points) or (outside and target.outside == "refuse"):
        raise DomainError(
            f"points must lie in the box {target.box} (west,south,east,north), got {outside} "
            f"of {len(points)} outside; use a larger box, or drop those points or move them to "
            "the nearest cell",
            code="points_outside_box",
            outside=outside,
            points=len(points),
        )
    return points.select(inside) if outside and target.outside == "drop" else points


def input_hashes(*paths: Path) -> dict[str, str]:
    """The hash of each file or folder, by its name. A folder's hash covers all its files."""
    hashes: dict[str, str] = {}
    for k, path in enumerate(paths):
        name = f"{path.resolve().name}/" if path.is_dir() else path.name
        digest = hashlib.sha256()
        for file in sorted(entry for entry in path.rglob("*") if entry.is_file()):
            relative_path = file.relative_to(path).as_posix()
            digest.update(f"{relative_path}\n{file_sha256(file)}\n".encode())
        sha256 = digest.hexdigest() if path.is_dir() else file_sha256(path)
        hashes[f"{name} ({k + 1})" if name in hashes else name] = sha256
    return hashes


def grid_cells(box: Box, cell_km: float) -> LocationSet:
    """The centres of equal cells that fill the box, each at most `cell_km` wide and high.

    They are named by row and column from the south-west: r0_c0.
    """
    if not 0 < cell_km < math.inf:
        raise InvalidArgument(
            f"cell_km must be above 0, got cell_km={cell_km}",
            code="cell_size_out_of_range",
            cell_km=cell_km,
        )
    width_km, height_km = box.size_km
    # The subtraction keeps rounding errors from adding a row or column.
    columns = max(1, math.ceil(min(width_km / cell_km, 1e9) - 1e-9))
    rows = max(1, math.ceil(min(height_km / cell_km, 1e9) - 1e-9))
    _check_count(rows * columns, "use larger cells or a smaller box")
    return equal_cells(box, rows, columns)


def h3_cells(box: Box, resolution: int) -> LocationSet:
    """The centres of the H3 cells that overlap the box, named and sorted by their ids."""
    require("h3")
    h3 = import_module("h3")
    if not 0 <= resolution <= 15:
        raise InvalidArgument(
            f"an H3 resolution must be from 0 to 15, got resolution={resolution}",
            code="h3_resolution_out_of_range",
            resolution=resolution,
        )
    width_km, height_km = box.size_km
    expected_cells = width_km * height_km / h3.average_hexagon_area(resolution, unit="km^2")
    _check_count(round(expected_cells), "use a lower resolution or a smaller box")
    south, north = box.south, box.north
    corners = [
        (lat, float(box.lng_at(share)))
        for lat, share in ((south, 0.0), (south, 1.0), (north, 1.0), (north, 0.0))
    ]
    ids = sorted(
        h3.h3shape_to_cells_experimental(h3.LatLngPoly(corners), resolution, "overlap")
    )
    lat_lng = np.array([h3.cell_to_latlng(cell) for cell in ids]).reshape(-1, 2)
    return LocationSet.from_columns(ids, lat_lng[:, 0], lat_lng[:, 1])


def _check_count(cells: int, remedy: str) -> None:
    if cells > MAX_CELLS:
        raise InvalidArgument(
            f"there must be at most {MAX_CELLS} cells, got {cells}; {remedy}",
            code="too_many_cells",
            cells=cells,
        )
