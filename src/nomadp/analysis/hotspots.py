"""What reports say about how often places are visited, and how people move between them.

Counts of reported points as they arrive, as in the paper: no correction for the noise. Every
score has its floors: what a constant answer, a uniform one, or a flat estimate would get.
A trip goes from the first to the last point of a trajectory, a step from one point to the
next; trajectories of one point have neither.
"""

import numpy as np

from nomadp.analysis.metrics import check_same_shape
from nomadp.datasets.popular import most_visited
from nomadp.errors import DomainError
from nomadp.extras import require
from nomadp.geometry import Floats
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.sequences import Sequences
from nomadp.trajectory import TrajectorySet
from nomadp.unit_square import UnitSquare

__all__ = [
    "count_difference",
    "density_distance",
    "expected_deviation",
    "flat_count_difference",
    "flow_error",
    "hotspot_recall",
    "jensen_shannon",
    "step_error_km",
    "steps_km",
    "uniform_count_difference",
    "uniform_density_distance",
    "uniform_flow_error",
    "uniform_hotspot_recall",
    "uniform_step_error_km",
    "visit_counts",
]

LAW_BINS = 20_000
"""Distances of all pairs are counted to this part of the largest."""


def visit_counts(locations: LocationSet, trajectories: Sequences) -> Ints:
    """Points at every location, shape (m,)."""
    return np.bincount(trajectories.locations, minlength=len(locations))


def count_difference(
    locations: LocationSet, true: TrajectorySet, reported: Sequences, share: float
) -> float:
    """ACD: mean absolute difference of visits, over the most visited ``share`` of locations."""
    check_same_shape(true, reported)
    count = visit_counts(locations, true)
    difference = np.abs(count - visit_counts(locations, reported))
    return float(difference[most_visited(count, share)].mean())


def flat_count_difference(locations: LocationSet, true: TrajectorySet, share: float) -> float:
    """The floor of estimating every location's count as the number of points over m."""
    count = visit_counts(locations, true)
    flat = count.sum() / len(locations)
    return float(np.abs(count - flat)[most_visited(count, share)].mean())


def uniform_count_difference(
    locations: LocationSet, true: TrajectorySet, share: float
) -> float:
    """The exact expectation of ACD when every answer is a uniformly random location."""
    count = visit_counts(locations, true)
    expected = expected_deviation(count, int(count.sum()), np.array(1 / len(locations)))
    return float(expected[most_visited(count, share)].mean())


def hotspot_recall(
    locations: LocationSet, true: TrajectorySet, reported: Sequences, k: int
) -> float:
    """Of the k locations most visited in the reports, the share that truly is.

    A hotspot is any location visited as often as the k-th; among locations reported equally
    often, the k are drawn at random: the value is the exact expectation over these draws.
    """
    check_same_shape(true, reported)
    k = min(k, len(locations))
    chosen = _chance_among_first(visit_counts(locations, reported), k)
    return float(chosen[_hotspots(locations, true, k)].sum() / k)


def uniform_hotspot_recall(locations: LocationSet, true: TrajectorySet, k: int) -> float:
    """The exact expectation for uniform answers: every location is as likely among the k."""
    return len(_hotspots(locations, true, min(k, len(locations)))) / len(locations)


def expected_deviation(count: Ints, draws: int, chance: Floats) -> Floats:
    """E|X - count| for X binomial: exact, from two values of the distribution function."""
    require("analysis")
    from scipy.special import bdtr  # slow to import, and only the floors need it

    def at_most(limit: Ints, of: int) -> Floats:
        inside = bdtr(np.clip(limit, 0, of).astype(np.float64), of, chance)
        return np.where(limit < 0, 0.0, inside)

    # E[(count - X)+] = count P(X <= count) - E[X; X <= count], and x P(X = x) is a binomial
    # of one draw less.
    mean = draws * chance
    below = count * at_most(count, draws) - mean * at_most(count - 1, max(draws - 1, 0))
    return np.asarray(mean - count + 2 * below)


def _hotspots(locations: LocationSet, true: TrajectorySet, k: int) -> Ints:
    count = visit_counts(locations, true)
    return np.flatnonzero(count >= np.partition(count, -k)[-k])


def _chance_among_first(count: Ints, k: int) -> Floats:
    """How probably each location is among the k highest counts, ties broken at random."""
    limit = np.partition(count, -k)[-k]
    above, tied = count > limit, count == limit
    return np.where(above, 1.0, tied * ((k - above.sum()) / tied.sum()))


def density_distance(
    locations: LocationSet, true: TrajectorySet, reported: Sequences, granularity: int
) -> float:
    """Jensen-Shannon distance of the two densities: 0 if equal, 1 if nowhere alike."""
    check_same_shape(true, reported)
    cell = UnitSquare(locations).cells(granularity)
    first, second = (
        np.bincount(cell[each.locations], minlength=granularity**2) for each in (true, reported)
    )
    return jensen_shannon(first / first.sum(), second / second.sum())


def uniform_density_distance(
    locations: LocationSet, true: TrajectorySet, granularity: int
) -> float:
    """The floor of uniform answers and of a flat estimate: both are as dense as P itself."""
    cell = UnitSquare(locations).cells(granularity)
    density = np.bincount(cell[true.locations], minlength=granularity**2)
    public = np.bincount(cell, minlength=granularity**2)
    return jensen_shannon(density / density.sum(), public / public.sum())


def jensen_shannon(first: Floats, second: Floats) -> float:
    """The square root of the Jensen-Shannon divergence in bits: a metric in [0, 1]."""
    middle = (first + second) / 2
    divergence = (_divergence_bits(first, middle) + _divergence_bits(second, middle)) / 2
    return float(np.sqrt(max(divergence, 0.0)))  # rounding may fall below zero


def _divergence_bits(first: Floats, second: Floats) -> float:
    seen = first > 0
    return float(np.sum(first[seen] * np.log2(first[seen] / second[seen])))


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
            f"{len(trajectories)} has 1",
            code="trajectories_of_one_point",
        )
