"""How often each location, and each cell of a grid, is visited."""

import numpy as np

from nomadp.inference.shares import Learned, Shares, estimated_shares, table_of
from nomadp.unit_square import UnitSquare

__all__ = ["cell_shares", "location_shares"]


def location_shares(learned: Learned) -> Shares:
    """The share of visits at each location, (m,); flat is the same everywhere.

    Of a long trajectory, its control points are the visits.
    """
    size = len(learned.locations)
    every = np.ones(size, dtype=np.int64)
    return estimated_shares(learned, lambda rows: table_of(rows, size), every)


def cell_shares(learned: Learned, granularity: int) -> Shares:
    """The share of visits in each cell of a grid; flat is as dense as the set itself."""
    cell = UnitSquare(learned.locations).cells(granularity)
    size = granularity**2
    places = np.bincount(cell, minlength=size)
    return estimated_shares(learned, lambda rows: table_of(cell[rows], size), places)
