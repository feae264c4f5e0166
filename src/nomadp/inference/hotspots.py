"""How often each location, and each cell of a grid, is visited."""

import numpy as np

from nomadp.inference.decode import groups_of
from nomadp.inference.learning import Progress
from nomadp.inference.shares import (
    Learned,
    Shares,
    estimated_shares,
    learned_from_groups,
    table_of,
)
from nomadp.mechanisms.base import Mechanism
from nomadp.reports.table import AnyReports
from nomadp.unit_square import UnitSquare

__all__ = ["cell_shares", "hotspots", "learned_from", "location_shares"]


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
