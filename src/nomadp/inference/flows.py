"""Where people go from where: trips between the cells of a grid."""

from dataclasses import replace
from typing import Any

import numpy as np

from nomadp.errors import DomainError
from nomadp.inference.hotspots import learned_from
from nomadp.inference.learning import Progress
from nomadp.inference.shares import Learned, Shares, estimated_shares, table_of
from nomadp.laws import Ints
from nomadp.mechanisms.base import Mechanism
from nomadp.reports.table import AnyReports
from nomadp.unit_square import UnitSquare

__all__ = ["flows", "trip_shares"]


def flows(
    mechanism: Mechanism,
    reports: AnyReports,
    granularity: int,
    *,
    progress: Progress | None = None,
) -> Shares:
    """The share of trips from each cell of a grid to each, with its uncertainty.

    A trip goes from the first to the last point of a journey, over ``granularity`` rows and
    columns of cells: entry ``i * granularity**2 + j`` of ``values`` is from cell i to cell j.
    ``mechanism``, ``reports`` and ``progress`` are as in `hotspots`. Raises `DomainError` for
    reports that do not tell of whole journeys: only ATLAS' do.

    >>> import nomadp
    >>> places = nomadp.synthetic_city(seed=1, places=50, trips=1).locations
    >>> trips = nomadp.TrajectorySet.from_lists([[0, 5], [3, 7]] * 20, size=50)
    >>> atlas = nomadp.make_mechanism("atlas", places, epsilon=8, size=200)
    >>> reports = nomadp.perturb_set(atlas, trips, nomadp.SimulatedWords(1))
    >>> nomadp.flows(atlas, reports, granularity=2).values.reshape(4, 4).shape
    (4, 4)
    """
    return trip_shares(learned_from(mechanism, reports, progress), granularity)


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
