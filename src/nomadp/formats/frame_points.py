"""Points of frames, and of Parquet files with one row per trajectory."""

from pathlib import Path

from nomadp.errors import SchemaError
from nomadp.formats.arrow_objects import Frame
from nomadp.formats.files import is_parquet
from nomadp.formats.points import Points, local_times_at
from nomadp.formats.presets import WHOLE_FILES, Reading
from nomadp.formats.table_points import read_table_points
from nomadp.locations import LocationSet
from nomadp.trajectory import TrajectorySet

__all__ = ["read_frame_points", "read_nested_points"]


def read_frame_points(frame: Frame, reading: Reading, locations: LocationSet | None) -> Points:
    """Read a frame with one row per point or per trajectory."""
    if reading.preset in WHOLE_FILES:
        raise SchemaError(
            f"the preset of {frame} must be one of named columns, got {reading.preset}, which "
            "is a file format",
            code="preset_of_files",
            preset=reading.preset,
        )
    if not {"tid", "location_ids"} <= set(frame.table.column_names):
        return read_table_points(frame, reading, locations)
    if locations is None:
        raise SchemaError(
            f"{frame} has location ids only, so a location set is required; give one",
            code="locations_required",
        )
    from nomadp.formats.nested_files import trajectories_in  # slow: Arrow

    reading.check_columns(frame, ())
    trajectories, uids = trajectories_in(
        frame.name, frame.table, locations, hours=reading.options.hours
    )
    return _points_at(trajectories, uids, locations)


def read_nested_points(
    path: Path, reading: Reading, locations: LocationSet | None
) -> Points | None:
    """The points of a Parquet file with one row per trajectory; None for any other file."""
    if not is_parquet(path):
        return None
    from nomadp.formats.nested_files import NestedFile, is_nested, read_nested  # slow: Arrow

    if not is_nested(path):
        return None
    if locations is None:
        raise SchemaError(
            f"{path} has location ids only, so a location set is required; give the location "
            "file",
            code="locations_required",
        )
    trajectories = read_nested(path, locations, hours=reading.options.hours)
    uids = NestedFile(path).uids()
    return _points_at(trajectories, None if uids is None else tuple(uids), locations)


def _points_at(
    trajectories: TrajectorySet, uids: tuple[str, ...] | None, locations: LocationSet
) -> Points:
    location, hours = trajectories.locations, trajectories.hours
    return Points(
        trajectories.offsets,
        locations.lat[location],
        locations.lng[location],
        trajectories.tids,
        uids,
        location_ids=tuple(locations.ids[k] for k in location),
        local_us=None if hours is None else local_times_at(hours[trajectories.owner]),
    )
