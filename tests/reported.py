"""Reports out of lists of locations, as if a mechanism had made them."""

from nomadp.reports.header import Header
from nomadp.reports.table import made_by_experiment


def reported(mechanism, rows, ids=()):
    """Simulated reports with these locations."""
    return made_by_experiment(Header.made_by(mechanism), mechanism.locations, rows, ids)


def lists(rows):
    """The locations of every row."""
    return [rows[k].tolist() for k in range(len(rows))]
