"""Trajectories over public locations, read from files of any format; and points written.

Every command reads through here and `point_sources`. Raw coordinates are snapped to the nearest
location. Errors count unknown ids and points that are too far away, and never quote the file.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import DomainError, SchemaError, WrongType
from nomadp.formats.atomic import write_atomically
from nomadp.formats.geojson_points import write_geojson_points
from nomadp.formats.measured_file import AnyPath
from nomadp.formats.point_sources import (
    GEOJSON,
    LOCATIONS,
    OUTPUTS,
    TRAJECTORIES,
    Paths,
    read_any_points,
    read_points,
)
from nomadp.formats.points import People, Points
from nomadp.formats.presets import PRESETS, Reading
from nomadp.formats.table_points import write_table_points
from nomadp.geometry import Floats, haversine_km
from nomadp.locations import LocationSet
from nomadp.trajectory import TrajectorySet

__all__ = [
    "LOCATIONS",
    "MAX_SNAP_KM",
    "OUTPUTS",
    "TRAJECTORIES",
    "Paths",
    "ReadSummary",
    "SnapSummary",
    "snap_points",
    "read_any_points",
    "read_points",
    "read_trajectories",
    "write_points",
]

MAX_SNAP_KM = 50.0
"""A public constant: a point farther from every location is not in this area."""


def write_points(
    path: AnyPath, points: Points, *, preset: str = "nomadp", shape: str = "lines"
) -> None:
    """Write points completely or not at all. `shape` is for GeoJSON: lines or points."""
    file = Path(path)
    if preset not in PRESETS:
        raise SchemaError(
            f"preset must be one of {', '.join(PRESETS)}, got {preset}",
            code="unknown_preset",
            preset=preset,
        )
    if not file.name.endswith(OUTPUTS):
        raise SchemaError(
            f"{file} must end in one of {', '.join(OUTPUTS)}, which selects the format",
            code="unknown_suffix",
            suffixes=OUTPUTS,
        )
    is_geojson = file.name.endswith(GEOJSON)
    if is_geojson and preset != "nomadp":
        raise SchemaError(
            f"a preset must not be given for GeoJSON, got {preset}; omit it",
            code="preset_of_tables",
            preset=preset,
        )

    write, option = (
        (write_geojson_points, shape) if is_geojson else (write_table_points, preset)
    )
    write_atomically({file: lambda part: write(part, points, option)}, private=[file])


@dataclass(frozen=True)
class SnapSummary:
    """How far raw coordinates moved when snapped to their nearest locations."""

    points: int
    """The number of snapped points."""
    median_km: float
    """The median of the distances."""
    p95_km: float
    """Their 95th percentile."""
    max_km: float
    """The largest distance."""
    moved_over_1km_share: float
    """The share of points that moved by more than 1 km."""


@dataclass(frozen=True)
class ReadSummary:
    """Counts and distances of the data that was read. It contains no names and no places."""

    snapped: SnapSummary | None
    """How far points moved; None if every row names its location."""
    people: People | None
    """The number of people; None if no file has user ids (uid). Then each trajectory counts as
    one person."""


def read_trajectories(
    paths: Paths,
    locations: LocationSet,
    reading: Reading | None = None,
    *,
    max_snap_km: float = MAX_SNAP_KM,
) -> tuple[TrajectorySet, ReadSummary]:
    r"""Read trajectories over a location set from one or more files, folders or frames.

    Points that name a location are placed there. Other points are snapped to the nearest
    location. Errors never show private values.

    Args:
        paths: One or more files and folders, or frames of pandas, polars, DuckDB or GeoPandas,
            or other objects that stream to Arrow.
        locations: The public location set.
        reading: The format of the files; by default it is detected.
        max_snap_km: The largest distance to the nearest location, in kilometres.

    Returns:
        The trajectories, and a summary of what was read.

    Raises:
        SchemaError: A file has another format.
        DomainError: A location id is unknown, or a point is too far from every location.

    >>> import nomadp, pathlib
    >>> places = nomadp.LocationSet.from_columns(["a", "b"], [52.5, 52.6], [13.4, 13.4])
    >>> lines = "tid,seq,location_id", "trip 1,0,a", "trip 1,1,b"
    >>> _ = pathlib.Path("trips.csv").write_text("\n".join(lines))
    >>> trips, _ = nomadp.read_trajectories("trips.csv", places)
    >>> trips.lengths.tolist()
    [2]
    """
    if not hasattr(locations, "find_known"):
        kind = type(locations).__name__
        raise WrongType(
            f"locations must be a LocationSet, got {kind}; load it with read_locations",
            code="location_set_required",
            type=kind,
        )
    reading = reading or Reading()
    # Times never leave the device. They are read only if needed: for order, gaps or hours.
    clock = reading.split_hours is not None or reading.options.hours or bool(reading.thinning)
    points = read_points(paths, replace(reading, clock=clock), locations)
    trajectories, snapped = snap_points(points, locations, max_snap_km)
    return trajectories, ReadSummary(snapped, points.people)


def snap_points(
    points: Points, locations: LocationSet, max_km: float = MAX_SNAP_KM
) -> tuple[TrajectorySet, SnapSummary | None]:
    """Trajectories of points: at the location a point names, otherwise at the nearest one."""
    ids = points.location_ids
    location, known = np.zeros(len(points), np.int64), np.zeros(len(points), np.bool_)
    if ids is not None:
        location, known = locations.find_known(ids)
    unnamed = ~known
    summary = None
    if unnamed.any():
        lat, lng = points.lat[unnamed], points.lng[unnamed]
        location[unnamed], moved_km = _nearest(locations, lat, lng)
        _check_near(moved_km > max_km, locations, (lat, lng), max_km)
        summary = SnapSummary(
            points=len(moved_km),
            median_km=float(np.median(moved_km)),
            p95_km=float(np.quantile(moved_km, 0.95)),
            max_km=float(moved_km.max()),
            moved_over_1km_share=float(np.mean(moved_km > 1)),
        )
    trajectories = TrajectorySet(points.offsets, location, points.names(), points.hours())
    return trajectories, summary


def _nearest(locations: LocationSet, lat: Floats, lng: Floats) -> tuple[Any, Floats]:
    nearest = locations.nearest(lat, lng)
    return nearest, haversine_km(lat, lng, locations.lat[nearest], locations.lng[nearest])


def _check_near(
    far: NDArray[np.bool_], locations: LocationSet, where: tuple[Floats, Floats], max_km: float
) -> None:
    count = int(np.count_nonzero(far))
    if not count:
        return
    lat, lng = (column[far] for column in where)
    # The usual mistake: would the points be near with latitude and longitude swapped?
    is_swappable = np.abs(lng) <= 90
    swapped_km = _nearest(locations, lng[is_swappable], lat[is_swappable])[1]
    near_if_swapped = int(np.count_nonzero(swapped_km <= max_km))
    cause = (
        f"latitude and longitude are probably swapped: {near_if_swapped} of them would then "
        "be near; swap the columns"
        if near_if_swapped
        else "use the location set of this area, or allow a larger distance with --max-snap-km"
    )
    raise DomainError(
        f"every point must be within {max_km:g} km of a location, got {count} of {len(far)} "
        f"that are farther away; {cause}",
        code="points_too_far",
        far=count,
        points=len(far),
        max_km=max_km,
        swapped=near_if_swapped,
    )
