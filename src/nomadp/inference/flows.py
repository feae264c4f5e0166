"""Where people go from where: trips between the cells of a grid."""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from nomadp.errors import DomainError
from nomadp.inference.prior import Group
from nomadp.inference.shares import Shares, estimated_shares, table_of
from nomadp.locations import LocationSet
from nomadp.mechanisms.square import UnitSquare

__all__ = ["trip_shares"]


def trip_shares(
    locations: LocationSet, groups: Sequence[Group], granularity: int, rng: Generator
) -> Shares:
    """The share of trips from each cell (first point) to each (last point), flattened.

    Only reports of whole journeys tell of trips. Flat: both ends anywhere, independently.
    """
    moving = [group for group in groups if group.evidence.support.shape[1] > 1]
    if not moving:
        raise DomainError(
            "trips need reports of whole journeys of at least 2 locations, got none; "
            "mechanisms that perturb each point on its own do not report any"
        )
    cell = UnitSquare(locations).cells(granularity)
    cells = granularity**2
    density = np.bincount(cell, minlength=cells) / len(locations)
    return estimated_shares(
        locations,
        moving,
        lambda rows: table_of(cells * cell[rows[:, :1]] + cell[rows[:, -1:]], cells**2),
        np.outer(density, density).reshape(-1),
        rng,
    )
