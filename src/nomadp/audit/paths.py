"""Tests of fast paths against the exact law, and bounds of the loss at full size.

The exact audit covers the reference program. Many trajectories are drawn by a fast path beside
it (mechanisms/dispatch.py), which cannot be enumerated. Paths that use random words as the
reference does are compared with it, report by report (compared.py). For the others, every
trajectory of each length on a small map is perturbed many times with simulated randomness, and
the counts of reports are tested against the exact law (bounds.py).

A bound at full size does not enumerate trajectories. It multiplies the worst ratio of each law
of one path, which closed forms give for any number of locations.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from nomadp.audit.bounds import leaked_share, loss_missed, loss_of_leak, p_value
from nomadp.audit.compared import Comparison, compare
from nomadp.audit.loss import as_json, final_laws, json_loss
from nomadp.audit.sampler import ALPHA
from nomadp.audit.walk import FirstBranch
from nomadp.budget import exp_lower
from nomadp.errors import BudgetError
from nomadp.extras import EXTRAS
from nomadp.laws import Channel, Exponential, Ints
from nomadp.mechanisms.base import Mechanism
from nomadp.mechanisms.dispatch import (
    NUMBA,
    REFERENCE,
    fastest,
    is_bit_for_bit,
    perturb_many,
)
from nomadp.mechanisms.fast.limits import TABLE_LIMIT, tables_up_to
from nomadp.randomness import SeededRandom
from nomadp.trajectory import TrajectorySet

__all__ = [
    "NOT_TESTED",
    "FullSizeRow",
    "PathRow",
    "Sampling",
    "check_full_size",
    "check_path",
    "large_path_rows",
    "path_rows",
]

NOT_TESTED = "not tested"
_LARGE = f"{NUMBA}, above {TABLE_LIMIT:,} locations"


@dataclass(frozen=True)
class Sampling:
    """The amounts of the tests of fast paths."""

    lengths: tuple[int, ...]
    draws: int
    """Reports of each path at each epsilon and length, divided evenly among all inputs."""
    compared: int
    """Reports of each path that are compared with the reference's, at each epsilon."""
    seed: int


@dataclass(frozen=True)
class PathRow:
    """One path by which a mechanism draws, and the result of its test."""

    mechanism: str
    path: str
    seen: str
    """How it was tested (walked, compared or sampled), or why it was not."""
    epsilon: Fraction | None = None
    length: int | None = None
    """The length of the sampled trajectories; compared ones have many lengths."""
    reports: int = 0
    p_value: float = 1.0
    """If sampled: the p-value of the exact binomial tests of all counts together."""
    differing: int = 0
    """If compared: the number of reports that differ from the reference's."""
    leak_missed: float = 0.0
    """The largest share of leaked (or differing) reports that could have been missed. A larger
    one is detected with probability 0.99."""
    loss_missed: float | None = None
    """The largest loss that could have been missed. For compared paths, the loss of a path that
    leaks ``leak_missed`` of its reports."""

    @property
    def ok(self) -> bool:
        return self.p_value > ALPHA and not self.differing

    def as_dict(self) -> dict[str, Any]:
        row = {
            "mechanism": self.mechanism,
            "path": self.path,
            "seen": self.seen,
            "ok": self.ok,
        }
        if self.epsilon is None:
            return row
        row |= {"epsilon": str(self.epsilon), "reports": self.reports}
        row |= {"leak_missed": json_loss(self.leak_missed)}
        row |= {"loss_missed": json_loss(self.loss_missed or 0.0)}
        if self.seen == "compared":
            return row | {"differing": self.differing}
        return row | {"length": self.length, "p_value": float(f"{self.p_value:.2g}")}


def path_rows(small: Sequence[Mechanism], sampling: Sampling) -> list[PathRow]:
    """Test the paths of one mechanism, given at each of its epsilons on a small map."""
    name, path = small[0].name, fastest(small[0])
    rows = [PathRow(name, REFERENCE, "walked")]
    if path == REFERENCE:
        return rows
    if is_bit_for_bit(small[0]):
        rows += [_compare_path(mechanism, path, sampling) for mechanism in small]
        # Laws of frequency oracles have a `draw` of their own, which the exact audit does not
        # execute. Sampling their fast path covers the reference, whose reports it returns.
        if not small[0].is_oracle:
            return rows
    if packages := _missing_packages(path):
        return [*rows, PathRow(name, path, f"{NOT_TESTED}: {packages} is not installed")]
    return rows + [
        check_path(mechanism, path, length, sampling)
        for mechanism in small
        for length in sampling.lengths
    ]


def large_path_rows(small: Sequence[Mechanism], sampling: Sampling) -> list[PathRow]:
    """Test the path of sets too large for tables, if the mechanism has another one for them."""
    name = small[0].name
    with tables_up_to(0):  # now even a small map is drawn by that path
        if fastest(small[0]) != NUMBA:
            return []
        if packages := _missing_packages(NUMBA):
            return [PathRow(name, _LARGE, f"{NOT_TESTED}: {packages} is not installed")]
        if not sampling.draws:  # numba takes long to compile it
            return [PathRow(name, _LARGE, f"{NOT_TESTED}: use --thorough")]
        return [
            check_path(mechanism, _LARGE, length, sampling)
            for mechanism in small
            for length in sampling.lengths
        ]


def _missing_packages(path: str) -> str:
    """The packages that running and testing a path needs and that are not installed."""
    needed = ("fast", "analysis") if path == NUMBA else ("analysis",)
    return " and ".join(EXTRAS[name].package for name in needed if not EXTRAS[name].is_there)


def _compare_path(mechanism: Mechanism, path: str, sampling: Sampling) -> PathRow:
    comparison: Comparison = compare(
        mechanism, sampling.lengths, sampling.compared, sampling.seed
    )
    laws = (final_laws(mechanism, length) for length in sampling.lengths)
    share = comparison.share_missed
    return PathRow(
        mechanism=mechanism.name,
        path=path,
        seen="compared",
        epsilon=mechanism.epsilon,
        reports=comparison.reports,
        differing=comparison.differing,
        leak_missed=share,
        loss_missed=max(loss_of_leak(law[:, law.any(axis=0)], share) for law in laws),
    )


def check_path(mechanism: Mechanism, path: str, length: int, sampling: Sampling) -> PathRow:
    """Perturb every trajectory of this length by this path, and test the exact law."""
    law = final_laws(mechanism, length)
    draws = max(1, sampling.draws // len(law))
    counts = _counts(mechanism, length, draws, sampling.seed)
    # Keep reports that are impossible by law if they occurred: their p-value is 0.
    is_possible = law.any(axis=0) | counts.any(axis=0)
    law, counts = law[:, is_possible], counts[:, is_possible]
    # The event that a leak of the truth raises most: the report is likelier under its own input
    # than on average. Pooled over all inputs, it detects leaks that no single count shows.
    likelier = np.asarray(law > law.mean(axis=0), dtype=float)
    return PathRow(
        mechanism=mechanism.name,
        path=path,
        seen="sampled",
        epsilon=mechanism.epsilon,
        length=length,
        reports=draws * len(law),
        p_value=p_value(counts, law, likelier),
        leak_missed=leaked_share(law, likelier, draws),
        loss_missed=loss_missed(law[:, law.any(axis=0)], draws),
    )


def _counts(mechanism: Mechanism, length: int, draws: int, seed: int) -> Ints:
    """The number of times that each input (row) was reported as each report (column)."""
    true = np.repeat(mechanism.inputs(length), draws, axis=1)
    names = tuple(map(str, range(true.shape[1])))
    hours = true[length] if mechanism.timed else None
    offsets = np.arange(len(names) + 1) * length
    trajectories = TrajectorySet(offsets, true[:length].T.ravel(), names, hours=hours)
    randomness = SeededRandom(seed).bound_to(f"{mechanism.identity} {length}")
    drawn = perturb_many(mechanism, trajectories, randomness, fastest(mechanism)).locations
    entries = drawn.reshape(len(names), -1).T
    # The same codes of reports as in `final_laws`.
    shape = (mechanism.report_size,) * len(entries)
    code = np.ravel_multi_index(tuple(entries), shape).reshape(-1, draws)
    return np.stack([np.bincount(row, minlength=math.prod(shape)) for row in code])


@dataclass(frozen=True)
class FullSizeRow:
    """An upper bound of the loss of one mechanism over a location set of any size."""

    mechanism: str
    epsilon: Fraction
    length: int
    locations: int
    loss: float
    """The loss of all draws together, if each loses as much as its law allows; 0 if refused."""
    flags: tuple[str, ...]
    refused: str = ""
    """The error of a mechanism that refuses to draw, because 64-bit words are too coarse."""

    @property
    def ok(self) -> bool:
        return not self.flags

    def as_dict(self) -> dict[str, Any]:
        return {**as_json(self), "ok": self.ok}


def check_full_size(mechanism: Mechanism, length: int) -> FullSizeRow:
    """Bound the loss of all draws of one path by the product of their worst ratios of words."""
    row = FullSizeRow(
        mechanism.name, mechanism.epsilon, length, len(mechanism.locations), 0.0, ()
    )
    # One path is enough: the shares on every path add up to epsilon (the exact audit checks it
    # on small maps), and the closed form of a law covers all its inputs and outputs.
    path = FirstBranch()
    try:
        mechanism.perturb(np.zeros(length, dtype=np.int64), path)
    except BudgetError as refusal:
        return replace(row, refused=str(refusal))
    ratio, flags = Fraction(1), set()
    for _, channel in path.private_draws:
        worst = _over_all_locations(channel).word_ratio
        if worst is None or worst > exp_lower(channel.share):
            flags.add("words")
        ratio *= worst or 1
    if ratio > exp_lower(mechanism.epsilon):
        flags.add("words")
    loss = math.log(ratio.numerator) - math.log(ratio.denominator)
    return replace(row, loss=max(0.0, loss), flags=tuple(sorted(flags)))


def _over_all_locations(channel: Channel) -> Channel:
    """The same law over the largest domain, as other paths may release other domains."""
    if isinstance(channel, Exponential):
        return replace(channel, domain=np.arange(len(channel.locations)), disc=None)
    return channel
