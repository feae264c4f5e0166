"""How often places and zones are visited, and where people go from where.

Asked of reports of journeys or points, or of those of direct questions, in the same way.
"""

from dataclasses import replace

import numpy as np

from nomadp.errors import DomainError, InvalidArgument
from nomadp.inference.model import Model
from nomadp.inference.oracle_shares import oracle_hotspots, oracle_trips, zones_for, zones_on
from nomadp.inference.prior import table_of
from nomadp.inference.shares import (
    BootstrapFit,
    Shares,
    Tally,
    estimated_shares,
    relative_variance,
)
from nomadp.laws import Ints
from nomadp.mechanisms.base import Mechanism
from nomadp.mechanisms.oracles import FrequencyOracle
from nomadp.unit_square import UnitSquare
from nomadp.zones import Zones

__all__ = [
    "asked_of",
    "cell_shares",
    "flow_shares",
    "flow_tally",
    "location_shares",
    "moving",
    "trip_shares",
    "visit_shares",
    "visit_tally",
]


def visit_shares(
    learned: Model, zones: str | Zones | None = None, at: str | None = None
) -> Shares:
    """The share of visits at each location, or in each of some zones, with its uncertainty.

    A direct question has zones of its own, and tells of larger ones made of them. ``at`` is
    visits, starts or ends: what was asked, or of trips their starts, if it is left out.
    """
    mechanism = learned.mechanism
    if isinstance(mechanism, FrequencyOracle):
        return oracle_hotspots(mechanism, learned.counts, zones_for(mechanism, zones), at)
    return _point_shares(_survey(learned), _zone(learned, zones), _checked(at))


def visit_tally(
    learned: Model, zones: str | Zones | None = None, at: str | None = None
) -> tuple[BootstrapFit, Tally]:
    """What `visit_shares` counts of which journeys."""
    zone = _zone(learned, zones)
    return _point_tally(_survey(learned), zone, _checked(at), int(zone.max()) + 1)


def asked_of(mechanism: Mechanism, at: str | None) -> str:
    """Of which points of journeys an answer tells."""
    if not isinstance(mechanism, FrequencyOracle):
        return _checked(at)
    return at or ("starts" if mechanism.name == "trips" else mechanism.name)


def _checked(at: str | None) -> str:
    if at not in (None, *_POINTS):
        raise DomainError(
            f"at must be one of {', '.join(_POINTS)}, got {str(at)[:80]}",
            code="unknown_point_kind",
            at=str(at)[:80],
        )
    return at or "visits"


def _zone(learned: Model, zones: str | Zones | None) -> Ints:
    world = learned.mechanism.locations
    return np.arange(len(world)) if zones is None else zones_on(world, zones).of


def _survey(learned: Model) -> BootstrapFit:
    if learned.bootstrap is None:
        raise InvalidArgument(
            "what reports of journeys tell must have been learned", code="model_without_survey"
        )
    return learned.bootstrap


def location_shares(learned: BootstrapFit) -> Shares:
    """The share of visits at each location, (m,); flat is the same everywhere.

    Of a long trajectory, its control points are the visits.
    """
    return _point_shares(learned, np.arange(len(learned.locations)))


def cell_shares(learned: BootstrapFit, granularity: int) -> Shares:
    """The share of visits in each cell of a grid; flat is as dense as the set itself."""
    cell = UnitSquare(learned.locations).cells(granularity)
    return _point_shares(learned, cell, size=granularity**2)


_POINTS = {"visits": slice(None), "starts": slice(0, 1), "ends": slice(-1, None)}


def _point_shares(
    learned: BootstrapFit, zone: Ints, at: str = "visits", *, size: int | None = None
) -> Shares:
    """The share of these points of journeys in each zone; flat is as dense as the set."""
    size = int(zone.max()) + 1 if size is None else size
    asked, tally = _point_tally(learned, zone, at, size)
    return estimated_shares(asked, tally, np.bincount(zone, minlength=size))


def _point_tally(
    learned: BootstrapFit, zone: Ints, at: str, size: int
) -> tuple[BootstrapFit, Tally]:
    points = _POINTS[at]
    asked = learned if at == "visits" else moving(learned)
    return asked, lambda rows: table_of(zone[rows[:, points]], size)


def flow_shares(learned: Model, zones: str | Zones | None = None) -> Shares:
    """The share of trips from each zone to each, with its uncertainty.

    A trip goes from the first to the last point of a journey: entry ``i * len(zones) + j`` of
    ``values`` is from zone i to zone j. Without zones, those of the question, or grid:4.
    """
    mechanism = learned.mechanism
    if isinstance(mechanism, FrequencyOracle):
        return oracle_trips(mechanism, learned.counts, zones_for(mechanism, zones))
    asked = zones_on(mechanism.locations, zones or "grid:4")
    return _pair_shares(_survey(learned), asked.of)


def flow_tally(learned: Model, zones: Zones) -> tuple[BootstrapFit, Tally]:
    """What `flow_shares` counts of which journeys."""
    return moving(_survey(learned)), _pair_tally(zones.of, len(zones))


def trip_shares(learned: BootstrapFit, granularity: int) -> Shares:
    """The share of trips from each cell of a grid (first point) to each (last), flattened."""
    cell = UnitSquare(learned.locations).cells(granularity)
    return _pair_shares(learned, cell, granularity**2)


def _pair_shares(learned: BootstrapFit, zone: Ints, size: int | None = None) -> Shares:
    """Only reports of whole journeys tell. Flat: both ends anywhere, independently."""
    zones = int(zone.max()) + 1 if size is None else size
    places = np.bincount(zone, minlength=zones)

    held = np.outer(places, places).reshape(-1)
    differ = np.add.outer(relative_variance(places), relative_variance(places)).reshape(-1)
    return estimated_shares(moving(learned), _pair_tally(zone, zones), held, differ)


def _pair_tally(zone: Ints, zones: int) -> Tally:
    return lambda rows: table_of(zones * zone[rows[:, :1]] + zone[rows[:, -1:]], zones**2)


def moving(learned: BootstrapFit) -> BootstrapFit:
    """The same, asked about whole journeys only."""
    kept = [k for k, group in enumerate(learned.groups) if group.evidence.support.shape[1] > 1]
    if not kept:
        raise DomainError(
            "trips need reports of whole journeys of at least 2 locations, got none; "
            "mechanisms that perturb each point on its own do not report any",
            code="reports_of_points",
        )
    resamples = tuple(
        (tuple(groups[k] for k in kept), prior) for groups, prior in learned.resamples
    )
    groups = tuple(learned.groups[k] for k in kept)
    return replace(learned, groups=groups, resamples=resamples)
