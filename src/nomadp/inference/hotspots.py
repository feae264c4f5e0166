"""How often each location, and each cell of a grid, is visited."""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from nomadp.inference.prior import Group
from nomadp.inference.shares import Shares, estimated_shares, table_of
from nomadp.locations import LocationSet
from nomadp.mechanisms.square import UnitSquare

__all__ = ["cell_shares", "location_shares"]


def location_shares(locations: LocationSet, groups: Sequence[Group], rng: Generator) -> Shares:
    """The share of visits at each location, (m,); flat is the same everywhere.

    Of a long trajectory, its control points are the visits.
    """
    size = len(locations)
    return estimated_shares(
        locations, groups, lambda rows: table_of(rows, size), np.full(size, 1 / size), rng
    )


def cell_shares(
    locations: LocationSet, groups: Sequence[Group], granularity: int, rng: Generator
) -> Shares:
    """The share of visits in each cell of a grid; flat is as dense as the set itself."""
    cell = UnitSquare(locations).cells(granularity)
    size = granularity**2
    flat = np.bincount(cell, minlength=size) / len(locations)
    return estimated_shares(
        locations, groups, lambda rows: table_of(cell[rows], size), flat, rng
    )
