"""What an epsilon buys on a map, in kilometres, before anybody has sent anything.

Simulated on walks of the public recipe, never on anybody's trajectories, so asking costs no
privacy. The same question gets the same answer: walks and noise come from a fixed seed. Walks
are not people; what real reports will be worth depends on where people go. Asked the other way
round, the epsilon that reaches a goal is searched on a grid by halving, which takes for granted
that more epsilon does not make answers worse.
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
from nomadp.mechanisms.paths import perturb_many
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
"""A longer public track is straight between so many points of a walk."""
RADII_KM = (0.5, 1.0, 2.0, 5.0)
RADIUS_SHARES = (0.02, 0.05, 0.1, 0.2)
"""Of the largest distance, on sets so small that the radii in km would hold all of them."""
STEP = Fraction(1, 10)
STEPS = int(MAX_EPSILON / STEP)
ROUNDS = STEPS.bit_length() + 1
"""Simulations a search takes at most."""
_AT_ONCE = 250  # walks perturbed between two signs of progress


@dataclass(frozen=True)
class Quality:
    """How good one kind of answer is on average, with the standard errors of simulating."""

    error_km: float
    error_deviation_km: float
    normalised_error: float
    within_percent: tuple[float, ...]
    """Of points, within each of the radii."""
    within_deviation: tuple[float, ...]


@dataclass(frozen=True)
class Utility:
    """What reports of one mechanism are worth on public walks of one length."""

    length: int
    walks: int
    diameter_km: float
    radii_km: tuple[float, ...]
    answers: dict[str, Quality]
    """Best first: decoded (where it can be), reported, without noise (of long tracks read
    through control points), and constant, which is what no information gives."""

    @property
    def best(self) -> Quality:
        """Of the answers that were made from reports."""
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
                "a percentage of points must come with the radius that holds them",
                code="goal_without_radius",
            )

    @property
    def radii_km(self) -> tuple[float, ...]:
        return () if self.within_km is None else (self.within_km,)

    def is_reached(self, quality: Quality) -> bool:
        """By a quality that was measured at the goal's own radius."""
        if self.error_km is not None:
            return quality.error_km <= self.error_km
        return self.percent is not None and quality.within_percent[0] >= self.percent

    def as_dict(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Needed:
    """The answer: an epsilon of the grid, none at all, or none that is large enough."""

    verdict: Literal["found", "not needed", "out of reach"]
    epsilon: Fraction | None
    at: Utility
    """At that epsilon; at the largest one where none was found or needed."""
    below: Utility | None = None
    """One step below, where the goal is missed."""


def simulate_utility(
    mechanism: Mechanism,
    length: int,
    radii_km: Sequence[float] = RADII_KM,
    *,
    walks: int = WALKS,
    progress: Progress | None = None,
) -> Utility:
    """What the epsilon of ``mechanism`` buys: public tracks reported, decoded, compared in km.

    ``length`` is the number of points of a track, ``radii_km`` those within which answers are
    counted, ``walks`` how many tracks are simulated. ``answers`` holds what is decoded and
    reported, beside the best constant, which is what no information gives. The same question
    gets the same answer, and no trajectory of anybody is read. ``progress`` is told how many
    more walks are done.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=1)
    >>> brr = nomadp.make_mechanism("brr", city.locations, epsilon=8)
    >>> bought = nomadp.simulate_utility(brr, length=2, walks=100)
    >>> bought.best.error_km < bought.answers["constant"].error_km
    True
    """
    if mechanism.is_oracle:
        raise DomainError(
            f"an error in km is one of journeys, and {mechanism.name} asks a direct question, "
            "whose error is one of shares; leave out the locations, or use atlas",
            code="frequency_oracle_unsupported",
            mechanism=mechanism.name,
        )
    locations = mechanism.locations
    true = public_tracks(locations, length, walks)
    found = _answers(mechanism, true, length, _reported(mechanism, true, progress))
    return Utility(
        length,
        walks,
        locations.diameter_km,
        tuple(map(float, radii_km)),
        {name: _quality(locations, true, there, radii_km) for name, there in found.items()},
    )


def needed_epsilon(
    mechanism: Mechanism, length: int, goal: Goal, progress: Progress | None = None
) -> Needed:
    """The smallest epsilon of the grid at which the best answer reaches the goal.

    The mechanism's own epsilon is not used.
    """

    def at(step: int) -> Utility:
        tried = mechanism.with_params(epsilon=STEP * step)
        found = simulate_utility(tried, length, goal.radii_km)
        if progress is not None:
            progress(1)
        return found

    above = at(STEPS)
    if goal.is_reached(above.answers["constant"]):
        return Needed("not needed", None, above)
    if not goal.is_reached(above.best):
        return Needed("out of reach", None, above)
    missed, reached, below = 0, STEPS, None
    while reached - missed > 1:
        middle = (missed + reached) // 2
        found = at(middle)
        if goal.is_reached(found.best):
            reached, above = middle, found
        else:
            missed, below = middle, found
    return Needed("found", STEP * reached, above, below)


def _answers(
    mechanism: Mechanism, true: TrajectorySet, length: int, reported: Ints
) -> dict[str, Ints]:
    """What may be answered for every point, best first."""
    found: dict[str, Ints] = {}
    if can_decode(mechanism):
        rows = Sequences(true.offsets, reported, true.tids)
        made = reports_as(Header.made_by(mechanism), mechanism.locations, rows)
        found["decoded"] = decode(mechanism, made).locations
    found["reported"] = reported
    if isinstance(mechanism, Atlas) and length > mechanism.points_seen(length):
        found["without noise"] = _through_control_points(mechanism, true, length)
    found["constant"] = np.full(len(reported), mechanism.locations.medoid)
    return found


def public_tracks(locations: LocationSet, length: int, count: int) -> TrajectorySet:
    """Walks of the public recipe; a long one is straight between its `TURNS` turning points."""
    turns = min(length, TURNS)
    walks = public_walks(locations, turns, count, "calibration").astype(np.int64)
    rows = interpolated(locations, walks.T, length).T
    return TrajectorySet.from_lists(list(rows), size=len(locations))


def default_radii_km(locations: LocationSet) -> tuple[float, ...]:
    """Radii that tell something on this map."""
    widest_km = locations.diameter_km
    if not 0 < widest_km < 2 * RADII_KM[-1]:
        return RADII_KM
    return tuple(float(f"{share * widest_km:.2g}") for share in RADIUS_SHARES)


def _reported(mechanism: Mechanism, true: TrajectorySet, progress: Progress | None) -> Ints:
    # Not bound to the identity: the same words at every epsilon make answers comparable.
    randomness = SeededRandom(0).bound_to(f"calibration/{mechanism.name}")
    pieces = []
    for start in range(0, len(true), _AT_ONCE):
        some = true.select(range(start, min(start + _AT_ONCE, len(true))))
        pieces.append(perturb_many(mechanism, some, randomness.named(some.tids)).locations)
        if progress is not None:
            progress(len(some))
    return np.concatenate(pieces)


def _through_control_points(mechanism: Atlas, true: TrajectorySet, length: int) -> Ints:
    """The tracks as they would come back if their control points were reported truly."""
    rows = true.locations.reshape(-1, length)
    control = rows[:, control_positions(length, mechanism.points_seen(length))]
    back = interpolated(mechanism.locations, control.T, length).T
    return np.asarray(back, dtype=np.int64).reshape(-1)


def _quality(
    locations: LocationSet, true: TrajectorySet, there: Ints, radii_km: Sequence[float]
) -> Quality:
    answer = TrajectorySet(true.offsets, there, true.tids)
    error_km = error_km_each(locations, true, answer)
    within = [within_percent_each(locations, true, answer, radius) for radius in radii_km]
    return Quality(
        float(error_km.mean()),
        _deviation(error_km),
        normalised(locations, float(error_km.mean())),
        tuple(float(each.mean()) for each in within),
        tuple(map(_deviation, within)),
    )


def _deviation(each: Any) -> float:
    """The standard error of a mean over independent walks."""
    return float(each.std(ddof=1) / np.sqrt(len(each))) if len(each) > 1 else 0.0
