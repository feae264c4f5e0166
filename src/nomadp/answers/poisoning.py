"""How far invalid reports can move an estimate, and when counts prove that there are some.

A collection without accounts cannot keep invalid reports out, so every estimate says how far
they could move it. A frequency oracle adds up reports, so the worst case is exact. Estimates
from a fitted model are not sums: the worst case is exact while the model stays fixed, but
refitting it may move a share further, and no useful bound on that has been proved.
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
    "INVALID_FRACTION",
    "oracle_poisoning",
    "invalid_reports_at_least",
    "report_share_poisoning",
    "fit_poisoning",
]

INVALID_FRACTION = 0.01
"""The fraction of all reports that is assumed to be invalid."""
PROOF_LEVEL = 1e-6
"""Counts prove invalid reports if honest ones make them with at most this probability."""
_CHUNK_ENTRIES = 1 << 22  # shares of reports in memory at a time

EXACT_FOR_COUNTS = "exact for the unsmoothed counts"
EXACT_FOR_FIXED_MODEL = "exact if the model stays fixed; refitting it may move a share further"


def oracle_poisoning(oracle: FrequencyOracle, share_of: Ints, values: Floats) -> dict[str, Any]:
    """The largest increase and decrease of any share; ``share_of`` maps labels to shares.

    A report adds (k - g q) / (p - q) to the share of g labels, of which it supports k. An
    honest report adds the true share on average.
    """
    law = oracle.channel
    true, other = float(law.true_chance), float(law.other_chance)
    n_labels = np.bincount(share_of)  # g, for each share
    # The smallest and the largest k: how many of a share's labels one report can support.
    least, most = np.zeros(len(n_labels)), n_labels.astype(float)
    if isinstance(law, SubsetSelection):  # every report supports exactly law.entries labels
        most = np.minimum(most, law.entries)
        least = np.maximum(0, law.entries - (law.size - n_labels))
    increase = (most - n_labels * other) / (true - other) - values
    decrease = values - (least - n_labels * other) / (true - other)
    return _worst_case(
        INVALID_FRACTION * increase, INVALID_FRACTION * decrease, EXACT_FOR_COUNTS
    )


def fit_poisoning(
    model: Model, survey: tuple[BootstrapFit, Tally], size: int, shrinkage_weight: float
) -> dict[str, Any]:
    """The same for ``size`` shares that are estimated with a fitted model.

    A share is the mean of the posterior shares of visits or trips. An invalid report of the
    longest reported length counts as the most visits. So the worst case is that every invalid
    report has this length and the values whose posterior share is largest or smallest.
    """
    bootstrap, tally = survey
    least, most = np.full(size, np.inf), np.full(size, -np.inf)
    total, visits, n_reports = np.zeros(size), [], []
    for group, length in zip(bootstrap.groups, _lengths(model, bootstrap), strict=True):
        evidence = _evidence_of_all_outputs(group)
        table = tally(evidence.support).T.tocsr()
        visits_per_value = float(table.sum()) / table.shape[1]  # or trips
        report_counts = np.zeros(len(evidence.reports))  # 0 for reports that nobody sent
        sent = np.searchsorted(evidence.reports, group.evidence.reports)
        report_counts[sent] = group.counts
        prior = effective_prior(bootstrap.prior, bootstrap.baseline_prior, group)
        step = max(1, _CHUNK_ENTRIES // size)
        for start in range(0, len(report_counts), step):
            chunk = slice(start, start + step)
            shares = evidence.label_shares(prior, table, chunk)  # (chunk, size)
            np.minimum(least, shares.min(axis=0), out=least)
            np.maximum(most, shares.max(axis=0), out=most)
            total += visits_per_value * (report_counts[chunk] @ shares)
        visits.append(visits_per_value * length)
        n_reports.append(group.total / length)
    mean_share, mean_visits = total / total.sum(), np.average(visits, weights=n_reports)
    # The fraction of all visits that are invalid, which exceeds that of reports.
    invalid = INVALID_FRACTION * max(visits)
    fraction = invalid / ((1 - INVALID_FRACTION) * mean_visits + invalid)
    fraction *= shrinkage_weight  # the rest of the share stays with the prior
    return _worst_case(
        fraction * (most - mean_share), fraction * (mean_share - least), EXACT_FOR_FIXED_MODEL
    )


def report_share_poisoning(bound: str) -> dict[str, Any]:
    """The same for shares of the reports themselves: exactly the invalid fraction."""
    return {"increase": INVALID_FRACTION, "decrease": INVALID_FRACTION, "bound": bound}


def _lengths(model: Model, bootstrap: BootstrapFit) -> list[int]:
    """How many values a report of each group has: points, or one for a trajectory."""
    if isinstance(bootstrap.groups[0].evidence, TrajectoryEvidence):
        return [1] * len(bootstrap.groups)
    return list(model.counts.lengths(model.mechanism))


def _evidence_of_all_outputs(group: Group) -> Any:
    """The evidence of all possible reports, whether or not somebody sent them."""
    evidence: Any = group.evidence
    outputs = np.arange(len(evidence.channel.outputs))
    if len(evidence.reports) == len(outputs):
        return evidence
    if isinstance(evidence, TrajectoryEvidence):
        return TrajectoryEvidence(evidence.channel, evidence.support, outputs)
    return TableEvidence(evidence.channel, outputs)


def _worst_case(increase: Floats, decrease: Floats, bound: str) -> dict[str, Any]:
    return {
        "increase": float(min(np.max(increase, initial=0.0), 1.0)),
        "decrease": float(min(np.max(decrease, initial=0.0), 1.0)),
        "bound": bound,
    }


def invalid_reports_at_least(model: Model) -> int:
    """A lower bound on the number of invalid reports; 0 proves nothing.

    However people move, an honest report has the value y with a probability of at most
    max_x P(y|x). More reports than that allows, beyond chance, are invalid.
    """
    mechanism, counts = model.mechanism, model.counts
    if isinstance(mechanism, FrequencyOracle):
        support, total = support_in(mechanism, counts)
        excess = _excess(support, total, float(mechanism.channel.true_chance))
        if mechanism.channel.entries == 1:  # then single outputs are bounded more tightly
            output_counts = [repeats for _, _, repeats in counts.by_length(mechanism)]
            most = float(mechanism.channel.extremes[1])
            excess = max(excess, _excess(np.concatenate(output_counts), total, most))
        return excess
    excess = 0
    for length, values, report_counts in counts.by_length(mechanism):
        try:
            channel: Any = getattr(mechanism.report_law(length), "channel", None)
        except DomainError:
            continue
        extremes = channel.extremes
        if extremes is None:
            inputs = np.arange(len(channel.outputs))
            most_likely = probabilities(channel, inputs).max(axis=0)[values]
        else:
            most_likely = np.full(len(values), float(extremes[1]))
        excess += _excess(report_counts, int(report_counts.sum()), most_likely)
    return excess


def _excess(counts: Ints, total: int, most_likely: Any) -> int:
    """Reports that counts have too many of, if each has at most probability ``most_likely``."""
    from scipy.special import betainc  # slow to import

    chance = np.broadcast_to(np.asarray(most_likely, dtype=float), counts.shape)
    suspect = np.flatnonzero(counts > total * chance)
    if not len(suspect):
        return 0
    count, chance = counts[suspect].astype(float), chance[suspect]

    def proves(invalid: Floats) -> Any:
        """Whether even the count without the invalid reports is too large for chance."""
        remaining = np.maximum(count - invalid, 1.0)
        # P(binomial(total, chance) >= remaining), as a regularised incomplete beta function.
        tail = betainc(remaining, total - remaining + 1.0, chance)
        return tail < PROOF_LEVEL / len(counts)

    # Bisection for the smallest number of invalid reports that explains each count. The
    # Bonferroni correction in `proves` covers all counts that are tested at once.
    low, high = np.zeros(len(count)), np.ceil(count - total * chance)
    while (low < high).any():
        middle = np.floor((low + high) / 2)
        is_proved = proves(middle)
        low, high = np.where(is_proved, middle + 1, low), np.where(is_proved, high, middle)
    return int(low.sum())
