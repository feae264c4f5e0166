"""One way to read or write points, whatever the format: the suffix or the preset says which.

Every command reads through here. Trajectories of several files are told apart by number. Over
public locations, raw coordinates go to the nearest. No refusal quotes a file: rows are named by
line, unknown ids and points too far from everywhere are counted.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import DomainError, SchemaError
from nomadp.formats.atomic import written_whole
from nomadp.formats.checkin_files import LAYOUTS, read_checkins
from nomadp.formats.columns import Table, Text, Times
from nomadp.formats.files import READABLE as TABLES
from nomadp.formats.files import is_parquet
from nomadp.formats.geojson_points import read_geojson_points, write_geojson_points
from nomadp.formats.location_files import read_locations
from nomadp.formats.measured_file import AnyPath
from nomadp.formats.points import People, Points, clock_at
from nomadp.formats.presets import PRESETS, Reading
from nomadp.formats.table_points import points_of, read_table_points, write_table_points
from nomadp.formats.track_points import read_geolife_points, read_gpx_points, read_porto_points
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
    "read_points",
    "read_trajectories",
    "write_points",
]

log = logging.getLogger(__name__)

GEOJSON = (".geojson", ".json")
LOCATIONS, TRAJECTORIES = "locations.csv", "trajectories.csv"  # of a folder that was built
OUTPUTS = (*TABLES, *GEOJSON)
READABLE = (*OUTPUTS, ".gpx")
MAX_SNAP_KM = 50.0
"""Public: what lies farther from every location is not of this area."""

Paths = AnyPath | Sequence[AnyPath]
"""Of one file or folder, or of several that are read together."""


def read_points(
    paths: Paths, reading: Reading | None = None, locations: LocationSet | None = None
) -> Points:
    """Points of files, of folders of files, and of folders that `nomadp data build` made.

    `locations` gives coordinates to rows that only name a place.
    """
    how = reading or Reading()
    listed = [paths] if isinstance(paths, str | PathLike) else paths
    files = [file for path in listed for file in _files(Path(path), how)]
    if not files:
        raise SchemaError("at least one file must be named to be read, got none")
    points = Points.joined([_read(file, how, locations) for file in files])
    return points if how.split_hours is None else points.split(how.split_hours)


def _files(path: Path, how: Reading) -> list[Path]:
    """What is to be read at a path: itself, or the files of a folder that is none of ours."""
    if not path.exists():
        raise SchemaError(f"{path} cannot be read: No such file or directory")
    if not path.is_dir() or how.preset == "geolife" or (path / TRAJECTORIES).exists():
        return [path]
    inside = [file for file in sorted(path.rglob("*")) if file.name.endswith(READABLE)]
    found = [file for file in inside if file.is_file() and file.name[0] not in "._"]
    if not found:
        raise SchemaError(
            f"{path} must hold {TRAJECTORIES} or files that end in {', '.join(READABLE)}, and "
            "holds none"
        )
    return found


def _read(found: Path, how: Reading, locations: LocationSet | None) -> Points:
    if how.preset in LAYOUTS:
        return _checkins(found, how)
    if how.preset == "porto":
        return read_porto_points(found, how.wishes)
    if how.preset == "geolife":
        return read_geolife_points(found, how.wishes)
    if found.is_dir():
        return read_table_points(found / TRAJECTORIES, how, read_locations(found / LOCATIONS))
    if found.name.endswith(GEOJSON):
        return read_geojson_points(found, how)
    if found.suffix == ".gpx":
        how.check_columns(found, ())
        return read_gpx_points(found, how.wishes)
    if not found.name.endswith(TABLES):
        raise SchemaError(
            f"{found} must end in {', '.join(READABLE)}, or be read with a preset of its own, "
            "to say what it is"
        )
    if (whole := _nested_points(found, how, locations)) is None:
        return read_table_points(found, how, locations)
    how.check_columns(found, ())
    return whole


def _nested_points(path: Path, how: Reading, locations: LocationSet | None) -> Points | None:
    """The points of a Parquet file with one row to a trajectory, None for any other file."""
    if not is_parquet(path):
        return None
    from nomadp.formats.nested_files import NestedFile, is_nested, read_nested  # slow: Arrow

    if not is_nested(path):
        return None
    if locations is None:
        raise SchemaError(f"{path} names places, so their locations are needed")
    whole = read_nested(path, locations, hours=how.wishes.hours)
    at, uids = whole.locations, NestedFile(path).uids()
    return Points(
        whole.offsets,
        locations.lat[at],
        locations.lng[at],
        whole.tids,
        None if uids is None else tuple(uids),
        location_ids=tuple(locations.ids[k] for k in at),
        local_us=None if whole.hours is None else clock_at(whole.hours[whole.owner]),
    )


def write_points(
    path: AnyPath, points: Points, *, preset: str = "nomadp", shape: str = "lines"
) -> None:
    """Whole or not at all. `shape` is for GeoJSON: lines or points."""
    found = Path(path)
    if preset not in PRESETS:
        raise SchemaError(
            f"points can be written with the columns of {', '.join(PRESETS)}, got {preset}"
        )
    if not found.name.endswith(OUTPUTS):
        raise SchemaError(f"{found} must end in {', '.join(OUTPUTS)} to say what to write")
    is_geojson = found.name.endswith(GEOJSON)
    if is_geojson and preset != "nomadp":
        raise SchemaError("GeoJSON is written with our own names; leave the preset out")

    write, how = (write_geojson_points, shape) if is_geojson else (write_table_points, preset)
    written_whole({found: lambda part: write(part, points, how)}, private=[found])


def _checkins(path: Path, reading: Reading) -> Points:
    read = read_checkins(path, reading.preset, progress=reading.wishes.progress)
    lines = ", ".join(map(str, read.malformed_lines))
    log.info(
        f"{path}: its columns are those of {reading.preset}; each user has one trajectory; "
        f"{read.malformed} of {read.rows} rows are malformed and left out"
        + (f", the first on lines {lines}" if lines else "")
    )
    column = {
        "uid": Text(read.uid, read.user_ids),
        "datetime": Times(
            read.moment_us,
            are_positions=False,
            local_us=read.moment_us if reading.wishes.hours else None,
        ),
        "lat": read.lat,
        "lng": read.lng,
        "location_id": Text(read.place, read.place_ids),
    }
    return points_of(Table(str(path), len(read.uid), column, lambda row: f"row {row + 1}"))


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
    """Trajectories over ``locations`` from one or more files and folders, in their order.

    Points that name one of the locations are there, others at the nearest within
    ``max_snap_km``. ``reading`` says how the files at ``paths`` are to be understood.
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
    how = reading or Reading()
    # Times never leave. They are read only where they are needed: for order, gaps or hours.
    clock = how.split_hours is not None or how.wishes.hours
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
        f"that are not; {cause}"
    )
