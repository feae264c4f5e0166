"""Errors of visit counts, hotspots, density, flows and step lengths of reported trajectories.

Reported points are counted as they are, without correcting for the noise, as the paper does.
Each score comes with no-information baselines: the scores of a constant answer, of uniformly
random answers, or of the same count at every location. A trip goes from the first to the last
point of a trajectory, a step from one point to the next; trajectories of one point have
neither.
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
    "equal_counts_difference",
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

DISTANCE_BINS = 20_000
"""Bins up to the largest distance in which distances between all pairs are counted."""


def visit_counts(locations: LocationSet, trajectories: Sequences) -> Ints:
    """The number of points at every location, shape (n_locations,)."""
    return np.bincount(trajectories.locations, minlength=len(locations))


def count_difference(
    locations: LocationSet, true: TrajectorySet, reported: Sequences, share: float
) -> float:
    """ACD: mean absolute difference of visits, over the most visited ``share`` of locations."""
    check_same_shape(true, reported)
    count = visit_counts(locations, true)
    difference = np.abs(count - visit_counts(locations, reported))
    return float(difference[most_visited(count, share)].mean())


def equal_counts_difference(locations: LocationSet, true: TrajectorySet, share: float) -> float:
    """ACD of the baseline that gives every location the same count."""
    count = visit_counts(locations, true)
    equal = count.sum() / len(locations)
    return float(np.abs(count - equal)[most_visited(count, share)].mean())


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
    """The share of true hotspots among the k locations with the highest reported counts.

    A hotspot is any location visited at least as often as the k-th. Ties of reported counts
    are broken at random, and the result is the exact expectation over these choices.
    """
    check_same_shape(true, reported)
    k = min(k, len(locations))
    among_top = _probability_among_top(visit_counts(locations, reported), k)
    return float(among_top[_hotspots(locations, true, k)].sum() / k)


def uniform_hotspot_recall(locations: LocationSet, true: TrajectorySet, k: int) -> float:
    """The exact expectation for uniform answers, where all sets of k are equally likely."""
    return len(_hotspots(locations, true, min(k, len(locations)))) / len(locations)


def expected_deviation(count: Ints, draws: int, probability: Floats) -> Floats:
    """E|X - count| for X ~ Bin(draws, probability), exactly."""
    require("analysis")
    from scipy.special import bdtr  # slow to import, and only the baselines need it

    def cdf(value: Ints, trials: int) -> Floats:
        inside = bdtr(np.clip(value, 0, trials).astype(np.float64), trials, probability)
        return np.where(value < 0, 0.0, inside)

    # |X - c| = (X - c) + 2 (c - X)+, and E[(c - X)+] = c P(X <= c) - n p P(X' <= c - 1) because
    # x P(X = x) = n p P(X' = x - 1) for X' ~ Bin(n - 1, p).
    mean = draws * probability
    below = count * cdf(count, draws) - mean * cdf(count - 1, max(draws - 1, 0))
    return np.asarray(mean - count + 2 * below)


def _hotspots(locations: LocationSet, true: TrajectorySet, k: int) -> Ints:
    count = visit_counts(locations, true)
    return np.flatnonzero(count >= np.partition(count, -k)[-k])


def _probability_among_top(count: Ints, k: int) -> Floats:
    """The probability that each location is among the k highest counts."""
    kth = np.partition(count, -k)[-k]
    above, tied = count > kth, count == kth
    return np.where(above, 1.0, tied * ((k - above.sum()) / tied.sum()))


def density_distance(
    locations: LocationSet, true: TrajectorySet, reported: Sequences, granularity: int
) -> float:
    """Jensen-Shannon distance of the densities on a grid: 0 if equal, 1 if disjoint."""
    check_same_shape(true, reported)
    cell = UnitSquare(locations).cells(granularity)
    p, q = (
        np.bincount(cell[points.locations], minlength=granularity**2)
        for points in (true, reported)
    )
    return jensen_shannon(p / p.sum(), q / q.sum())


def uniform_density_distance(
    locations: LocationSet, true: TrajectorySet, granularity: int
) -> float:
    """The limit of `density_distance` for many uniform answers: the density of the locations.

    Unlike the other baselines, it is not the expectation at this number of answers.
    """
    cell = UnitSquare(locations).cells(granularity)
    density = np.bincount(cell[true.locations], minlength=granularity**2)
    public = np.bincount(cell, minlength=granularity**2)
    return jensen_shannon(density / density.sum(), public / public.sum())


def jensen_shannon(p: Floats, q: Floats) -> float:
    """The square root of the Jensen-Shannon divergence in bits: a metric in [0, 1].

    See Endres and Schindelin, "A new metric for probability distributions" (2003).
    """
    mixture = (p + q) / 2
    divergence = (_kl_bits(p, mixture) + _kl_bits(q, mixture)) / 2
    return float(np.sqrt(max(divergence, 0.0)))  # rounding may fall below zero


def _kl_bits(p: Floats, q: Floats) -> float:
    """The Kullback-Leibler divergence in bits; q must be positive where p is."""
    support = p > 0  # 0 log 0 = 0
    return float(np.sum(p[support] * np.log2(p[support] / q[support])))


def flow_error(
    locations: LocationSet, true: TrajectorySet, reported: Sequences, granularity: int
) -> float:
    """L1 distance of the origin-destination shares between cells: 0 if equal, at most 2."""
    check_same_shape(true, reported)
    cell = UnitSquare(locations).cells(granularity)
    flow, reported_flow = (
        _flows(trajectories, cell, granularity) for trajectories in (true, reported)
    )
    return float(np.abs(flow - reported_flow).sum() / flow.sum())


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
    length_km, reported_km = (
        np.sort(steps_km(locations, trajectories)) for trajectories in (true, reported)
    )
    # In one dimension the optimal transport between samples of equal size is in sorted order.
    return float(np.abs(length_km - reported_km).mean())


def uniform_step_error_km(locations: LocationSet, true: TrajectorySet) -> float:
    """The limit of `step_error_km` for many steps between uniformly random locations."""
    require("analysis")
    from scipy.stats import wasserstein_distance  # slow to import, and only this needs it

    length_km, weight = _pair_distances(locations)
    return float(wasserstein_distance(steps_km(locations, true), length_km, None, weight))


def steps_km(locations: LocationSet, trajectories: Sequences) -> Floats:
    """The length of every step, one trajectory after another."""
    _check_moving(trajectories)
    has_next = np.ones(len(trajectories.locations), dtype=bool)
    has_next[trajectories.offsets[1:] - 1] = False  # the last point of each trajectory
    start = np.flatnonzero(has_next)
    return locations.distances_between_km(
        trajectories.locations[start], trajectories.locations[start + 1]
    )


def _flows(trajectories: Sequences, cell: Ints, granularity: int) -> Ints:
    """The number of trips from each cell to each cell, as a flattened matrix."""
    _check_moving(trajectories)
    moving = trajectories.lengths > 1
    origin = cell[trajectories.locations[trajectories.offsets[:-1][moving]]]
    destination = cell[trajectories.locations[trajectories.offsets[1:][moving] - 1]]
    cells = granularity**2
    return np.bincount(origin * cells + destination, minlength=cells**2)


def _pair_distances(locations: LocationSet) -> tuple[Floats, Floats]:
    """Binned distances between all ordered pairs (including equal ones), and their counts.

    Rounding to bins moves a distance by at most half a bin, and so the Wasserstein distance.
    """
    width_km = locations.diameter_km / DISTANCE_BINS or 1.0
    count = np.zeros(DISTANCE_BINS + 1, dtype=np.int64)
    # Row by row: a table of all pairs may not fit in memory.
    for i in range(len(locations)):
        distance_bin = np.rint(locations.distances_km(i) / width_km).astype(np.int64)
        count += np.bincount(distance_bin, minlength=DISTANCE_BINS + 1)
    occupied = np.flatnonzero(count)
    return np.asarray(occupied * width_km), count[occupied].astype(np.float64)


def _check_moving(trajectories: Sequences) -> None:
    if not (trajectories.lengths > 1).any():
        raise DomainError(
            "trips and steps need a trajectory of at least 2 points, but each of "
            f"the {len(trajectories)} has 1",
            code="trajectories_of_one_point",
        )
