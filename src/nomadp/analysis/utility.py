"""The utility of an epsilon on a map, in kilometres, before anybody has sent a report.

Utility is simulated on public random-walk trajectories, never on people's trajectories, so it
uses no privacy budget. Walks and noise come from a fixed seed, so results are reproducible.
People do not move like random walks, so the utility of real reports may differ. The smallest
epsilon that reaches a goal is found by bisection on a grid, which assumes that a larger epsilon
does not increase the error.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from nomadp.analysis.metrics import error_km_each, normalised, within_percent_each
from nomadp.budget import MAX_EPSILON
from nomadp.errors import DomainError, InvalidArgument
from nomadp.inference import can_decode, decode
from nomadp.inference.empirical_bayes import Progress
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.mechanisms import Mechanism
from nomadp.mechanisms.atlas import Atlas
from nomadp.mechanisms.atlas.long import control_positions, interpolated
from nomadp.mechanisms.dispatch import perturb_many
from nomadp.randomness import SeededRandom
from nomadp.reports.header import Header
from nomadp.reports.table import reports_as
from nomadp.sequences import Sequences
from nomadp.trajectory import TrajectorySet
from nomadp.walks import public_walks

__all__ = [
    "ROUNDS",
    "STEP",
    "STEPS",
    "WALKS",
    "Goal",
    "Needed",
    "Quality",
    "Utility",
    "default_radii_km",
    "needed_epsilon",
    "public_tracks",
    "simulate_utility",
]

WALKS = 2000
TURNS = 16
"""The turning points of a longer public track, which is straight between them."""
RADII_KM = (0.5, 1.0, 2.0, 5.0)
RADIUS_SHARES = (0.02, 0.05, 0.1, 0.2)
"""Radii relative to the largest distance, for sets that the radii in km would contain whole."""
STEP = Fraction(1, 10)
STEPS = int(MAX_EPSILON / STEP)
ROUNDS = STEPS.bit_length() + 1
"""The most simulations of a search."""
_AT_ONCE = 250  # walks perturbed between two calls of ``progress``


@dataclass(frozen=True)
class Quality:
    """The mean error of one kind of answer, with standard errors of the simulation."""

    error_km: float
    """The mean error in km."""
    std_error_km: float
    """The standard error of ``error_km``."""
    normalised_error: float
    """The mean error relative to the largest distance between two locations."""
    within_percent: tuple[float, ...]
    """The percentage of points within each radius."""
    within_std_error: tuple[float, ...]
    """The standard error of each percentage."""


@dataclass(frozen=True)
class Utility:
    """The utility of one mechanism on public random-walk trajectories of one length."""

    length: int
    """The number of points of a trajectory."""
    walks: int
    """The number of simulated trajectories."""
    diameter_km: float
    """The largest distance between two locations, in km."""
    radii_km: tuple[float, ...]
    """The distances of ``within_percent``."""
    answers: dict[str, Quality]
    """The quality of each answer. In this order: decoded (if reports can be decoded), reported,
    without noise (if only control points are reported), and constant, the no-information
    baseline."""

    @property
    def best(self) -> Quality:
        """The best answer that uses reports."""
        return self.answers.get("decoded", self.answers["reported"])

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Goal:
    """A mean error of at most ``error_km``, or ``percent`` of points within ``within_km``."""

    error_km: float | None = None
    percent: float | None = None
    within_km: float | None = None

    def __post_init__(self) -> None:
        if (self.error_km is None) == (self.percent is None):
            raise InvalidArgument(
                "a goal must be either an error in km or a percentage of points",
                code="ambiguous_goal",
            )
        if (self.percent is None) != (self.within_km is None):
            raise InvalidArgument(
                "a percentage of points needs a radius, and a radius needs a percentage",
                code="goal_without_radius",
            )

    @property
    def radii_km(self) -> tuple[float, ...]:
        return () if self.within_km is None else (self.within_km,)

    def is_reached(self, quality: Quality) -> bool:
        """Whether a quality, measured at the goal's radius, reaches the goal."""
        if self.error_km is not None:
            return quality.error_km <= self.error_km
        return self.percent is not None and quality.within_percent[0] >= self.percent

    def as_dict(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Needed:
    """The result of a search: an epsilon of the grid, or why there is none."""

    verdict: Literal["found", "not needed", "out of reach"]
    epsilon: Fraction | None
    at: Utility
    """The utility at that epsilon, or at the largest one if none was found or needed."""
    below: Utility | None = None
    """The utility one step below, which misses the goal."""


def simulate_utility(
    mechanism: Mechanism,
    length: int,
    radii_km: Sequence[float] = RADII_KM,
    *,
    walks: int = WALKS,
    progress: Progress | None = None,
) -> Utility:
    """Simulate the utility of a mechanism on public random-walk trajectories.

    They are perturbed, decoded, and compared with the originals in km. The simulation is
    reproducible and reads no real trajectory.

    Args:
        mechanism: The mechanism.
        length: The number of points of a trajectory.
        radii_km: The distances for which the percentage of points within them is computed.
        walks: The number of trajectories.
        progress: Called with the number of trajectories finished since its last call.

    Returns:
        The `Utility`: the errors of decoded points, of reported points, and of the best
        constant answer, which is the no-information baseline.

    Raises:
        DomainError: The mechanism is a frequency oracle, whose errors are not distances.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=1)
    >>> brr = nomadp.make_mechanism("brr", city.locations, epsilon=8)
    >>> utility = nomadp.simulate_utility(brr, length=2, walks=100)
    >>> utility.best.error_km < utility.answers["constant"].error_km
    True
    """
    if mechanism.is_oracle:
        raise DomainError(
            f"errors in km need reports of trajectories, and {mechanism.name} is a frequency "
            "oracle, which reports none; leave out the locations, or use atlas",
            code="frequency_oracle_unsupported",
            mechanism=mechanism.name,
        )
    locations = mechanism.locations
    true = public_tracks(locations, length, walks)
    answers = _answers(mechanism, true, length, _reported(mechanism, true, progress))
    return Utility(
        length,
        walks,
        locations.diameter_km,
        tuple(map(float, radii_km)),
        {name: _quality(locations, true, points, radii_km) for name, points in answers.items()},
    )


def needed_epsilon(
    mechanism: Mechanism, length: int, goal: Goal, progress: Progress | None = None
) -> Needed:
    """The smallest epsilon of the grid at which the best answer reaches the goal.

    The mechanism's own epsilon is not used.
    """

    def at(step: int) -> Utility:
        candidate = mechanism.with_params(epsilon=STEP * step)
        utility = simulate_utility(candidate, length, goal.radii_km)
        if progress is not None:
            progress(1)
        return utility

    reached_at = at(STEPS)
    if goal.is_reached(reached_at.answers["constant"]):
        return Needed("not needed", None, reached_at)
    if not goal.is_reached(reached_at.best):
        return Needed("out of reach", None, reached_at)
    # Bisection keeps the invariant that the goal is missed at `missed` steps and reached at
    # `reached`. All simulations use the same walks and noise, which makes the comparison of two
    # epsilons more precise than the error of each.
    missed, reached, missed_at = 0, STEPS, None
    while reached - missed > 1:
        middle = (missed + reached) // 2
        utility = at(middle)
        if goal.is_reached(utility.best):
            reached, reached_at = middle, utility
        else:
            missed, missed_at = middle, utility
    return Needed("found", STEP * reached, reached_at, missed_at)


def _answers(
    mechanism: Mechanism, true: TrajectorySet, length: int, reported: Ints
) -> dict[str, Ints]:
    """The answers for every point, best first."""
    answers: dict[str, Ints] = {}
    if can_decode(mechanism):
        rows = Sequences(true.offsets, reported, true.tids)
        reports = reports_as(Header.made_by(mechanism), mechanism.locations, rows)
        answers["decoded"] = decode(mechanism, reports).locations
    answers["reported"] = reported
    if isinstance(mechanism, Atlas) and length > mechanism.n_control_points(length):
        answers["without noise"] = _through_control_points(mechanism, true, length)
    answers["constant"] = np.full(len(reported), mechanism.locations.medoid)
    return answers


def public_tracks(locations: LocationSet, length: int, count: int) -> TrajectorySet:
    """Public random walks; a long one is straight between its `TURNS` turning points."""
    turns = min(length, TURNS)
    walks = public_walks(locations, turns, count, "calibration").astype(np.int64)
    rows = interpolated(locations, walks.T, length).T
    return TrajectorySet.from_lists(list(rows), size=len(locations))


def default_radii_km(locations: LocationSet) -> tuple[float, ...]:
    """Radii that suit the size of this map."""
    widest_km = locations.diameter_km
    if not 0 < widest_km < 2 * RADII_KM[-1]:
        return RADII_KM
    return tuple(float(f"{share * widest_km:.2g}") for share in RADIUS_SHARES)


def _reported(mechanism: Mechanism, true: TrajectorySet, progress: Progress | None) -> Ints:
    # Not bound to the identity: common random numbers make epsilons comparable.
    randomness = SeededRandom(0).bound_to(f"calibration/{mechanism.name}")
    reported = []
    for start in range(0, len(true), _AT_ONCE):
        batch = true.select(range(start, min(start + _AT_ONCE, len(true))))
        reported.append(perturb_many(mechanism, batch, randomness.named(batch.tids)).locations)
        if progress is not None:
            progress(len(batch))
    return np.concatenate(reported)


def _through_control_points(mechanism: Atlas, true: TrajectorySet, length: int) -> Ints:
    """The tracks as interpolated from their true control points."""
    rows = true.locations.reshape(-1, length)
    control = rows[:, control_positions(length, mechanism.n_control_points(length))]
    tracks = interpolated(mechanism.locations, control.T, length).T
    return np.asarray(tracks, dtype=np.int64).reshape(-1)


def _quality(
    locations: LocationSet, true: TrajectorySet, points: Ints, radii_km: Sequence[float]
) -> Quality:
    answer = TrajectorySet(true.offsets, points, true.tids)
    error_km = error_km_each(locations, true, answer)
    within = [within_percent_each(locations, true, answer, radius) for radius in radii_km]
    return Quality(
        float(error_km.mean()),
        _std_error(error_km),
        normalised(locations, float(error_km.mean())),
        tuple(float(percent.mean()) for percent in within),
        tuple(map(_std_error, within)),
    )


def _std_error(values: Any) -> float:
    """The standard error of a mean over independent walks."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
