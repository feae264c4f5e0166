"""Does what runs follow the law? Fast paths sampled here, and the loss in words at full size.

The walk reads the reference program; many trajectories are drawn by a fast path beside it
(mechanisms/paths.py). So every trajectory of two points on a small map is drawn many times by
the path of this machine, from simulated words, and counted against the exact law of reports.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from nomadp.audit.loss import final_laws, number, told
from nomadp.audit.sampler import ALPHA, noncentrality
from nomadp.audit.walk import FirstBranch
from nomadp.budget import exp_lower
from nomadp.errors import BudgetError
from nomadp.extras import EXTRAS
from nomadp.geometry import Floats
from nomadp.laws import Channel, Exponential, Ints
from nomadp.mechanisms.base import Mechanism
from nomadp.mechanisms.fast.limits import TABLE_LIMIT, tables_up_to
from nomadp.mechanisms.paths import NUMBA, REFERENCE, fastest, perturb_many
from nomadp.randomness import SimulatedWords
from nomadp.trajectory import TrajectorySet

__all__ = [
    "FullSizeRow",
    "PathRow",
    "check_full_size",
    "check_path",
    "large_path_rows",
    "path_rows",
]

LENGTH = 2
_LARGE = f"{NUMBA}, above {TABLE_LIMIT:,} locations"


@dataclass(frozen=True)
class PathRow:
    """One path by which a mechanism draws, and what was seen of it."""

    mechanism: str
    path: str
    seen: str
    """Walked, sampled, or why it was not seen."""
    epsilon: Fraction | None = None
    draws: int = 0
    """Of each of the trajectories on the map."""
    chi_square: float = 0.0
    """Of the trajectory that fits worst."""
    limit: float = 0.0
    loss_ruled_out: float = 0.0
    """A path that loses more would have been found with a probability of at least 0.99."""

    @property
    def ok(self) -> bool:
        return self.chi_square <= self.limit

    def as_dict(self) -> dict[str, Any]:
        seen = {
            "mechanism": self.mechanism,
            "path": self.path,
            "seen": self.seen,
            "ok": self.ok,
        }
        if self.epsilon is None:
            return seen
        return seen | {
            "epsilon": str(self.epsilon),
            "draws": self.draws,
            "chi_square": number(self.chi_square),
            "limit": round(self.limit, 3),
            "loss_ruled_out": number(self.loss_ruled_out),
        }


def path_rows(small: Sequence[Mechanism], draws: int) -> list[PathRow]:
    """The paths of one mechanism, given at each of its epsilons on a small map."""
    name, path = small[0].name, fastest(small[0])
    rows = [PathRow(name, REFERENCE, "walked")]
    if path != REFERENCE and (lacking := _lacking(path)):
        rows.append(PathRow(name, path, f"not seen: {lacking} is not installed here"))
    elif path != REFERENCE:
        rows += [check_path(one, path, draws) for one in small]
    return rows


def large_path_rows(small: Sequence[Mechanism], draws: int) -> list[PathRow]:
    """The path of large sets, where there is another one; not seen without draws."""
    name = small[0].name
    with tables_up_to(0):
        if fastest(small[0]) != NUMBA:
            return []
        if lacking := _lacking(NUMBA):
            return [PathRow(name, _LARGE, f"not seen: {lacking} is not installed here")]
        if not draws:
            return [PathRow(name, _LARGE, "not seen: a thorough audit compiles and sees it")]
        return [check_path(one, _LARGE, draws) for one in small]


def _lacking(path: str) -> str:
    """What it takes to run and judge a path, and is not there."""
    needed = ("fast", "analysis") if path == NUMBA else ("analysis",)
    return " and ".join(EXTRAS[name].package for name in needed if not EXTRAS[name].is_there)


def check_path(mechanism: Mechanism, path: str, draws: int) -> PathRow:
    """Draw every trajectory so often by this path, and compare with the exact law."""
    from scipy import stats  # an extra

    law = final_laws(mechanism, LENGTH)
    counts = _counts(mechanism, draws)
    impossible = np.where(counts > 0, math.inf, 0.0)
    expected = draws * law
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.where(law > 0, (counts - expected) ** 2 / expected, impossible)
    freedom = max(1, int(np.count_nonzero(law.any(axis=0))) - 1)
    alpha = ALPHA / len(law)
    return PathRow(
        mechanism=mechanism.name,
        path=path,
        seen="sampled",
        epsilon=mechanism.epsilon,
        draws=draws,
        chi_square=float(excess.sum(axis=1).max()),
        limit=float(stats.chi2.isf(alpha, freedom)),
        loss_ruled_out=_ruled_out(law[:, law.any(axis=0)], freedom, alpha, draws),
    )


def _counts(mechanism: Mechanism, draws: int) -> Ints:
    """How often each input (row) was reported as each row of entries (column)."""
    true = np.repeat(mechanism.inputs(LENGTH), draws, axis=1)
    names = tuple(map(str, range(true.shape[1])))
    hours = true[LENGTH] if mechanism.timed else None
    offsets = np.arange(len(names) + 1) * LENGTH
    several = TrajectorySet(offsets, true[:LENGTH].T.ravel(), names, hours=hours)
    words = SimulatedWords(0).bound_to(mechanism.identity)
    drawn = perturb_many(mechanism, several, words, fastest(mechanism)).locations
    entries = drawn.reshape(len(names), -1).T
    shape = (mechanism.report_size,) * len(entries)
    rows = np.ravel_multi_index(tuple(entries), shape).reshape(-1, draws)
    return np.stack([np.bincount(row, minlength=math.prod(shape)) for row in rows])


def _ruled_out(law: Floats, freedom: int, alpha: float, draws: int) -> float:
    """The largest loss of a path none of whose probabilities is off by what is detected.

    A probability p that is off by p r, whatever the others do, has a non-centrality of at
    least draws p r^2 / (1 - p). So a path that was not found has factors 1 + r at most.
    """
    enough = noncentrality(freedom, alpha)
    off = np.sqrt(enough * (1 - law) / (draws * law))
    with np.errstate(divide="ignore"):
        most = np.log(law) + np.log1p(off)
        least = np.log(law) + np.log1p(-np.minimum(off, 1.0))
    return float((most.max(axis=0) - least.min(axis=0)).max())


@dataclass(frozen=True)
class FullSizeRow:
    """What the laws of one mechanism can lose over a whole location set, counted in words."""

    mechanism: str
    epsilon: Fraction
    length: int
    locations: int
    loss: float
    """Of all draws together, if each were the worst that its law allows; 0 if refused."""
    flags: tuple[str, ...]
    refused: str = ""

    @property
    def ok(self) -> bool:
        return not self.flags

    def as_dict(self) -> dict[str, Any]:
        return {**told(self), "ok": self.ok}


def check_full_size(mechanism: Mechanism, length: int) -> FullSizeRow:
    """Closed forms, so that no trajectory is enumerated: any set of locations will do."""
    row = FullSizeRow(
        mechanism.name, mechanism.epsilon, length, len(mechanism.locations), 0.0, ()
    )
    met = FirstBranch()
    try:
        mechanism.perturb(np.zeros(length, dtype=np.int64), met)
    except BudgetError as refusal:
        return replace(row, refused=str(refusal))
    ratio, flags = Fraction(1), set()
    for _, channel in met.paid:
        one = _widest(channel).in_words
        if one is None or one > exp_lower(channel.share):
            flags.add("words")
        ratio *= one or 1
    if ratio > exp_lower(mechanism.epsilon):
        flags.add("words")
    loss = math.log(ratio.numerator) - math.log(ratio.denominator)
    return replace(row, loss=max(0.0, loss), flags=tuple(sorted(flags)))


def _widest(channel: Channel) -> Channel:
    """Over all locations: what was released on the way decides how many a domain holds."""
    if isinstance(channel, Exponential):
        return replace(channel, domain=np.arange(len(channel.locations)), disc=None)
    return channel
