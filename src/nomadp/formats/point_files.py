"""One way to read or write points, whatever the format: the suffix or the preset says which."""

import logging
from os import PathLike, fspath
from pathlib import Path

from nomadp.errors import SchemaError
from nomadp.formats.atomic import written_whole
from nomadp.formats.checkin_files import LAYOUTS, read_checkins
from nomadp.formats.columns import Text
from nomadp.formats.geojson_points import read_geojson_points, write_geojson_points
from nomadp.formats.geolife_points import read_geolife_points
from nomadp.formats.gpx_points import read_gpx_points
from nomadp.formats.location_files import read_locations
from nomadp.formats.points import Points, Rows
from nomadp.formats.porto_points import read_porto_points
from nomadp.formats.presets import PRESETS, Reading
from nomadp.formats.table_points import read_table_points, write_table_points
from nomadp.locations import LocationSet

__all__ = ["LOCATIONS", "OUTPUTS", "TRAJECTORIES", "read_points", "write_points"]

log = logging.getLogger(__name__)

GEOJSON = (".geojson", ".json")
LOCATIONS, TRAJECTORIES = "locations.csv", "trajectories.csv"  # of a folder that was built
TABLES = (".csv", ".csv.gz", ".parquet", ".geoparquet")
OUTPUTS = (*TABLES, *GEOJSON)


def read_points(
    path: str | PathLike[str],
    reading: Reading | None = None,
    locations: LocationSet | None = None,
) -> Points:
    """Points of a file, or of a folder that `nomadp data build` made.

    `locations` gives coordinates to rows that only name a place.
    """
    found, how = Path(fspath(path)), reading or Reading()
    if not found.exists():
        raise SchemaError(f"{found} cannot be read: No such file or directory")
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
        return read_gpx_points(found, how.wishes)
    if found.name.endswith(TABLES):
        return read_table_points(found, how, locations)
    raise SchemaError(
        f"{found} must end in {', '.join((*OUTPUTS, '.gpx'))}, or be read with a preset of its "
        "own, to say what it is"
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
    if found.name.endswith(GEOJSON):
        if preset != "nomadp":
            raise SchemaError("GeoJSON is written with our own names; leave the preset out")
        written_whole({found: lambda part: write_geojson_points(part, points, shape)})
    elif found.name.endswith(TABLES):
        written_whole({found: lambda part: write_table_points(part, points, preset)})
    else:
        raise SchemaError(f"{found} must end in {', '.join(OUTPUTS)} to say what to write")


def _checkins(path: Path, reading: Reading) -> Points:
    read = read_checkins(path, reading.preset, progress=reading.wishes.progress)
    lines = ", ".join(map(str, read.malformed_lines))
    log.info(
        "%s: its columns are those of %s; each user has one trajectory; %d of %d rows are "
        "malformed and left out%s",
        path,
        reading.preset,
        read.malformed,
        read.rows,
        f", the first on lines {lines}" if lines else "",
    )
    return Rows(
        read.lat,
        read.lng,
        read.moment_us,
        uid=Text(read.uid, read.user_ids),
        moment_us=read.moment_us,
        location_id=Text(read.place, read.place_ids),
    ).points()
