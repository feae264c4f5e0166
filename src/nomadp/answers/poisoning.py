"""How far fake reports can move an answer, and when counts prove that there are some.

Nobody can keep fakes out who does not ask for names; so what they can do is said. A direct
question adds up reports, so the worst case is exact. What is estimated from journeys is not a
sum: with what was learned held fixed the worst case is exact too, but learning again may move
it further, and no bound below everything is proved for that.
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
    "FAKE_PART",
    "oracle_poisoning_of",
    "invalid_reports_at_least",
    "part_poisoning",
    "fit_poisoning",
]

FAKE_PART = 0.01
"""Of all reports, those that are taken for fakes."""
SURE = 1e-6
"""How improbable an honest crowd must make a count for it to prove fakes."""
_AT_ONCE = 1 << 22

DIRECT = "exact, of what was counted before it is smoothed"
HELD = "exact with what was learned held fixed; learning again may move it further"


def oracle_poisoning_of(
    question: FrequencyOracle, asked: Ints, values: Floats
) -> dict[str, Any]:
    """The farthest that fakes move any share, up and down: ``asked`` is that of each label.

    A report adds (k - g q) / (p - q) to the share of g labels, of which it supports k, where an
    honest one adds the true share on average.
    """
    law = question.channel
    true, other = float(law.true_chance), float(law.other_chance)
    labels = np.bincount(asked)
    least, most = np.zeros(len(labels)), labels.astype(float)
    if isinstance(law, SubsetSelection):  # a report supports as many labels as any other
        most = np.minimum(most, law.entries)
        least = np.maximum(0, law.entries - (law.size - labels))
    up = (most - labels * other) / (true - other) - values
    down = values - (least - labels * other) / (true - other)
    return _said(FAKE_PART * up, FAKE_PART * down, DIRECT)


def fit_poisoning(
    model: Model, asked: tuple[BootstrapFit, Tally], size: int, kept: float
) -> dict[str, Any]:
    """The same for ``size`` shares that are estimated from journeys or points.

    A share is the mean of what each visit, or trip, is taken for. A fake of the longest length
    that came in has the most of them.
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
    part = FAKE_PART * max(visits) / ((1 - FAKE_PART) * mean + FAKE_PART * max(visits))
    return _said(part * kept * (most - found), part * kept * (found - least), HELD)


def part_poisoning(how: str) -> dict[str, Any]:
    """The same for shares of the reports themselves, of which fakes are a part and no more."""
    return {"increase": FAKE_PART, "decrease": FAKE_PART, "bound": how}


def _lengths(model: Model, bootstrap: BootstrapFit) -> list[int]:
    """How many values a report of each group has: points, or one for a whole journey."""
    if isinstance(bootstrap.groups[0].evidence, TrajectoryEvidence):
        return [1] * len(bootstrap.groups)
    return list(model.counts.lengths(model.mechanism))


def _every_report(group: Group) -> Any:
    """The evidence of every report that can be made, whether it came in or not."""
    evidence: Any = group.evidence
    every = np.arange(len(evidence.channel.outputs))
    if len(evidence.reports) == len(every):
        return evidence
    if isinstance(evidence, TrajectoryEvidence):
        return TrajectoryEvidence(evidence.channel, evidence.support, every)
    return TableEvidence(evidence.channel, every)


def _said(up: Floats, down: Floats, how: str) -> dict[str, Any]:
    return {
        "increase": float(min(np.max(up, initial=0.0), 1.0)),
        "decrease": float(min(np.max(down, initial=0.0), 1.0)),
        "bound": how,
    }


def invalid_reports_at_least(model: Model) -> int:
    """How many reports are fakes for sure: more came in of a kind than honest people make.

    However people move, a report y is made by at most the part max_x P(y|x) of them. What is
    beyond that, and beyond chance, nobody honest made. 0 proves nothing.
    """
    mechanism, counts = model.mechanism, model.counts
    if isinstance(mechanism, FrequencyOracle):
        support, total = support_in(mechanism, counts)
        found = _beyond(support, total, float(mechanism.channel.true_chance))
        if mechanism.channel.entries == 1:  # then single outputs are bounded more tightly
            pairs = [often for _, _, often in counts.by_length(mechanism)]
            most = float(mechanism.channel.extremes[1])
            found = max(found, _beyond(np.concatenate(pairs), total, most))
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
        found += _beyond(often, int(often.sum()), chance)
    return found


def _beyond(counts: Ints, total: int, most: Any) -> int:
    """Of reports that are each at most so probable, those that came in too often."""
    from scipy.special import betainc  # slow to import

    chance = np.broadcast_to(np.asarray(most, dtype=float), counts.shape)
    suspect = np.flatnonzero(counts > total * chance)
    if not len(suspect):
        return 0
    count, chance = counts[suspect].astype(float), chance[suspect]

    def proves(fakes: Floats) -> Any:
        """Whether a binomial variable would hardly ever reach what is left."""
        left = np.maximum(count - fakes, 1.0)
        tail = betainc(left, total - left + 1.0, chance)
        return tail < SURE / len(counts)

    # The least number of fakes without which nothing is proved any more, by halving.
    low, high = np.zeros(len(count)), np.ceil(count - total * chance)
    while (low < high).any():
        middle = np.floor((low + high) / 2)
        more = proves(middle)
        low, high = np.where(more, middle + 1, low), np.where(more, high, middle)
    return int(low.sum())
