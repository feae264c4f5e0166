"""Reports: what was released, under which ids, and how it was made. Nothing here is private."""

from nomadp.reports.counts import Counts
from nomadp.reports.header import Header
from nomadp.reports.report_files import read_reports, write_reports, write_simulated
from nomadp.reports.table import AnyReports, Reports, SimulatedReports

__all__ = [
    "AnyReports",
    "Counts",
    "Header",
    "Reports",
    "SimulatedReports",
    "read_reports",
    "write_reports",
    "write_simulated",
]
