"""Tables of locations and trajectories, from and to CSV and Parquet files."""

from nomadp.formats.location_files import read_locations, write_locations
from nomadp.formats.point_files import ReadSummary, SnapSummary, read_trajectories

__all__ = [
    "ReadSummary",
    "SnapSummary",
    "read_locations",
    "read_trajectories",
    "write_locations",
]
