"""Frequency estimation from reports of frequency oracles, with hierarchical shrinkage.

A report supports the true label with probability p and any other label with probability q. Both
are known, so shares have unbiased estimates with exactly known variances. The estimates are
shrunk towards the uniform baseline as far as the noise of reports and the sampling of people
demand. Shrinkage is hierarchical (multi-resolution smoothing): from coarse groups of labels to
fine ones, the share of each group is split among its parts (`shrinkage.py`). Heavy hitters,
which splits smooth away, are added back (`heavy_hitters.py`). The result adds up to 1 without
negative shares, empty regions add no noise, and it converges to the raw estimates.
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
from nomadp.inference.shrinkage import initial_weights, posterior
from nomadp.laws import Ints

__all__ = ["OracleShares", "Levels", "oracle_shares", "nearest_shares", "pair_levels"]

LOG_EVIDENCE_MIN = math.log(20)
"""The least log Bayes factor against the baseline, 20 to 1. Below it, the baseline is returned;
if the model were fixed, chance alone would reach 20 in at most 5 % of cases (Markov)."""
_SHARE_MIN = 1e-12
"""A group with a smaller share than this is split as the baseline is."""
RAW_WEIGHT, RAW_POWER = 0.5, 8
"""The weight of the raw estimates is RAW_WEIGHT * shrinkage_weight ** RAW_POWER: negligible
until shrinkage has nearly vanished, then a half. They let empty zones come out empty."""


@dataclass(frozen=True, eq=False)
class OracleShares(Shares):
    """Shares of a population of which the people who reported are a random sample.

    ``std_error`` is the known standard error of ``unbiased``, which exceeds that of ``values``.
    """

    unbiased: Floats
    variance_at_zero: Floats
    """The variance of ``unbiased`` from the noise of reports, if the true share is 0."""
    variance_slope: Floats
    """The increase of that variance, which is linear in the share, from share 0 to 1."""
    people: int
    """The number of reports. Sampling adds the variance share (1 - share) / people."""

    def interval(self, level: float = 0.9) -> tuple[Floats, Floats]:
        """The confidence interval of each share (Feldman-Cousins), around ``unbiased``."""
        if len(self.unbiased) == 1:  # everybody is somewhere
            return self.unbiased, self.unbiased
        return share_interval(
            self.unbiased, self.variance_at_zero, self.variance_slope, level, self.people
        )


@dataclass(frozen=True, eq=False)
class Levels:
    """The public hierarchy of labels: nested groups, and the baseline share of each label."""

    groups: tuple[Ints, ...]
    """The group of each label on every level, coarsest first; every level refines the last."""
    baseline: Floats
    """The share of each label without any reports, up to a factor."""
    target: Ints
    """The share to estimate that each label belongs to: its own, or one of several labels."""


def oracle_shares(
    support: Ints, total: int, true_chance: float, other_chance: float, levels: Levels
) -> OracleShares:
    """Shares from ``total`` reports, of which ``support[k]`` support label k."""
    _check(support, total, true_chance - other_chance, levels)
    # Step 1: the raw estimates of labels and of target shares, with their variances.
    target, gap = levels.target, true_chance - other_chance
    # The standard unbiased estimator (C / n - q) / (p - q), and its exact variance.
    label_estimates = (support / total - other_chance) / gap
    unbiased = _sums(target, label_estimates)
    without, with_true = _support_variances(
        np.bincount(target), len(support), true_chance, other_chance
    )
    variance_at_zero = without / (total * gap**2)
    variance_slope = (with_true - without) / (total * gap**2)
    baseline = _sums(target, levels.baseline / levels.baseline.sum())
    noise = other_chance * (1 - other_chance) / (total * gap**2)
    # Step 2: shrink by levels, and add heavy hitters. The last term of the variance is the
    # sampling variance: even exact reports come from a sample of people.
    variance_per_share = (1 - true_chance - other_chance) / (total * gap) + 1 / total
    split = _hierarchical_shrinkage(label_estimates, levels, noise, variance_per_share)
    split = with_heavy_hitters(split, unbiased, (variance_at_zero, variance_slope + 1 / total))
    # Step 3: mix in the raw estimates where shrinkage has nearly vanished. The shrinkage weight
    # is the part of the raw effect that is left: the projection of the shrunken one on it.
    effect, raw_effect = split - baseline, unbiased - baseline
    projection = effect @ raw_effect / max(float(raw_effect @ raw_effect), _SHARE_MIN)
    shrinkage_weight = float(np.clip(projection, 0, 1))
    raw_weight = RAW_WEIGHT * shrinkage_weight**RAW_POWER
    values = (1 - raw_weight) * split + raw_weight * nearest_shares(unbiased)
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
    """The Euclidean projection onto the probability simplex (Duchi et al. 2008, figure 1)."""
    # The projection subtracts a threshold and cuts off at 0; this finds the threshold.
    order = np.sort(values)[::-1]
    threshold = (np.cumsum(order) - 1) / np.arange(1, len(order) + 1)
    last = np.flatnonzero(order > threshold)[-1]
    projected: Floats = np.maximum(values - threshold[last], 0.0)
    return projected


def pair_levels(levels: Sequence[Ints], distance_class: Ints) -> tuple[Ints, ...]:
    """Nested groups of origin-destination pairs; pair ``i * zones + j`` is from i to j.

    The coarsest level groups pairs by ``distance_class``, (zones, zones), because flows fall
    with distance. Finer levels refine it by the groups of origins and destinations, in turn.
    """
    zones = len(distance_class)
    origin, destination = np.divmod(np.arange(zones**2), zones)
    pair_groups = [_numbered(distance_class.reshape(-1))]
    for level in (*levels, np.arange(zones)):
        for end in (origin, destination):
            pair_groups.append(_numbered(pair_groups[-1] * zones + level[end]))
    return tuple(pair_groups)


def _sums(group: Ints, values: Floats) -> Floats:
    return np.bincount(group, values).astype(np.float64)


def _numbered(group: Ints) -> Ints:
    _, number = np.unique(group, return_inverse=True)
    return number.astype(np.int64)


def _support_variances(labels: Ints, size: int, p: float, q: float) -> tuple[Floats, Floats]:
    """The variance of how many of m labels a report supports, without and with the true one.

    Exact for one label, and for several under subset selection, where every report supports the
    same number of labels; under projective response exact on average over groups of labels.
    """
    # The fixed number of supported labels determines how probably two labels are supported
    # together, and so their covariances: of the true label and another, and of two others.
    expected_labels = p + (size - 1) * q
    cov_with_true = p * (expected_labels - 1) / max(size - 1, 1) - p * q
    cov_of_others = (expected_labels - 1) * (expected_labels - 2 * p) / max(
        (size - 1) * (size - 2), 1
    ) - q * q
    others = labels - 1
    without = labels * (q * (1 - q) + others * cov_of_others)
    with_true = p * (1 - p) + others * (
        q * (1 - q) + 2 * cov_with_true + (others - 1) * cov_of_others
    )
    return np.maximum(without, 0.0), np.maximum(with_true, 0.0)


class _Level(NamedTuple):
    """The splits of the groups of the level above: public and expected ones."""

    parent: Ints
    public: Floats
    expected: Floats
    free: int
    """Degrees of freedom: the parts of a group minus one, over all groups that were split."""


def _hierarchical_shrinkage(
    unbiased: Floats, levels: Levels, noise: float, variance_per_share: float
) -> Floats:
    """The target shares: from coarse to fine, split each group's share among its parts.

    Errors of labels are independent, except that the parts must add up to their group's share.
    """
    above, share = np.zeros(len(unbiased), dtype=np.int64), np.ones(1)
    weights, log_evidence, fits = initial_weights(), 0.0, []
    for level in (*levels.groups, levels.target):
        _, first, group = np.unique(level, return_index=True, return_inverse=True)
        parent = above[first]
        if not np.array_equal(parent[group], above):
            raise InvalidArgument(
                "every level must refine the groups of the level above",
                code="levels_not_nested",
            )
        # Public split: the baseline. Observed split: the raw estimates of the parts.
        estimates, public = _sums(group, unbiased), _sums(group, levels.baseline)
        public /= _sums(parent, public)[parent]
        expected, whole = public.copy(), share[parent]
        variance = np.maximum(
            np.bincount(group) * noise + variance_per_share * whole * public, _SHARE_MIN**2
        )
        # Condition the estimates of the parts on their sum, which the level above has set.
        part_of = variance / _sums(parent, variance)[parent]
        estimates += part_of * (whole - _sums(parent, estimates)[parent])
        variance *= 1 - part_of
        n_parts = np.bincount(parent)[parent]
        divided = np.flatnonzero((n_parts > 1) & (whole > _SHARE_MIN))
        if len(divided):
            scale = whole[divided]
            expected[divided], weights, log_ratio = posterior(
                estimates[divided] / scale,
                variance[divided] / scale**2,
                public[divided],
                weights,
            )
            # The last part follows from the others, so n parts carry the evidence of n - 1.
            log_evidence += float(log_ratio @ (1 - 1 / n_parts[divided]))
            expected /= _sums(parent, expected)[parent]  # posterior means need not add up to 1
        fits.append(
            _Level(parent, public, expected, len(divided) - len(np.unique(parent[divided])))
        )
        share, above = whole * expected, group
    if log_evidence <= LOG_EVIDENCE_MIN:
        return _sums(levels.target, levels.baseline / levels.baseline.sum())
    return _chance_corrected(fits, log_evidence)


def _chance_corrected(fits: list[_Level], log_evidence: float) -> Floats:
    """Shrink every level further towards its public splits, by the evidence that chance gives.

    If all n splits equal their public values, the largest of their log Bayes factors is still
    about log(n), as the largest of n exponential variables is. If the total evidence is hardly
    larger than that, the splits are nearly public.
    """
    share = np.ones(1)
    for fit in fits:
        shrinkage_weight = max(0.0, 1 - math.log(1 + fit.free) / log_evidence)
        splits = fit.public + shrinkage_weight * (fit.expected - fit.public)
        share = share[fit.parent] * splits
    return share


def _check(support: Ints, total: int, gap: float, levels: Levels) -> None:
    if total < 1:
        raise DomainError("shares need at least one report, got none", code="no_reports")
    if not len(support) or support.min() < 0 or support.max() > total:
        raise DomainError(
            f"every label must be supported by 0 to {total} reports, but at least one is not",
            code="support_out_of_range",
        )
    if not gap > 0:
        raise DomainError(
            "a report must support the true label more often than any other",
            code="uninformative_reports",
        )
    targets = np.unique(levels.target)
    columns = (*levels.groups, levels.baseline, levels.target)
    if (
        any(len(column) != len(support) for column in columns)
        or not (levels.baseline > 0).all()
        or not np.array_equal(targets, np.arange(len(targets)))
    ):
        raise InvalidArgument(
            "each label must have a group on every level and a positive baseline share",
            code="incomplete_levels",
        )
