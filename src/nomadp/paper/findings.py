"""Numbers that answer the paper's questions; `sentences.py` turns them into text."""

from collections.abc import Mapping
from dataclasses import dataclass

from nomadp.analysis.measures import best_of
from nomadp.mechanisms.pivot.granularity import choose_granularity
from nomadp.paper.datasets import SetKey
from nomadp.paper.lines import AS_PUBLISHED, DECODED, Series, answers
from nomadp.paper.results import Curve, Results, better_baseline
from nomadp.paper.specs import EXPERIMENTS, Experiment

__all__ = [
    "PAPER_METHODS",
    "Tally",
    "all_hold",
    "beaten_from",
    "best_at",
    "chosen_granularity",
    "count_rows",
    "decoding_gains",
    "largest_spread",
    "losing_to_the_constant",
    "lowest",
    "printed_above_equal_counts",
    "worst_claims",
]

PAPER_METHODS = ("exp", "ngram", "cgm", "tp", "atp", *AS_PUBLISHED)
"""The methods that the paper compares, its own ones both strict and as published."""


@dataclass(frozen=True)
class Tally:
    """In how many of all comparisons something holds."""

    count: int
    of: int


@dataclass(frozen=True)
class Best:
    """The mechanism with the best score at one point of a figure, and the baseline there."""

    mechanism: str
    score: float
    baseline: float


@dataclass(frozen=True)
class Gain:
    """How decoding changes the error of one mechanism on one set."""

    mechanism: str
    reported: float
    decoded: float
    """NE at the largest epsilon, of the reports and of the decoded points."""
    lower: Tally
    """The number of epsilons at which decoding reduces the NE."""


def losing_to_the_constant(results: Results, names: tuple[str, ...]) -> Tally:
    """Settings of `ne` in which reports have at least the NE of the best constant."""
    errors = [
        (results.value(point.setting, "ne").mean, _constant(results, point.base))
        for point in results.placed(EXPERIMENTS["ne"])
        if point.setting.mechanism in names and not point.setting.decoded
    ]
    return Tally(sum(error >= baseline for error, baseline in errors), len(errors))


def beaten_from(results: Results, base: str, series: Series) -> str | None:
    """The smallest epsilon from which on an answer has a lower NE than the best constant."""
    first = None
    for epsilon in results.plan.epsilons:
        setting = series.setting(SetKey(base), epsilon)
        if results.value(setting, "ne").mean >= _constant(results, base):
            first = None  # a later epsilon is worse again: start over
        else:
            first = first or epsilon
    return first


def best_at(results: Results, base: str, epsilon: str, metric: str, *, decoded: bool) -> Best:
    """The private mechanism whose reports, or whose decoded points, have the best score."""
    scores = {
        point.setting.mechanism: results.value(point.setting, metric).mean
        for point in results.placed(EXPERIMENTS["ne"])
        if (point.base, point.x, point.setting.decoded) == (base, epsilon, decoded)
        and point.setting.mechanism not in AS_PUBLISHED
    }
    best = best_of(metric, scores)
    _, baseline = better_baseline(results.baselines(SetKey(base)), metric)
    return Best(best, scores[best], baseline)


def decoding_gains(results: Results, base: str) -> list[Gain]:
    """The errors of reports and of their decoded points on one set, by mechanism."""
    gains = []
    for name in DECODED:
        errors = {
            line.decoded: [
                results.value(line.setting(SetKey(base), epsilon), "ne").mean
                for epsilon in results.plan.epsilons
            ]
            for line in answers(name)
        }
        pairs = list(zip(errors[False], errors[True], strict=True))
        lower = Tally(sum(decoded < reported for reported, decoded in pairs), len(pairs))
        gains.append(Gain(name, *pairs[-1], lower))
    return gains


def lowest(results: Results, experiment: Experiment, label: str) -> Tally:
    """At how many points of all panels the line with this label is the lowest."""
    is_lowest = []
    for base in experiment.bases(results.catalogue):
        curves = results.curves(experiment, base, "ne")
        (own,) = (curve for curve in curves if curve.series.label == label)
        for k in range(len(own.x)):
            is_lowest.append(own.mean[k] <= min(curve.mean[k] for curve in curves))
    return Tally(sum(is_lowest), len(is_lowest))


def largest_spread(curves: list[Curve]) -> float:
    """The largest gap between the highest and the lowest of several lines at one point."""
    by_point = zip(*(curve.mean for curve in curves), strict=True)
    return max((max(scores) - min(scores) for scores in by_point), default=0.0)


def chosen_granularity(results: Results) -> tuple[Tally, float]:
    """How often Table 1 picks the best number of sectors, and the most NE it loses if not."""
    experiment = EXPERIMENTS["granularity"]
    hits, loss = [], 0.0
    for base in experiment.bases(results.catalogue):
        fixed = {
            dict(curve.series.options)["granularity"]: curve
            for curve in results.curves(experiment, base, "ne")
            if curve.series.options
        }
        for k, epsilon in enumerate(results.plan.epsilons):
            errors = {g: curve.mean[k] for g, curve in fixed.items()}
            gap = errors[choose_granularity(float(epsilon), "table")] - min(errors.values())
            hits.append(gap == 0)
            loss = max(loss, float(gap))
    return Tally(sum(hits), len(hits)), loss


def count_rows(results: Results, base: str) -> dict[str, float]:
    """ACD of every mechanism of Table 2 on a set."""
    return {
        point.setting.mechanism: results.value(point.setting, "acd").mean
        for point in results.placed(EXPERIMENTS["table2"])
        if point.base == base
    }


def printed_above_equal_counts(results: Results) -> Tally:
    """Printed values of Table 2 that are no better than equal counts on the same set."""
    pairs = [
        (printed, results.baselines(SetKey(base))["flat"]["acd"])
        for base in results.catalogue.names
        for printed in results.printed_counts(base).values()
    ]
    return Tally(sum(printed >= equal for printed, equal in pairs), len(pairs))


def worst_claims(results: Results) -> dict[str, tuple[str, dict[str, float | str]]]:
    """By mechanism, the claimed epsilon whose final loss is the largest part of it."""
    worst: dict[str, tuple[str, dict[str, float | str]]] = {}
    for audit in EXPERIMENTS["frontier"].audits(results.plan):
        audited = results.of(audit)
        losses = {name: audited[name] for name in ("transcript_loss", "final_loss")}
        share = float(_number(losses["final_loss"])) / float(audit.epsilon)
        earlier = worst.get(audit.mechanism)
        if earlier is None or share > _number(earlier[1]["final_loss"]) / float(earlier[0]):
            worst[audit.mechanism] = audit.epsilon, losses
    return worst


def all_hold(claims: Mapping[str, tuple[str, dict[str, float | str]]]) -> bool:
    """Whether no audited loss is above the epsilon that was claimed."""
    return all(
        _number(loss) <= float(epsilon)
        for epsilon, losses in claims.values()
        for loss in losses.values()
    )


def _number(loss: float | str) -> float:
    return float("inf") if loss == "infinite" else float(loss)


def _constant(results: Results, base: str) -> float:
    return results.baselines(SetKey(base))["constant"]["ne"]
