"""How often each location, and each cell of a grid, is visited."""

import numpy as np

from nomadp.inference.shares import Shares, Survey, estimated_shares, table_of
from nomadp.unit_square import UnitSquare

__all__ = ["cell_shares", "location_shares"]


def location_shares(survey: Survey) -> Shares:
    """The share of visits at each location, (m,); flat is the same everywhere.

    Of a long trajectory, its control points are the visits.
    """
    size = len(survey.locations)
    every = np.ones(size, dtype=np.int64)
    return estimated_shares(survey, lambda rows: table_of(rows, size), every)


def cell_shares(survey: Survey, granularity: int) -> Shares:
    """The share of visits in each cell of a grid; flat is as dense as the set itself."""
    cell = UnitSquare(survey.locations).cells(granularity)
    size = granularity**2
    places = np.bincount(cell, minlength=size)
    return estimated_shares(survey, lambda rows: table_of(cell[rows], size), places)
