"""Make reports from lists of locations, as if a mechanism had drawn them."""

from nomadp.reports import Header, SimulatedReports
from nomadp.sequences import joined


def reported(mechanism, rows, ids=()):
    """Simulated reports with these locations, named by their position by default."""
    header, names = Header.made_by(mechanism), tuple(ids) or tuple(map(str, range(len(rows))))
    return SimulatedReports(
        *joined(rows), names, header=header, location_set=mechanism.locations
    )


def lists(rows):
    """The locations of every row."""
    return [rows[k].tolist() for k in range(len(rows))]
