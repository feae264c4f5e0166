"""Points written in any format, and read as trajectories over public locations.

Every command reads through here and `point_sources`. Raw coordinates go to the nearest
location. No refusal quotes a file: unknown ids and points too far away are counted.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import DomainError, SchemaError, WrongType
from nomadp.formats.atomic import written_whole
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
    "placed",
    "read_any_points",
    "read_points",
    "read_trajectories",
    "write_points",
]

MAX_SNAP_KM = 50.0
"""Public: what lies farther from every location is not of this area."""


def write_points(
    path: AnyPath, points: Points, *, preset: str = "nomadp", shape: str = "lines"
) -> None:
    """Whole or not at all. `shape` is for GeoJSON: lines or points."""
    found = Path(path)
    if preset not in PRESETS:
        raise SchemaError(
            f"points can be written with the columns of {', '.join(PRESETS)}, got {preset}",
            code="unknown_preset",
            preset=preset,
        )
    if not found.name.endswith(OUTPUTS):
        raise SchemaError(
            f"{found} must end in {', '.join(OUTPUTS)} to say what to write",
            code="unknown_suffix",
            suffixes=OUTPUTS,
        )
    is_geojson = found.name.endswith(GEOJSON)
    if is_geojson and preset != "nomadp":
        raise SchemaError(
            "GeoJSON is written with our own names; leave the preset out",
            code="preset_of_tables",
            preset=preset,
        )

    write, how = (write_geojson_points, shape) if is_geojson else (write_table_points, preset)
    written_whole({found: lambda part: write(part, points, how)}, private=[found])


@dataclass(frozen=True)
class SnapSummary:
    """How far raw coordinates moved when snapped to their nearest locations."""

    points: int
    median_km: float
    p95_km: float
    max_km: float
    moved_over_1km_share: float


@dataclass(frozen=True)
class ReadSummary:
    """What may be said of a reading: counts and distances, no name and no place."""

    snapped: SnapSummary | None
    """None where every row names its location."""
    people: People | None
    """None where no file says whose (uid): then each trajectory counts for itself."""


def read_trajectories(
    paths: Paths,
    locations: LocationSet,
    reading: Reading | None = None,
    *,
    max_snap_km: float = MAX_SNAP_KM,
) -> tuple[TrajectorySet, ReadSummary]:
    """Trajectories over ``locations`` from files, folders or frames, one or more, in order.

    Points that name one of the locations are there, others at the nearest within
    ``max_snap_km``. ``reading`` says how the files at ``paths`` are to be understood. A frame
    is of pandas, polars, DuckDB, GeoPandas or anything else that streams to Arrow.
    Raises `SchemaError` for a file of another shape and `DomainError` for unknown ids or points
    too far from every location, which it does not show.

    >>> import nomadp, pathlib
    >>> places = nomadp.LocationSet.from_columns(["a", "b"], [52.5, 52.6], [13.4, 13.4])
    >>> lines = "tid,seq,location_id", "trip 1,0,a", "trip 1,1,b"
    >>> _ = pathlib.Path("trips.csv").write_text("\\n".join(lines))
    >>> trips, _ = nomadp.read_trajectories("trips.csv", places)
    >>> trips.lengths.tolist()
    [2]
    """
    if not hasattr(locations, "find_known"):
        kind = type(locations).__name__
        raise WrongType(
            f"locations must be a LocationSet, got {kind}; use read_locations first",
            code="location_set_required",
            type=kind,
        )
    how = reading or Reading()
    # Times never leave. They are read only where they are needed: for order, gaps or hours.
    clock = how.split_hours is not None or how.wishes.hours or bool(how.thinning)
    points = read_points(paths, replace(how, clock=clock), locations)
    trajectories, snapped = placed(points, locations, max_snap_km)
    return trajectories, ReadSummary(snapped, points.people)


def placed(
    points: Points, locations: LocationSet, max_km: float = MAX_SNAP_KM
) -> tuple[TrajectorySet, SnapSummary | None]:
    """Points that name one of the locations stay there, all others go to the nearest."""
    ids = points.location_ids
    location, known = np.zeros(len(points), np.int64), np.zeros(len(points), np.bool_)
    if ids is not None:
        location, known = locations.find_known(ids)
    away = ~known
    summary = None
    if away.any():
        lat, lng = points.lat[away], points.lng[away]
        location[away], moved_km = _nearest(locations, lat, lng)
        _check_near(moved_km > max_km, locations, (lat, lng), max_km)
        summary = SnapSummary(
            points=len(moved_km),
            median_km=float(np.median(moved_km)),
            p95_km=float(np.quantile(moved_km, 0.95)),
            max_km=float(moved_km.max()),
            moved_over_1km_share=float(np.mean(moved_km > 1)),
        )
    found = TrajectorySet(points.offsets, location, points.names(), points.hours())
    return found, summary


def _nearest(locations: LocationSet, lat: Floats, lng: Floats) -> tuple[Any, Floats]:
    found = locations.nearest(lat, lng)
    return found, haversine_km(lat, lng, locations.lat[found], locations.lng[found])


def _check_near(
    far: NDArray[np.bool_], locations: LocationSet, place: tuple[Floats, Floats], max_km: float
) -> None:
    count = int(np.count_nonzero(far))
    if not count:
        return
    lat, lng = (column[far] for column in place)
    could_be = np.abs(lng) <= 90
    swapped_km = _nearest(locations, lng[could_be], lat[could_be])[1]
    near = int(np.count_nonzero(swapped_km <= max_km))
    cause = (
        f"latitude and longitude are probably swapped, since {near} of them would then be near"
        if near
        else "use the location set of their area, or allow more with --max-snap-km"
    )
    raise DomainError(
        f"every point must be within {max_km:g} km of a location, got {count} of {len(far)} "
        f"that are not; {cause}",
        code="points_too_far",
        far=count,
        points=len(far),
        max_km=max_km,
        swapped=near,
    )
