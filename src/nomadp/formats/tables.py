"""Tables of locations, trajectories and reports, from and to CSV and Parquet files."""

from nomadp.formats.location_files import read_locations, write_locations
from nomadp.formats.report_files import METADATA, ReportTable, read_reports, write_reports
from nomadp.formats.trajectory_files import ReadSummary, SnapSummary, read_trajectories

__all__ = [
    "METADATA",
    "ReadSummary",
    "ReportTable",
    "SnapSummary",
    "read_locations",
    "read_reports",
    "read_trajectories",
    "write_locations",
    "write_reports",
]
