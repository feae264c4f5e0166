"""How many trajectories at once are drawn: by the reference program, or by a fast path.

A mechanism has at most one fast path: a module beside its program, which follows the same law
and is found here by the mechanism's exact type (a subclass may have another law). Numpy paths
run everywhere. Those that need numba wait for it, and for enough trajectories to be worth
loading it; until then the reference program runs. Which path drew is part of a job: another
one spends the same words on other reports.
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
    "slowed",
]

REFERENCE, NUMPY, NUMBA = "reference", "numpy", "numba"
FEW = 512
"""Fewer trajectories are drawn by the reference sooner than numba is loaded."""

FAST: dict[type[Mechanism], str] = {
    IndependentPoints: "nomadp.mechanisms.points.exp_many",
    BipartiteResponse: "nomadp.mechanisms.points.ranked_many",
    StaircaseResponse: "nomadp.mechanisms.points.ranked_many",
    PivotSampling: "nomadp.mechanisms.pivot.many",
    AnchoredPivotSampling: "nomadp.mechanisms.pivot.many",
    Ngram: "nomadp.mechanisms.ngram.many",
    Atlas: "nomadp.mechanisms.atlas.many",
    **dict.fromkeys((Trips, Starts, Ends, Visits), "nomadp.mechanisms.oracles.many"),
}
"""The module whose `draw_many` is the fast path of each mechanism that has one."""
_BIT_FOR_BIT = (Ngram, Atlas, Trips, Starts, Ends, Visits)
_TABLES = (BipartiteResponse, StaircaseResponse)  # numpy's, where their tables fit


def path_of(mechanism: Mechanism, count: int) -> str:
    """The path that draws ``count`` trajectories on this machine."""
    wanted = fastest(mechanism)
    if wanted == NUMBA and (count < FEW or not has_numba()):
        return REFERENCE
    return wanted


def slowed(mechanism: Mechanism, count: int) -> bool:
    """Whether numba, which is not installed, would draw so many trajectories sooner."""
    return fastest(mechanism) == NUMBA and count >= FEW and not has_numba()


def perturb_many(
    mechanism: Mechanism,
    trajectories: TrajectorySet,
    randomness: RandomSource,
    path: str | None = None,
) -> Reported:
    """The reports of all trajectories; trajectory k draws from stream k of ``words``.

    ``words`` are bound to this mechanism alone. Without a ``path`` it is that of `path_of`.
    """
    trajectories.check_size(len(mechanism.locations))  # a kernel reads whatever it is told to
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
    """The path for a great many trajectories, where numba is installed."""
    kind: Any = type(mechanism)
    if kind not in FAST:
        return REFERENCE
    if mechanism.is_oracle or kind in (IndependentPoints, Ngram, Atlas):
        return NUMPY
    return NUMPY if kind in _TABLES and has_tables(mechanism.locations) else NUMBA


def is_bit_for_bit(mechanism: Mechanism) -> bool:
    """Whether its fast path gives the very reports that the reference draws from the words."""
    return type(mechanism) in _BIT_FOR_BIT


def _hours(trajectories: TrajectorySet) -> list[Any]:
    """The hour of each; None where nobody knows."""
    known = trajectories.hours
    return [None] * len(trajectories) if known is None else known.tolist()


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
