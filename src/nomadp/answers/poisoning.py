"""How far invalid reports can move an estimate, and when counts prove that there are some.

A collection without accounts cannot keep invalid reports out, so every estimate says what they
could do. A frequency oracle adds up reports, so the worst case is exact. Estimates from a
fitted model are not sums: the worst case is exact while the model stays fixed, but refitting
it may move a share further, and no useful bound on that has been proved.
"""

from typing import Any

import numpy as np

from nomadp.errors import DomainError
from nomadp.inference.empirical_bayes import Group
from nomadp.inference.estimate import Floats
from nomadp.inference.evidence import TableEvidence, TrajectoryEvidence
from nomadp.inference.model import Model
from nomadp.inference.oracle_shares import support_in
from nomadp.inference.shares import BootstrapFit, Tally, effective_prior
from nomadp.laws import Ints, SubsetSelection, probabilities
from nomadp.mechanisms.oracles import FrequencyOracle

__all__ = [
    "INVALID_PART",
    "oracle_poisoning_of",
    "invalid_reports_at_least",
    "part_poisoning",
    "fit_poisoning",
]

INVALID_PART = 0.01
"""The part of all reports that is assumed to be invalid."""
PROOF_LEVEL = 1e-6
"""Counts prove invalid reports if honest ones make them with at most this probability."""
_AT_ONCE = 1 << 22

OF_COUNTS = "exact for the unsmoothed counts"
OF_FIXED_MODEL = "exact if the model stays fixed; refitting it may move a share further"


def oracle_poisoning_of(
    oracle: FrequencyOracle, share_of: Ints, values: Floats
) -> dict[str, Any]:
    """The largest increase and decrease of any share; ``share_of`` maps labels to shares.

    A report adds (k - g q) / (p - q) to the share of g labels, of which it supports k. An
    honest report adds the true share on average.
    """
    law = oracle.channel
    true, other = float(law.true_chance), float(law.other_chance)
    labels = np.bincount(share_of)
    least, most = np.zeros(len(labels)), labels.astype(float)
    if isinstance(law, SubsetSelection):  # a report supports as many labels as any other
        most = np.minimum(most, law.entries)
        least = np.maximum(0, law.entries - (law.size - labels))
    up = (most - labels * other) / (true - other) - values
    down = values - (least - labels * other) / (true - other)
    return _bounds(INVALID_PART * up, INVALID_PART * down, OF_COUNTS)


def fit_poisoning(
    model: Model, asked: tuple[BootstrapFit, Tally], size: int, shrinkage_weight: float
) -> dict[str, Any]:
    """The same for ``size`` shares that are estimated with a fitted model.

    A share is the mean of the posterior shares of visits or trips. An invalid report of the
    longest reported length has the most of them.
    """
    bootstrap, tally = asked
    least, most = np.full(size, np.inf), np.full(size, -np.inf)
    total, visits, reports = np.zeros(size), [], []
    for group, length in zip(bootstrap.groups, _lengths(model, bootstrap), strict=True):
        evidence = _every_report(group)
        table = tally(evidence.support).T.tocsr()
        each = float(table.sum()) / table.shape[1]  # of visits or trips, to a journey or point
        often = np.zeros(len(evidence.reports))
        often[np.searchsorted(evidence.reports, group.evidence.reports)] = group.counts
        prior, step = (
            effective_prior(bootstrap.prior, bootstrap.baseline_prior, group),
            max(1, _AT_ONCE // size),
        )
        for start in range(0, len(often), step):
            some = slice(start, start + step)
            shares = evidence.label_shares(prior, table, some)
            np.minimum(least, shares.min(axis=0), out=least)
            np.maximum(most, shares.max(axis=0), out=most)
            total += each * (often[some] @ shares)
        visits.append(each * length)
        reports.append(group.total / length)
    found, mean = total / total.sum(), np.average(visits, weights=reports)
    part = INVALID_PART * max(visits) / ((1 - INVALID_PART) * mean + INVALID_PART * max(visits))
    part *= shrinkage_weight  # the rest stays with the prior
    return _bounds(part * (most - found), part * (found - least), OF_FIXED_MODEL)


def part_poisoning(how: str) -> dict[str, Any]:
    """The same for shares of the reports themselves: the invalid part and no more."""
    return {"increase": INVALID_PART, "decrease": INVALID_PART, "bound": how}


def _lengths(model: Model, bootstrap: BootstrapFit) -> list[int]:
    """How many values a report of each group has: points, or one for a trajectory."""
    if isinstance(bootstrap.groups[0].evidence, TrajectoryEvidence):
        return [1] * len(bootstrap.groups)
    return list(model.counts.lengths(model.mechanism))


def _every_report(group: Group) -> Any:
    """The evidence of every possible report, sent or not."""
    evidence: Any = group.evidence
    every = np.arange(len(evidence.channel.outputs))
    if len(evidence.reports) == len(every):
        return evidence
    if isinstance(evidence, TrajectoryEvidence):
        return TrajectoryEvidence(evidence.channel, evidence.support, every)
    return TableEvidence(evidence.channel, every)


def _bounds(up: Floats, down: Floats, how: str) -> dict[str, Any]:
    return {
        "increase": float(min(np.max(up, initial=0.0), 1.0)),
        "decrease": float(min(np.max(down, initial=0.0), 1.0)),
        "bound": how,
    }


def invalid_reports_at_least(model: Model) -> int:
    """A lower bound on the number of invalid reports; 0 proves nothing.

    However people move, at most the part max_x P(y|x) of honest reports has the value y. What
    exceeds that, and chance, is invalid.
    """
    mechanism, counts = model.mechanism, model.counts
    if isinstance(mechanism, FrequencyOracle):
        support, total = support_in(mechanism, counts)
        found = _excess(support, total, float(mechanism.channel.true_chance))
        if mechanism.channel.entries == 1:  # then single outputs are bounded more tightly
            pairs = [often for _, _, often in counts.by_length(mechanism)]
            most = float(mechanism.channel.extremes[1])
            found = max(found, _excess(np.concatenate(pairs), total, most))
        return found
    found = 0
    for length, values, often in counts.by_length(mechanism):
        try:
            channel: Any = getattr(mechanism.report_law(length), "channel", None)
        except DomainError:
            continue
        extremes = channel.extremes
        if extremes is None:
            every = np.arange(len(channel.outputs))
            chance = probabilities(channel, every).max(axis=0)[values]
        else:
            chance = np.full(len(values), float(extremes[1]))
        found += _excess(often, int(often.sum()), chance)
    return found


def _excess(counts: Ints, total: int, most: Any) -> int:
    """The total excess of counts whose reports have at most the probability ``most``."""
    from scipy.special import betainc  # slow to import

    chance = np.broadcast_to(np.asarray(most, dtype=float), counts.shape)
    suspect = np.flatnonzero(counts > total * chance)
    if not len(suspect):
        return 0
    count, chance = counts[suspect].astype(float), chance[suspect]

    def proves(invalid: Floats) -> Any:
        """Whether a binomial variable hardly ever reaches the remaining count."""
        left = np.maximum(count - invalid, 1.0)
        tail = betainc(left, total - left + 1.0, chance)
        return tail < PROOF_LEVEL / len(counts)

    # Bisection for the smallest number without which nothing is proved any more. The Bonferroni
    # correction in `proves` covers all counts that are tested at once.
    low, high = np.zeros(len(count)), np.ceil(count - total * chance)
    while (low < high).any():
        middle = np.floor((low + high) / 2)
        more = proves(middle)
        low, high = np.where(more, middle + 1, low), np.where(more, high, middle)
    return int(low.sum())
