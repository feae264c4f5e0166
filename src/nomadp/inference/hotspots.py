"""Shares of visits and origin-destination flows, from a fitted model of any mechanism.

Frequency oracles, and mechanisms that report points or trajectories, have the same interface.
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
    "point_kind",
    "cell_shares",
    "flow_shares",
    "flow_tally",
    "location_shares",
    "of_trajectories",
    "trip_shares",
    "visit_shares",
    "visit_tally",
]


def visit_shares(
    model: Model, zones: str | Zones | None = None, at: str | None = None
) -> Shares:
    """The share of visits at each location or in each zone, with standard errors.

    A frequency oracle has its own zones, and can also estimate shares of unions of them. ``at``
    is visits, starts or ends. The default is what the oracle reports; for trips, their starts.
    """
    mechanism = model.mechanism
    if isinstance(mechanism, FrequencyOracle):
        return oracle_hotspots(mechanism, model.counts, zones_for(mechanism, zones), at)
    return _point_shares(_bootstrap_of(model), _zone(model, zones), _valid_kind(at))


def visit_tally(
    model: Model, zones: str | Zones | None = None, at: str | None = None
) -> tuple[BootstrapFit, Tally]:
    """The bootstrap fit that `visit_shares` uses, and the labels that it counts."""
    zone = _zone(model, zones)
    return _point_tally(_bootstrap_of(model), zone, _valid_kind(at), int(zone.max()) + 1)


def point_kind(mechanism: Mechanism, at: str | None) -> str:
    """The points of trajectories whose shares are estimated: visits, starts or ends."""
    if not isinstance(mechanism, FrequencyOracle):
        return _valid_kind(at)
    return at or ("starts" if mechanism.name == "trips" else mechanism.name)


def _valid_kind(at: str | None) -> str:
    if at not in (None, *_POINTS):
        raise DomainError(
            f"at must be one of {', '.join(_POINTS)}, got {str(at)[:80]}",
            code="unknown_point_kind",
            at=str(at)[:80],
        )
    return at or "visits"


def _zone(model: Model, zones: str | Zones | None) -> Ints:
    world = model.mechanism.locations
    return np.arange(len(world)) if zones is None else zones_on(world, zones).of


def _bootstrap_of(model: Model) -> BootstrapFit:
    if model.bootstrap is None:
        raise InvalidArgument(
            "the model must contain a fit to reports of trajectories",
            code="model_without_survey",
        )
    return model.bootstrap


def location_shares(bootstrap: BootstrapFit) -> Shares:
    """The share of visits at each location, (m,); the baseline is the same everywhere.

    The visits of a long trajectory are its control points.
    """
    return _point_shares(bootstrap, np.arange(len(bootstrap.locations)))


def cell_shares(bootstrap: BootstrapFit, granularity: int) -> Shares:
    """The share of visits in each cell of a grid; the baseline is the density of locations."""
    cell = UnitSquare(bootstrap.locations).cells(granularity)
    return _point_shares(bootstrap, cell, size=granularity**2)


_POINTS = {"visits": slice(None), "starts": slice(0, 1), "ends": slice(-1, None)}


def _point_shares(
    bootstrap: BootstrapFit, zone: Ints, at: str = "visits", *, size: int | None = None
) -> Shares:
    """The share of points in each zone; the baseline is the density of locations."""
    size = int(zone.max()) + 1 if size is None else size
    selected, tally = _point_tally(bootstrap, zone, at, size)
    return estimated_shares(selected, tally, np.bincount(zone, minlength=size))


def _point_tally(
    bootstrap: BootstrapFit, zone: Ints, at: str, size: int
) -> tuple[BootstrapFit, Tally]:
    # A single point is a visit, but neither a start nor an end of a trajectory.
    points = _POINTS[at]
    selected = bootstrap if at == "visits" else of_trajectories(bootstrap)
    return selected, lambda rows: table_of(zone[rows[:, points]], size)


def flow_shares(model: Model, zones: str | Zones | None = None) -> Shares:
    """The share of trips of each origin-destination pair of zones, with standard errors.

    A trip goes from the first to the last point of a trajectory. Entry ``i * len(zones) + j``
    of ``values`` is from zone i to zone j. By default zones are those of the oracle, or grid:4.
    """
    mechanism = model.mechanism
    if isinstance(mechanism, FrequencyOracle):
        return oracle_trips(mechanism, model.counts, zones_for(mechanism, zones))
    partition = zones_on(mechanism.locations, zones or "grid:4")
    return _pair_shares(_bootstrap_of(model), partition.of)


def flow_tally(model: Model, zones: Zones) -> tuple[BootstrapFit, Tally]:
    """The bootstrap fit that `flow_shares` uses, and the labels that it counts."""
    return of_trajectories(_bootstrap_of(model)), _pair_tally(zones.of, len(zones))


def trip_shares(bootstrap: BootstrapFit, granularity: int) -> Shares:
    """The share of trips from each cell of a grid to each other cell, flattened."""
    cell = UnitSquare(bootstrap.locations).cells(granularity)
    return _pair_shares(bootstrap, cell, granularity**2)


def _pair_shares(bootstrap: BootstrapFit, zone: Ints, size: int | None = None) -> Shares:
    """The baseline has uniform and independent origins and destinations."""
    zones = int(zone.max()) + 1 if size is None else size
    places = np.bincount(zone, minlength=zones)
    n_pairs = np.outer(places, places).reshape(-1)
    # The relative variance of a product of independent factors is about the sum of theirs.
    variances = np.add.outer(relative_variance(places), relative_variance(places)).reshape(-1)
    return estimated_shares(
        of_trajectories(bootstrap), _pair_tally(zone, zones), n_pairs, variances
    )


def _pair_tally(zone: Ints, zones: int) -> Tally:
    return lambda rows: table_of(zones * zone[rows[:, :1]] + zone[rows[:, -1:]], zones**2)


def of_trajectories(bootstrap: BootstrapFit) -> BootstrapFit:
    """The fit, restricted to reports of whole trajectories: single points have no trips."""
    selected = [
        k for k, group in enumerate(bootstrap.groups) if group.evidence.support.shape[1] > 1
    ]
    if not selected:
        raise DomainError(
            "trips need reports of whole trajectories of at least 2 locations, got none; "
            "mechanisms that perturb each point separately do not report any",
            code="reports_of_points",
        )
    resamples = tuple(
        (tuple(groups[k] for k in selected), prior) for groups, prior in bootstrap.resamples
    )
    groups = tuple(bootstrap.groups[k] for k in selected)
    return replace(bootstrap, groups=groups, resamples=resamples)
