"""Shares of labels that people were asked for directly, at several resolutions at once.

A report supports the true label with one known chance and any other with another, so shares
are estimated without bias and with a variance that is known exactly. What is released is
drawn towards flat as far as chance demands, that in reports and that in who reports: from
coarse groups of labels to fine ones, the share of each is split among its parts (`splits.py`),
and labels that stand out get more (`standouts.py`). So it adds up to 1 and nothing is below 0,
an empty region costs nothing, and with many reports it comes near to what was counted.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nomadp.errors import DomainError, InvalidArgument
from nomadp.inference.estimate import Floats
from nomadp.inference.heavy_hitters import with_heavy_hitters
from nomadp.inference.intervals import share_interval
from nomadp.inference.shares import Shares
from nomadp.inference.shrinkage import posterior, unlearned
from nomadp.laws import Ints

__all__ = ["OracleShares", "Levels", "oracle_shares", "nearest_shares", "pair_levels"]

SURE = math.log(20)
"""Reports must be so many times likelier than if all were flat, or nothing is claimed."""
_LEAST = 1e-12
"""A group with less than this share is split as is public."""
COUNTED, STEEP = 0.5, 8
"""Once nearly all is kept, half of it is what was counted, which leaves empty zones empty."""


@dataclass(frozen=True, eq=False)
class OracleShares(Shares):
    """Shares of everybody, of whom those who reported are a random part.

    ``std_error`` is that of ``unbiased``: known, and more than that of ``values``.
    """

    unbiased: Floats
    variance_at_zero: Floats
    """The variance of ``unbiased`` by reports, where the share is 0."""
    variance_slope: Floats
    """How much more it is where the share is 1."""
    people: int
    """How many reported: the variance by that is share * (1 - share) / people."""

    def interval(self, level: float = 0.9) -> tuple[Floats, Floats]:
        """From where to where each share may be, around what is unbiased."""
        if len(self.unbiased) == 1:  # everybody is somewhere
            return self.unbiased, self.unbiased
        return share_interval(
            self.unbiased, self.variance_at_zero, self.variance_slope, level, self.people
        )


@dataclass(frozen=True, eq=False)
class Levels:
    """What is known of labels in public: ever finer groups of them, and how likely each is."""

    groups: tuple[Ints, ...]
    """A group number for each label, coarsest first; each level cuts up the one before."""
    baseline: Floats
    """What somebody without reports would say of each label."""
    target: Ints
    """Which share is asked for each label belongs to: each its own, or several together."""


def oracle_shares(
    support: Ints, total: int, true_chance: float, other_chance: float, levels: Levels
) -> OracleShares:
    """What ``total`` reports tell, of which ``support`` support each label."""
    _check(support, total, true_chance - other_chance, levels)
    target, gap = levels.target, true_chance - other_chance
    per_label = (support / total - other_chance) / gap
    unbiased = _sums(target, per_label)
    none, one = _variances(np.bincount(target), len(support), true_chance, other_chance)
    variance_at_zero, variance_slope = none / (total * gap**2), (one - none) / (total * gap**2)
    baseline = _sums(target, levels.baseline / levels.baseline.sum())
    noise = other_chance * (1 - other_chance) / (total * gap**2)
    # Who reports is a sample of those who are asked about, however exact the reports are.
    more = (1 - true_chance - other_chance) / (total * gap) + 1 / total
    split = _split_down(per_label, levels, noise, more)
    split = with_heavy_hitters(split, unbiased, (variance_at_zero, variance_slope + 1 / total))
    moved, said = split - baseline, unbiased - baseline
    shrinkage_weight = float(np.clip(moved @ said / max(float(said @ said), _LEAST), 0, 1))
    counted = COUNTED * shrinkage_weight**STEEP
    values = (1 - counted) * split + counted * nearest_shares(unbiased)
    variance = variance_at_zero + variance_slope * values + values * (1 - values) / total
    std_error = np.sqrt(np.maximum(variance, 0.0))
    return OracleShares(
        values,
        std_error,
        baseline,
        shrinkage_weight,
        unbiased,
        variance_at_zero,
        variance_slope,
        total,
    )


def nearest_shares(values: Floats) -> Floats:
    """The nearest shares (Euclidean) that add up to 1, none below 0: less the same for all."""
    order = np.sort(values)[::-1]
    less = (np.cumsum(order) - 1) / np.arange(1, len(order) + 1)
    found: Floats = np.maximum(values - less[np.flatnonzero(order > less)[-1]], 0.0)
    return found


def pair_levels(levels: Sequence[Ints], apart: Ints) -> tuple[Ints, ...]:
    """Ever finer groups of pairs of zones, from those of zones; pair ``i * zones + j``.

    First by a public class of how far they are ``apart``, (zones, zones): near ones are alike.
    Then by where they begin and where they end, in turn.
    """
    zones = len(apart)
    start, end = np.divmod(np.arange(zones**2), zones)
    found = [_numbered(apart.reshape(-1))]
    for level in (*levels, np.arange(zones)):
        for side in (start, end):
            found.append(_numbered(found[-1] * zones + level[side]))
    return tuple(found)


def _sums(group: Ints, values: Floats) -> Floats:
    return np.bincount(group, values).astype(np.float64)


def _numbered(group: Ints) -> Ints:
    _, number = np.unique(group, return_inverse=True)
    return number.astype(np.int64)


def _variances(labels: Ints, size: int, p: float, q: float) -> tuple[Floats, Floats]:
    """Of how many of so many labels a report supports, without and with the true one.

    Exact for one label, and for several under subset selection, where how many labels a report
    supports is always the same; under projective response it is so on average over groups.
    """
    held = p + (size - 1) * q
    with_true = p * (held - 1) / max(size - 1, 1) - p * q
    two_others = (held - 1) * (held - 2 * p) / max((size - 1) * (size - 2), 1) - q * q
    others = labels - 1
    none = labels * (q * (1 - q) + others * two_others)
    one = p * (1 - p) + others * (q * (1 - q) + 2 * with_true + (others - 1) * two_others)
    return np.maximum(none, 0.0), np.maximum(one, 0.0)


class _Cut(NamedTuple):
    """How one level cuts up the groups of the one before."""

    parent: Ints
    public: Floats
    expected: Floats
    free: int
    """Splits that do not follow from others."""


def _split_down(unbiased: Floats, levels: Levels, noise: float, more: float) -> Floats:
    """The shares that are asked for: each group's is split among its parts, coarse to fine.

    Labels err independently of each other, but for what is known of their group's share.
    """
    above, share = np.zeros(len(unbiased), dtype=np.int64), np.ones(1)
    spread, told, cuts = unlearned(), 0.0, []
    for level in (*levels.groups, levels.target):
        _, first, group = np.unique(level, return_index=True, return_inverse=True)
        parent = above[first]
        if not np.array_equal(parent[group], above):
            raise InvalidArgument(
                "every level must cut up the groups of the one before", code="levels_not_nested"
            )
        found, public = _sums(group, unbiased), _sums(group, levels.baseline)
        public /= _sums(parent, public)[parent]
        expected, whole = public.copy(), share[parent]
        variance = np.maximum(np.bincount(group) * noise + more * whole * public, _LEAST**2)
        part_of = variance / _sums(parent, variance)[parent]
        found += part_of * (whole - _sums(parent, found)[parent])
        variance *= 1 - part_of
        parts = np.bincount(parent)[parent]
        cut = np.flatnonzero((parts > 1) & (whole > _LEAST))
        if len(cut):
            scale = whole[cut]
            expected[cut], spread, gain = posterior(
                found[cut] / scale, variance[cut] / scale**2, public[cut], spread
            )
            told += float(gain @ (1 - 1 / parts[cut]))  # one follows
            expected /= _sums(parent, expected)[parent]
        cuts.append(_Cut(parent, public, expected, len(cut) - len(np.unique(parent[cut]))))
        share, above = whole * expected, group
    if told <= SURE:
        return _sums(levels.target, levels.baseline / levels.baseline.sum())
    return _believed(cuts, told)


def _believed(cuts: list[_Cut], told: float) -> Floats:
    """Shares drawn towards what is public, by as much as chance would tell of each level.

    If all splits are public, one of n still seems some n times likelier than that (the largest
    of n exponential variables); where all that is told is hardly more, little is believed.
    """
    share = np.ones(1)
    for cut in cuts:
        shrinkage_weight = max(0.0, 1 - math.log(1 + cut.free) / told)
        share = share[cut.parent] * (
            cut.public + shrinkage_weight * (cut.expected - cut.public)
        )
    return share


def _check(support: Ints, total: int, gap: float, levels: Levels) -> None:
    if total < 1:
        raise DomainError("shares need at least one report, got none", code="no_reports")
    if not len(support) or support.min() < 0 or support.max() > total:
        raise DomainError(
            f"every label must be supported by 0 to {total} reports, and some are not",
            code="support_out_of_range",
        )
    if not gap > 0:
        raise DomainError(
            "a report must support the true label more often than any other",
            code="uninformative_reports",
        )
    every = np.unique(levels.target)
    if (
        any(
            len(each) != len(support)
            for each in (*levels.groups, levels.baseline, levels.target)
        )
        or not (levels.baseline > 0).all()
        or not np.array_equal(every, np.arange(len(every)))
    ):
        raise InvalidArgument(
            "each label must have a group in every level, and a flat share",
            code="incomplete_levels",
        )
