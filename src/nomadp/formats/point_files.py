"""One way to read or write points, whatever the format: the suffix or the preset says which.

Every command reads through here. Trajectories of several files are told apart by number.
"""

import logging
from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path

from nomadp.errors import SchemaError
from nomadp.formats.atomic import written_whole
from nomadp.formats.checkin_files import LAYOUTS, read_checkins
from nomadp.formats.columns import Table, Text, Times
from nomadp.formats.files import READABLE as TABLES
from nomadp.formats.files import is_parquet
from nomadp.formats.geojson_points import read_geojson_points, write_geojson_points
from nomadp.formats.gpx_points import read_gpx_points
from nomadp.formats.location_files import read_locations
from nomadp.formats.points import Points
from nomadp.formats.presets import PRESETS, Reading
from nomadp.formats.published_points import read_geolife_points, read_porto_points
from nomadp.formats.table_points import points_of, read_table_points, write_table_points
from nomadp.locations import LocationSet

__all__ = [
    "LOCATIONS",
    "OUTPUTS",
    "TRAJECTORIES",
    "Paths",
    "nested_points",
    "read_points",
    "write_points",
]

log = logging.getLogger(__name__)

GEOJSON = (".geojson", ".json")
LOCATIONS, TRAJECTORIES = "locations.csv", "trajectories.csv"  # of a folder that was built
OUTPUTS = (*TABLES, *GEOJSON)
READABLE = (*OUTPUTS, ".gpx")


Paths = str | PathLike[str] | Sequence[str | PathLike[str]]
"""Of one file or folder, or of several that are read together."""


def read_points(
    paths: Paths, reading: Reading | None = None, locations: LocationSet | None = None
) -> Points:
    """Points of files, of folders of files, and of folders that `nomadp data build` made.

    `locations` gives coordinates to rows that only name a place.
    """
    how = reading or Reading()
    listed = [paths] if isinstance(paths, str | PathLike) else paths
    files = [file for path in listed for file in _files(Path(fspath(path)), how)]
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
    if (whole := nested_points(found, locations)) is None:
        return read_table_points(found, how, locations)
    how.check_columns(found, ())
    return whole


def nested_points(path: Path, locations: LocationSet | None) -> Points | None:
    """The points of a Parquet file with one row to a trajectory, None for any other file."""
    if not is_parquet(path):
        return None
    from nomadp.formats.nested_files import NestedFile, is_nested, read_nested  # slow: Arrow

    if not is_nested(path):
        return None
    if locations is None:
        raise SchemaError(f"{path} names places, so their locations are needed")
    whole, uids = read_nested(path, locations), NestedFile(path).uids()
    at = whole.locations
    return Points(
        whole.offsets,
        locations.lat[at],
        locations.lng[at],
        whole.tids,
        None if uids is None else tuple(uids),
        location_ids=tuple(locations.ids[k] for k in at),
    )


def write_points(
    path: str | PathLike[str], points: Points, *, preset: str = "nomadp", shape: str = "lines"
) -> None:
    """Whole or not at all. `shape` is for GeoJSON: lines or points."""
    found = Path(fspath(path))
    if preset not in PRESETS:
        raise SchemaError(
            f"points can be written with the columns of {', '.join(PRESETS)}, got {preset}"
        )
    if not found.name.endswith(OUTPUTS):
        raise SchemaError(f"{found} must end in {', '.join(OUTPUTS)} to say what to write")
    is_geojson = found.name.endswith(GEOJSON)
    if is_geojson and preset != "nomadp":
        raise SchemaError("GeoJSON is written with our own names; leave the preset out")

    def write(part: Path) -> None:
        if is_geojson:
            write_geojson_points(part, points, shape)
        else:
            write_table_points(part, points, preset)

    written_whole({found: write}, private=[found])


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
        "datetime": Times(read.moment_us, are_positions=False),
        "lat": read.lat,
        "lng": read.lng,
        "location_id": Text(read.place, read.place_ids),
    }
    return points_of(Table(str(path), len(read.uid), column, lambda row: f"row {row + 1}"))
