"""Dispatch: whether many trajectories are drawn by the reference program or by a fast path.

A mechanism has at most one fast path: a module beside its program, with the same law. It is
selected here by the mechanism's exact type, because a subclass may have another law. Numpy
paths run everywhere. Paths that need numba run only if it is installed and there are enough
trajectories to be worth loading it; otherwise the reference program runs. The path is part of a
job's description, because another path turns the same words into other reports.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from nomadp.errors import InvalidArgument
from nomadp.mechanisms.atlas import Atlas
from nomadp.mechanisms.base import Mechanism, Reported, report_one
from nomadp.mechanisms.fast.compiling import has_numba
from nomadp.mechanisms.fast.limits import has_tables
from nomadp.mechanisms.ngram.mechanism import Ngram
from nomadp.mechanisms.oracles import Ends, Starts, Trips, Visits
from nomadp.mechanisms.pivot.atp import AnchoredPivotSampling
from nomadp.mechanisms.pivot.tp import PivotSampling
from nomadp.mechanisms.points.brr import BipartiteResponse
from nomadp.mechanisms.points.exp import IndependentPoints
from nomadp.mechanisms.points.l_srr import StaircaseResponse
from nomadp.randomness import RandomSource
from nomadp.trajectory import TrajectorySet

__all__ = [
    "FAST",
    "FEW",
    "NUMBA",
    "NUMPY",
    "REFERENCE",
    "fastest",
    "is_bit_for_bit",
    "path_of",
    "perturb_many",
    "needs_numba",
]

REFERENCE, NUMPY, NUMBA = "reference", "numpy", "numba"
FEW = 512
"""The reference program draws fewer trajectories sooner than numba is loaded."""

FAST: dict[type[Mechanism], str] = {
    IndependentPoints: "nomadp.mechanisms.points.exp_batch",
    BipartiteResponse: "nomadp.mechanisms.points.ranked_batch",
    StaircaseResponse: "nomadp.mechanisms.points.ranked_batch",
    PivotSampling: "nomadp.mechanisms.pivot.batch",
    AnchoredPivotSampling: "nomadp.mechanisms.pivot.batch",
    Ngram: "nomadp.mechanisms.ngram.batch",
    Atlas: "nomadp.mechanisms.atlas.batch",
    **dict.fromkeys((Trips, Starts, Ends, Visits), "nomadp.mechanisms.oracles.batch"),
}
"""The module whose `draw_many` is the fast path of each mechanism that has one."""
_BIT_FOR_BIT = (Ngram, Atlas, Trips, Starts, Ends, Visits)
_TABLES = (BipartiteResponse, StaircaseResponse)  # numpy's, where their tables fit


def path_of(mechanism: Mechanism, count: int) -> str:
    """The path that draws ``count`` trajectories on this machine."""
    path = fastest(mechanism)
    if path == NUMBA and (count < FEW or not has_numba()):
        return REFERENCE
    return path


def needs_numba(mechanism: Mechanism, count: int) -> bool:
    """Whether the draw is slower only because numba is not installed."""
    return fastest(mechanism) == NUMBA and count >= FEW and not has_numba()


def perturb_many(
    mechanism: Mechanism,
    trajectories: TrajectorySet,
    randomness: RandomSource,
    path: str | None = None,
) -> Reported:
    """The reports of all trajectories; trajectory k draws from stream k of ``randomness``.

    ``randomness`` is bound to this mechanism alone. The default ``path`` is that of `path_of`.
    """
    trajectories.check_size(len(mechanism.locations))  # kernels do not check array bounds
    if not len(trajectories):
        return Reported(np.zeros(0, dtype=np.int64), None)
    chosen = path_of(mechanism, len(trajectories)) if path is None else path
    if chosen == REFERENCE:
        return _by_reference(mechanism, trajectories, randomness)
    if chosen != fastest(mechanism):
        raise InvalidArgument(
            f"{mechanism.name} has no {chosen} path for this set of locations",
            code="path_unavailable",
            mechanism=mechanism.name,
            path=chosen,
        )
    draw: Callable[..., Reported] = import_module(FAST[type(mechanism)]).draw_many
    return draw(mechanism, trajectories, randomness)


def fastest(mechanism: Mechanism) -> str:
    """The path for a large number of trajectories, if numba is installed."""
    kind: Any = type(mechanism)
    if kind not in FAST:
        return REFERENCE
    if mechanism.is_oracle or kind in (IndependentPoints, Ngram, Atlas):
        return NUMPY
    return NUMPY if kind in _TABLES and has_tables(mechanism.locations) else NUMBA


def is_bit_for_bit(mechanism: Mechanism) -> bool:
    """Whether its fast path draws the same reports as the reference from the same words."""
    return type(mechanism) in _BIT_FOR_BIT


def _hours(trajectories: TrajectorySet) -> list[Any]:
    """The hour of each trajectory, or None where it is unknown."""
    hours = trajectories.hours
    return [None] * len(trajectories) if hours is None else hours.tolist()


def _by_reference(
    mechanism: Mechanism, trajectories: TrajectorySet, randomness: RandomSource
) -> Reported:
    drawn = [
        report_one(mechanism, trajectories[k], randomness.stream(k), hour)
        for k, hour in enumerate(_hours(trajectories))
    ]
    numbers = [number for _, number in drawn if number is not None]
    locations = np.concatenate([np.asarray(places) for places, _ in drawn]).astype(np.int64)
    return Reported(locations, np.array(numbers, dtype=np.int64) if numbers else None)
