"""How often places and zones are visited, and where people go from where.

Asked of reports of journeys or points, or of those of direct questions, in the same way.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from nomadp.errors import DomainError
from nomadp.inference.asked import asked_hotspots, asked_trips, zones_for, zones_on
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
from nomadp.mechanisms.questions import Question
from nomadp.reports.table import AnyReports
from nomadp.unit_square import UnitSquare
from nomadp.zones import Zones

__all__ = ["cell_shares", "flows", "hotspots", "learned_from", "location_shares", "trip_shares"]


def hotspots(
    mechanism: Mechanism,
    reports: AnyReports,
    zones: str | Zones | None = None,
    *,
    at: str | None = None,
    progress: Progress | None = None,
) -> Shares:
    """The share of visits at each location, or in each of some ``zones``, with its uncertainty.

    It is what the ``reports`` of ``mechanism`` tell, which costs nothing more. ``values`` add
    up to 1, ``interval(0.9)`` holds each with that probability, and ``flat`` is what somebody
    without reports would say; nothing is claimed beyond it that reports do not tell from
    chance. Zones are a rule such as grid:16, or `Zones`; a direct question has its own, and
    tells of larger ones made of them. ``at`` is visits, starts or ends: what was asked, or of
    trips their starts, if it is left out. ``progress`` is told of every piece of learning that
    is done. Raises `DomainError` for what reports do not tell of, and as `decode` does.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=100)
    >>> visits = nomadp.make_mechanism("visits", city.locations, epsilon=4, zones="grid:3")
    >>> reports = nomadp.perturb_set(visits, city.trajectories, nomadp.SimulatedWords(1))
    >>> shares = nomadp.hotspots(visits, reports)
    >>> len(shares.values), f"{shares.values.sum():.3f}"
    (7, '1.000')
    """
    if isinstance(mechanism, Question):
        return asked_hotspots(mechanism, reports, zones_for(mechanism, zones), at)
    if at not in (None, *_POINTS):
        raise DomainError(f"at must be one of {', '.join(_POINTS)}, got {str(at)[:80]}")
    zone = np.arange(len(mechanism.locations))
    if zones is not None:
        zone = zones_on(mechanism.locations, zones).of
    return _point_shares(learned_from(mechanism, reports, progress), zone, at or "visits")


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
    return _point_shares(learned, np.arange(len(learned.locations)))


def cell_shares(learned: Learned, granularity: int) -> Shares:
    """The share of visits in each cell of a grid; flat is as dense as the set itself."""
    cell = UnitSquare(learned.locations).cells(granularity)
    return _point_shares(learned, cell, size=granularity**2)


_POINTS = {"visits": slice(None), "starts": slice(0, 1), "ends": slice(-1, None)}


def _point_shares(
    learned: Learned, zone: Ints, at: str = "visits", *, size: int | None = None
) -> Shares:
    """The share of these points of journeys in each zone; flat is as dense as the set."""
    size = int(zone.max()) + 1 if size is None else size
    points = _POINTS[at]
    if at != "visits":
        learned = _journeys(learned)
    places = np.bincount(zone, minlength=size)
    return estimated_shares(learned, lambda rows: table_of(zone[rows[:, points]], size), places)


def flows(
    mechanism: Mechanism,
    reports: AnyReports,
    zones: str | Zones | None = None,
    *,
    progress: Progress | None = None,
) -> Shares:
    """The share of trips from each zone to each, with its uncertainty.

    A trip goes from the first to the last point of a journey: entry ``i * len(zones) + j`` of
    ``values`` is from zone i to zone j. ``mechanism``, ``reports``, ``zones`` (grid:4 if there
    are none of its own) and ``progress`` are as in `hotspots`. Raises `DomainError` for reports
    that do not tell of whole journeys: those of ATLAS and of the direct question trips do.

    >>> import nomadp
    >>> places = nomadp.synthetic_city(seed=1, places=50, trips=1).locations
    >>> people = nomadp.TrajectorySet.from_lists([[0, 5], [3, 7]] * 20, size=50)
    >>> trips = nomadp.make_mechanism("trips", places, epsilon=8, zones="grid:2")
    >>> reports = nomadp.perturb_set(trips, people, nomadp.SimulatedWords(1))
    >>> nomadp.flows(trips, reports).values.reshape(4, 4).shape
    (4, 4)
    """
    if isinstance(mechanism, Question):
        return asked_trips(mechanism, reports, zones_for(mechanism, zones))
    asked = zones_on(mechanism.locations, zones or "grid:4")
    return _pair_shares(learned_from(mechanism, reports, progress), asked.of)


def trip_shares(learned: Learned, granularity: int) -> Shares:
    """The share of trips from each cell of a grid (first point) to each (last), flattened."""
    cell = UnitSquare(learned.locations).cells(granularity)
    return _pair_shares(learned, cell, granularity**2)


def _pair_shares(learned: Learned, zone: Ints, size: int | None = None) -> Shares:
    """Only reports of whole journeys tell. Flat: both ends anywhere, independently."""
    zones = int(zone.max()) + 1 if size is None else size
    places = np.bincount(zone, minlength=zones)

    def tally(rows: Ints) -> Any:
        return table_of(zones * zone[rows[:, :1]] + zone[rows[:, -1:]], zones**2)

    return estimated_shares(_journeys(learned), tally, np.outer(places, places).reshape(-1))


def _journeys(learned: Learned) -> Learned:
    """The same, asked about whole journeys only."""
    moving = [
        k for k, group in enumerate(learned.groups) if group.evidence.support.shape[1] > 1
    ]
    if not moving:
        raise DomainError(
            "trips need reports of whole journeys of at least 2 locations, got none; "
            "mechanisms that perturb each point on its own do not report any"
        )
    again = tuple((tuple(groups[k] for k in moving), prior) for groups, prior in learned.again)
    groups = tuple(learned.groups[k] for k in moving)
    return replace(learned, groups=groups, again=again)
