"""Does what runs follow the law? Fast paths are compared and sampled; the loss at full size.

The walk reads the reference program; many trajectories are drawn by a fast path beside it
(mechanisms/paths.py). Paths that spend words as the reference does are compared with it, report
by report (compared.py). And every trajectory of each length on a small map is drawn many times
by the path of this machine, from simulated words, and counted against the exact law of reports.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from nomadp.audit.bounds import leaked_share, loss_missed, loss_of_leak, p_value
from nomadp.audit.compared import Comparison, compare
from nomadp.audit.loss import final_laws, number, told
from nomadp.audit.sampler import ALPHA
from nomadp.audit.walk import FirstBranch
from nomadp.budget import exp_lower
from nomadp.errors import BudgetError
from nomadp.extras import EXTRAS
from nomadp.laws import Channel, Exponential, Ints
from nomadp.mechanisms.base import Mechanism
from nomadp.mechanisms.fast.limits import TABLE_LIMIT, tables_up_to
from nomadp.mechanisms.paths import (
    NUMBA,
    REFERENCE,
    fastest,
    is_bit_for_bit,
    perturb_many,
)
from nomadp.randomness import SeededRandom
from nomadp.trajectory import TrajectorySet

__all__ = [
    "FullSizeRow",
    "PathRow",
    "Sampling",
    "check_full_size",
    "check_path",
    "large_path_rows",
    "path_rows",
]

_LARGE = f"{NUMBA}, above {TABLE_LIMIT:,} locations"


@dataclass(frozen=True)
class Sampling:
    """How paths are looked at."""

    lengths: tuple[int, ...]
    draws: int
    """By each path at each epsilon and length, shared out evenly among all trajectories."""
    compared: int
    """Reports of each path that must equal the reference's, at each epsilon."""
    seed: int


@dataclass(frozen=True)
class PathRow:
    """One path by which a mechanism draws, and what was seen of it."""

    mechanism: str
    path: str
    seen: str
    """Walked, compared, sampled, or why it was not seen."""
    epsilon: Fraction | None = None
    length: int | None = None
    """Of the sampled trajectories; those that are compared have many lengths."""
    reports: int = 0
    p_value: float = 1.0
    """Of the exact binomial tests of all counts together, where it was sampled."""
    differing: int = 0
    """Reports that are not the reference's, where it was compared."""
    leak_missed: float = 0.0
    """The largest share of leaked (or different) reports that could have been missed: a
    larger one is found with a probability of 0.99."""
    loss_missed: float | None = None
    """The same of the loss: of sampled reports directly, of compared ones that of a path which
    leaks as many as could have been missed."""

    @property
    def ok(self) -> bool:
        return self.p_value > ALPHA and not self.differing

    def as_dict(self) -> dict[str, Any]:
        seen = {
            "mechanism": self.mechanism,
            "path": self.path,
            "seen": self.seen,
            "ok": self.ok,
        }
        if self.epsilon is None:
            return seen
        seen |= {"epsilon": str(self.epsilon), "reports": self.reports}
        seen |= {"leak_missed": number(self.leak_missed)}
        seen |= {"loss_missed": number(self.loss_missed or 0.0)}
        if self.seen == "compared":
            return seen | {"differing": self.differing}
        return seen | {"length": self.length, "p_value": float(f"{self.p_value:.2g}")}


def path_rows(small: Sequence[Mechanism], sampling: Sampling) -> list[PathRow]:
    """The paths of one mechanism, given at each of its epsilons on a small map."""
    name, path = small[0].name, fastest(small[0])
    rows = [PathRow(name, REFERENCE, "walked")]
    if path == REFERENCE:
        return rows
    if is_bit_for_bit(small[0]):
        rows += [_compared(one, path, sampling) for one in small]
        if not small[
            0
        ].is_oracle:  # whose laws draw by themselves: the reference is sampled, too
            return rows
    if lacking := _lacking(path):
        return [*rows, PathRow(name, path, f"not seen: {lacking} is not installed here")]
    return rows + [
        check_path(one, path, length, sampling) for one in small for length in sampling.lengths
    ]


def large_path_rows(small: Sequence[Mechanism], sampling: Sampling) -> list[PathRow]:
    """The path of large sets, where there is another one; not seen without draws."""
    name = small[0].name
    with tables_up_to(0):
        if fastest(small[0]) != NUMBA:
            return []
        if lacking := _lacking(NUMBA):
            return [PathRow(name, _LARGE, f"not seen: {lacking} is not installed here")]
        if not sampling.draws:
            return [PathRow(name, _LARGE, "not seen: a thorough audit compiles and sees it")]
        return [
            check_path(one, _LARGE, length, sampling)
            for one in small
            for length in sampling.lengths
        ]


def _lacking(path: str) -> str:
    """What it takes to run and judge a path, and is not there."""
    needed = ("fast", "analysis") if path == NUMBA else ("analysis",)
    return " and ".join(EXTRAS[name].package for name in needed if not EXTRAS[name].is_there)


def _compared(mechanism: Mechanism, path: str, sampling: Sampling) -> PathRow:
    found: Comparison = compare(mechanism, sampling.lengths, sampling.compared, sampling.seed)
    laws = (final_laws(mechanism, length) for length in sampling.lengths)
    share = found.share_missed
    return PathRow(
        mechanism=mechanism.name,
        path=path,
        seen="compared",
        epsilon=mechanism.epsilon,
        reports=found.reports,
        differing=found.differing,
        leak_missed=share,
        loss_missed=max(loss_of_leak(law[:, law.any(axis=0)], share) for law in laws),
    )


def check_path(mechanism: Mechanism, path: str, length: int, sampling: Sampling) -> PathRow:
    """Draw every trajectory of this length by this path, and compare with the exact law."""
    law = final_laws(mechanism, length)
    draws = max(1, sampling.draws // len(law))
    counts = _counts(mechanism, length, draws, sampling.seed)
    is_possible = law.any(axis=0) | counts.any(axis=0)
    law, counts = law[:, is_possible], counts[:, is_possible]
    telling = np.asarray(law > law.mean(axis=0), dtype=float)
    return PathRow(
        mechanism=mechanism.name,
        path=path,
        seen="sampled",
        epsilon=mechanism.epsilon,
        length=length,
        reports=draws * len(law),
        p_value=p_value(counts, law, telling),
        leak_missed=leaked_share(law, telling, draws),
        loss_missed=loss_missed(law[:, law.any(axis=0)], draws),
    )


def _counts(mechanism: Mechanism, length: int, draws: int, seed: int) -> Ints:
    """How often each input (row) was reported as each row of entries (column)."""
    true = np.repeat(mechanism.inputs(length), draws, axis=1)
    names = tuple(map(str, range(true.shape[1])))
    hours = true[length] if mechanism.timed else None
    offsets = np.arange(len(names) + 1) * length
    several = TrajectorySet(offsets, true[:length].T.ravel(), names, hours=hours)
    randomness = SeededRandom(seed).bound_to(f"{mechanism.identity} {length}")
    drawn = perturb_many(mechanism, several, randomness, fastest(mechanism)).locations
    entries = drawn.reshape(len(names), -1).T
    shape = (mechanism.report_size,) * len(entries)
    rows = np.ravel_multi_index(tuple(entries), shape).reshape(-1, draws)
    return np.stack([np.bincount(row, minlength=math.prod(shape)) for row in rows])


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
        one = _widest(channel).word_ratio
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
