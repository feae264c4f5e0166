"""Where people go from where: trips between the cells of a grid."""

from dataclasses import replace
from typing import Any

import numpy as np

from nomadp.errors import DomainError
from nomadp.inference.shares import Learned, Shares, estimated_shares, table_of
from nomadp.laws import Ints
from nomadp.unit_square import UnitSquare

__all__ = ["trip_shares"]


def trip_shares(learned: Learned, granularity: int) -> Shares:
    """The share of trips from each cell (first point) to each (last point), flattened.

    Only reports of whole journeys tell of trips. Flat: both ends anywhere, independently.
    """
    moving = [k for k, group in enumerate(learned.groups) if _moves(group.evidence.support)]
    if not moving:
        raise DomainError(
            "trips need reports of whole journeys of at least 2 locations, got none; "
            "mechanisms that perturb each point on its own do not report any"
        )
    cell = UnitSquare(learned.locations).cells(granularity)
    cells = granularity**2
    places = np.bincount(cell, minlength=cells)

    def tally(rows: Ints) -> Any:
        return table_of(cells * cell[rows[:, :1]] + cell[rows[:, -1:]], cells**2)

    return estimated_shares(_only(learned, moving), tally, np.outer(places, places).reshape(-1))


def _moves(support: Ints) -> bool:
    return bool(support.shape[1] > 1)


def _only(learned: Learned, chosen: list[int]) -> Learned:
    """The same, asked about some of its groups."""
    again = tuple((tuple(groups[k] for k in chosen), prior) for groups, prior in learned.again)
    groups = tuple(learned.groups[k] for k in chosen)
    return replace(learned, groups=groups, again=again)
