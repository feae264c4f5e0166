"""Errors of reported trajectories, next to no-information baselines.

Pure functions of (true, reported), without randomness. All trajectories have the same weight,
whatever their length. The baselines put every score into context: they are the scores of
answers that ignore the data (the best constant, and a uniformly random location).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nomadp.errors import DomainError
from nomadp.geometry import Floats
from nomadp.locations import LocationSet
from nomadp.reports.table import AnyReports
from nomadp.sequences import Sequences
from nomadp.trajectory import TrajectorySet

__all__ = [
    "Evaluation",
    "Scores",
    "check_radii",
    "check_same_shape",
    "constant_answer",
    "error_km_each",
    "evaluate",
    "matched_by_tid",
    "normalised",
    "scores",
    "uniform_answer",
    "within_percent_each",
]


@dataclass(frozen=True)
class Scores:
    """The scores of one answer: of reports, or of a baseline."""

    error_km: float
    """The mean error in km. All trajectories have the same weight, whatever their length."""
    normalised_error: float
    """The mean error relative to the largest distance between two locations (NE)."""
    range_query: tuple[float, ...]
    """The percentage of points within each radius, in the given order."""


@dataclass(frozen=True)
class Evaluation:
    """The scores of a set of reports, with those of the no-information baselines."""

    trajectories: int
    """The number of trajectories."""
    points: int
    """The number of their points."""
    diameter_km: float
    """The largest distance between two locations, in km."""
    radii_km: tuple[float, ...]
    """The distances of ``range_query``."""
    measured: Scores
    """The scores of the reports."""
    constant: Scores
    """The scores of the baseline that always answers the medoid of the location set."""
    uniform: Scores
    """The expected scores of the baseline that answers uniformly random locations."""

    @property
    def answers(self) -> dict[str, Scores]:
        """The scores by name, in this order: reported, constant, uniform."""
        return {"reported": self.measured, "constant": self.constant, "uniform": self.uniform}

    def as_dict(self) -> dict[str, object]:
        return {
            "trajectories": self.trajectories,
            "points": self.points,
            "diameter_km": self.diameter_km,
            "scores": {name: self._row(scores) for name, scores in self.answers.items()},
        }

    def _row(self, scores: Scores) -> dict[str, object]:
        range_query = zip(self.radii_km, scores.range_query, strict=True)
        return {
            "normalised_error": scores.normalised_error,
            "error_km": scores.error_km,
            "range_query_percent": {f"{radius:g}": percent for radius, percent in range_query},
        }


def evaluate(
    locations: LocationSet, true: TrajectorySet, reported: Sequences, radii_km: Sequence[float]
) -> Evaluation:
    """Compare reported with true trajectories, and both with no-information baselines.

    Args:
        locations: The location set.
        true: The true trajectories.
        reported: The reported or decoded trajectories, in the same order and of the same
            lengths.
        radii_km: The distances for which the percentage of points within them is computed.

    Returns:
        The `Evaluation`: the mean error in km, the error relative to the largest distance, and
        the percentage of points within each distance. Besides the reports, it has the scores of
        two answers that ignore the data (``constant`` and ``uniform``).

    Raises:
        DomainError: The two sets do not match, or a distance is below 0.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=10)
    >>> exp = nomadp.make_mechanism("exp", city.locations, epsilon=4)
    >>> randomness = nomadp.SeededRandom(1)
    >>> reports = nomadp.perturb_set(exp, city.trajectories, randomness, keep_tids=True)
    >>> evaluation = nomadp.evaluate(city.locations, city.trajectories, reports, (1, 2))
    >>> evaluation.measured.error_km > 0 and evaluation.constant.error_km > 0
    True
    """
    check_radii(radii_km)
    measured = scores(locations, true, reported, radii_km)
    return Evaluation(
        trajectories=len(true),
        points=len(true.locations),
        diameter_km=locations.diameter_km,
        radii_km=tuple(map(float, radii_km)),
        measured=measured,
        constant=constant_answer(locations, true, radii_km),
        uniform=uniform_answer(locations, true, radii_km),
    )


def scores(
    locations: LocationSet,
    true: TrajectorySet,
    reported: Sequences,
    radii_km: Sequence[float] = (),
) -> Scores:
    """NE and PRQ of ``reported``, trajectory k against trajectory k.

    NE is the mean error of a trajectory relative to the largest distance in the set. PRQ is the
    mean percentage of its points that are reported within a radius.
    """
    distance_km = _point_errors_km(locations, true, reported)
    return _scores(locations, true, distance_km, [distance_km <= radius for radius in radii_km])


def error_km_each(locations: LocationSet, true: TrajectorySet, reported: Sequences) -> Floats:
    """The mean error in km of every trajectory."""
    return _mean_per_trajectory(true, _point_errors_km(locations, true, reported))


def within_percent_each(
    locations: LocationSet, true: TrajectorySet, reported: Sequences, radius_km: float
) -> Floats:
    """The percentage of every trajectory's points reported within ``radius_km``."""
    distance_km = _point_errors_km(locations, true, reported)
    return 100 * _mean_per_trajectory(true, (distance_km <= radius_km).astype(np.float64))


def constant_answer(
    locations: LocationSet, true: TrajectorySet, radii_km: Sequence[float] = ()
) -> Scores:
    """The baseline that always answers the medoid of the public set."""
    distance_km = locations.distances_km(locations.medoid)[true.locations]
    return _scores(locations, true, distance_km, [distance_km <= radius for radius in radii_km])


def uniform_answer(
    locations: LocationSet, true: TrajectorySet, radii_km: Sequence[float] = ()
) -> Scores:
    """The exact expectation of answering a uniformly random location of the public set."""
    # The expected error of a point depends on its location only, and expectations of means add
    # up, so no answers need to be drawn.
    visited, of_point = np.unique(true.locations, return_inverse=True)
    mean_km = np.empty(len(visited))
    share = np.empty((len(radii_km), len(visited)))
    # Row by row: a table of all visited against all locations need not fit in memory.
    for k, location in enumerate(visited.tolist()):
        row_km = locations.distances_km(location)
        mean_km[k] = row_km.mean()
        share[:, k] = [(row_km <= radius).mean() for radius in radii_km]
    return _scores(locations, true, mean_km[of_point], share[:, of_point])


def matched_by_tid(true: TrajectorySet, reported: Sequences) -> Sequences:
    """``reported`` in the order of ``true``; the two must have the same tids."""
    position = {tid: k for k, tid in enumerate(reported.names)}
    missing = sum(tid not in position for tid in true.tids)
    extra = len(reported) - (len(true) - missing)
    if missing or extra:
        raise DomainError(
            "reports must have the tids of the trajectories, but "
            f"{missing} of {len(true)} trajectories have no report and {extra} reports have no "
            "trajectory; reports with random ids cannot be compared, perturb with --keep-tids",
            code="tids_differ",
            missing=missing,
            extra=extra,
        )
    return reported.select([position[tid] for tid in true.tids])


def _scores(
    locations: LocationSet, true: TrajectorySet, distance_km: Floats, within: Iterable[Any]
) -> Scores:
    """Scores from the error of each point, and from which points are within each radius."""
    error_km = float(_mean_per_trajectory(true, distance_km).mean())
    hits = (_mean_per_trajectory(true, np.asarray(inside, np.float64)) for inside in within)
    range_query = tuple(100 * float(share.mean()) for share in hits)
    return Scores(error_km, normalised(locations, error_km), range_query)


def _point_errors_km(
    locations: LocationSet, true: TrajectorySet, reported: Sequences
) -> Floats:
    check_same_shape(true, reported)
    return locations.distances_between_km(true.locations, reported.locations)


def _mean_per_trajectory(true: TrajectorySet, per_point: Floats) -> Floats:
    # reduceat returns a wrong value for an empty slice, but no trajectory is empty.
    means: Floats = np.add.reduceat(per_point, true.offsets[:-1]) / true.lengths
    return means


def normalised(locations: LocationSet, error_km: float) -> float:
    """The error relative to the largest distance in the set."""
    # A set whose locations all coincide has no largest distance, and no error either.
    return error_km / locations.diameter_km if locations.diameter_km > 0 else 0.0


def check_radii(radii_km: Sequence[float]) -> None:
    invalid = [radius for radius in radii_km if not 0 <= radius < math.inf]
    if invalid:
        raise DomainError(
            f"a radius must be a number of km from 0, got {invalid[0]}",
            code="query_radius_out_of_range",
            radius_km=invalid[0],
        )


def check_same_shape(true: TrajectorySet, reported: Sequences) -> None:
    """Refuse reports that do not match these trajectories point by point."""
    if isinstance(reported, AnyReports) and reported.entry_size is not None:
        raise DomainError(
            "only reports of trajectories can be compared with trajectories, and "
            f"{reported.header.mechanism} is a frequency oracle",
            code="frequency_oracle_unsupported",
            mechanism=reported.header.mechanism,
        )
    if isinstance(reported, AnyReports) and not reported.header.linked:
        raise DomainError(
            "reports must be in the order of the trajectories, but these have random ids; for "
            "experiments, perturb with keep_tids=True",
            code="random_ids",
        )
    if len(true) == 0:
        raise DomainError(
            "there must be at least one trajectory to evaluate, got none",
            code="no_trajectories",
        )
    if len(true) != len(reported):
        raise DomainError(
            f"every trajectory must have one report, got {len(true)} trajectories and "
            f"{len(reported)} reports",
            code="report_count_differs",
            trajectories=len(true),
            reports=len(reported),
        )
    different = int((true.lengths != reported.lengths).sum())
    if different:
        raise DomainError(
            "a report must have as many points as its trajectory, but "
            f"{different} of {len(true)} do not; were they made from these trajectories?",
            code="lengths_differ",
            different=different,
        )
