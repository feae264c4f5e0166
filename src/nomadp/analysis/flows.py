"""How people move, as reports tell it: trips between areas, and lengths of steps.

A trip goes from the first to the last point of a trajectory, a step from one point to the
next; trajectories of one point have neither.
"""

import numpy as np

from nomadp.analysis.hotspots import expected_deviation
from nomadp.analysis.metrics import check_same_shape
from nomadp.errors import DomainError
from nomadp.extras import require
from nomadp.geometry import Floats
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.sequences import Sequences
from nomadp.trajectory import TrajectorySet
from nomadp.unit_square import UnitSquare

__all__ = [
    "flow_error",
    "step_error_km",
    "steps_km",
    "uniform_flow_error",
    "uniform_step_error_km",
]

LAW_BINS = 20_000
"""Distances of all pairs are counted to this part of the largest."""


def flow_error(
    locations: LocationSet, true: TrajectorySet, reported: Sequences, granularity: int
) -> float:
    """L1 distance of the shares of trips between each two cells: 0 if equal, at most 2."""
    check_same_shape(true, reported)
    cell = UnitSquare(locations).cells(granularity)
    first, second = (_flows(each, cell, granularity) for each in (true, reported))
    return float(np.abs(first - second).sum() / first.sum())


def uniform_flow_error(locations: LocationSet, true: TrajectorySet, granularity: int) -> float:
    """The exact expectation of `flow_error` when both ends are uniformly random locations."""
    cell = UnitSquare(locations).cells(granularity)
    flow = _flows(true, cell, granularity)
    share = np.bincount(cell, minlength=granularity**2) / len(locations)
    trips = int(flow.sum())
    expected = expected_deviation(flow, trips, np.outer(share, share).reshape(-1))
    return float(expected.sum() / trips)


def step_error_km(locations: LocationSet, true: TrajectorySet, reported: Sequences) -> float:
    """Wasserstein-1 distance, in km, of the two distributions of step lengths."""
    check_same_shape(true, reported)
    first, second = (np.sort(steps_km(locations, each)) for each in (true, reported))
    # As many steps in both: the cheapest way to turn one into the other is in order.
    return float(np.abs(first - second).mean())


def uniform_step_error_km(locations: LocationSet, true: TrajectorySet) -> float:
    """The same against the law of steps between two uniformly random locations."""
    require("analysis")
    from scipy.stats import wasserstein_distance  # slow to import, and only this needs it

    length_km, weight = _pair_distances(locations)
    return float(wasserstein_distance(steps_km(locations, true), length_km, None, weight))


def steps_km(locations: LocationSet, trajectories: Sequences) -> Floats:
    """The length of every step, all trajectories one after another."""
    _check_moving(trajectories)
    here = np.ones(len(trajectories.locations), dtype=bool)
    here[trajectories.offsets[1:] - 1] = False  # the last point of each leads nowhere
    start = np.flatnonzero(here)
    return locations.distances_between_km(
        trajectories.locations[start], trajectories.locations[start + 1]
    )


def _flows(trajectories: Sequences, cell: Ints, granularity: int) -> Ints:
    """Trips from each cell to each cell, flattened."""
    _check_moving(trajectories)
    moving = trajectories.lengths > 1
    origin = cell[trajectories.locations[trajectories.offsets[:-1][moving]]]
    destination = cell[trajectories.locations[trajectories.offsets[1:][moving] - 1]]
    cells = granularity**2
    return np.bincount(origin * cells + destination, minlength=cells**2)


def _pair_distances(locations: LocationSet) -> tuple[Floats, Floats]:
    """Distances of all ordered pairs, a location with itself included, and how many."""
    width_km = locations.diameter_km / LAW_BINS or 1.0
    count = np.zeros(LAW_BINS + 1, dtype=np.int64)
    # Row by row: a table of all pairs need not fit in memory.
    for i in range(len(locations)):
        nearest = np.rint(locations.distances_km(i) / width_km).astype(np.int64)
        count += np.bincount(nearest, minlength=LAW_BINS + 1)
    seen = np.flatnonzero(count)
    return np.asarray(seen * width_km), count[seen].astype(np.float64)


def _check_moving(trajectories: Sequences) -> None:
    if not (trajectories.lengths > 1).any():
        raise DomainError(
            "trips and steps need a trajectory of at least 2 points, and every one of "
            f"{len(trajectories)} has 1"
        )
