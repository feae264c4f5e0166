"""How often places and cells of a grid are visited, and where people go from where."""

from dataclasses import replace
from typing import Any

import numpy as np

from nomadp.errors import DomainError
from nomadp.inference.decode import groups_of
from nomadp.inference.learning import Progress
from nomadp.inference.shares import (
    Learned,
    Shares,
    estimated_shares,
    learned_from_groups,
    table_of,
)
from nomadp.laws import Ints
from nomadp.mechanisms.base import Mechanism
from nomadp.reports.table import AnyReports
from nomadp.unit_square import UnitSquare

__all__ = ["cell_shares", "flows", "hotspots", "learned_from", "location_shares", "trip_shares"]


def hotspots(
    mechanism: Mechanism,
    reports: AnyReports,
    granularity: int | None = None,
    *,
    progress: Progress | None = None,
) -> Shares:
    """The share of visits at each location, or in each cell of a grid, with its uncertainty.

    It is learned from the ``reports`` of ``mechanism``, which costs nothing more. ``values``
    add up to 1, ``deviation`` are their standard deviations, and ``flat`` is what somebody
    without reports would say; nothing is claimed beyond it that reports do not tell from
    chance. With a ``granularity`` there are that many rows and columns of cells.
    ``progress`` is told of every piece of learning that is done. Raises `DomainError` as
    `decode` does.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=100)
    >>> brr = nomadp.make_mechanism("brr", city.locations, epsilon=8)
    >>> reports = nomadp.perturb_set(brr, city.trajectories, nomadp.SimulatedWords(1))
    >>> visits = nomadp.hotspots(brr, reports, granularity=3)
    >>> len(visits.values), f"{visits.values.sum():.3f}"
    (9, '1.000')
    """
    learned = learned_from(mechanism, reports, progress)
    if granularity is None:
        return location_shares(learned)
    return cell_shares(learned, granularity)


def learned_from(
    mechanism: Mechanism, reports: AnyReports, progress: Progress | None = None
) -> Learned:
    """What reports tell, once for all questions; the same reports tell the same."""
    rng = np.random.default_rng(0)  # resamples public reports: nothing private is drawn
    return learned_from_groups(
        mechanism.locations, groups_of(mechanism, reports), rng, progress
    )


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
    moving = [
        k for k, group in enumerate(learned.groups) if group.evidence.support.shape[1] > 1
    ]
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


def _only(learned: Learned, chosen: list[int]) -> Learned:
    """The same, asked about some of its groups."""
    again = tuple((tuple(groups[k] for k in chosen), prior) for groups, prior in learned.again)
    groups = tuple(learned.groups[k] for k in chosen)
    return replace(learned, groups=groups, again=again)
