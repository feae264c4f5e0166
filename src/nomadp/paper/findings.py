"""Numbers that answer a question of the paper, from the results: no sentences here."""

from collections.abc import Mapping
from dataclasses import dataclass

from nomadp.analysis.measures import best_of
from nomadp.mechanisms.pivot.granularity import choose_granularity
from nomadp.paper.datasets import SetKey
from nomadp.paper.lines import AS_PUBLISHED, DECODED, Series, answers
from nomadp.paper.results import Curve, Results, better_floor
from nomadp.paper.specs import EXPERIMENTS, Experiment

__all__ = [
    "PAPER_METHODS",
    "Tally",
    "are_kept",
    "beaten_from",
    "best_at",
    "chosen_granularity",
    "count_rows",
    "decoding_gains",
    "largest_spread",
    "losing_to_the_constant",
    "lowest",
    "printed_above_flat",
    "worst_claims",
]

PAPER_METHODS = ("exp", "ngram", "cgm", "tp", "atp", *AS_PUBLISHED)
"""What the paper compares, its own mechanisms in both forms."""


@dataclass(frozen=True)
class Tally:
    """How often something holds."""

    count: int
    of: int


@dataclass(frozen=True)
class Best:
    """The best of several at one place."""

    mechanism: str
    score: float
    floor: float


@dataclass(frozen=True)
class Gain:
    """What decoding makes of the reports of one mechanism on one set."""

    mechanism: str
    reported: float
    decoded: float
    """NE at the largest epsilon, without and with it."""
    lower: Tally
    """At how many epsilons the decoded ones err less."""


def losing_to_the_constant(results: Results, names: tuple[str, ...]) -> Tally:
    """Settings of `ne` in which reports of these err at least as much as the best constant."""
    errors = [
        (results.value(each.setting, "ne").mean, _constant(results, each.base))
        for each in results.placed(EXPERIMENTS["ne"])
        if each.setting.mechanism in names and not each.setting.decoded
    ]
    return Tally(sum(error >= floor for error, floor in errors), len(errors))


def beaten_from(results: Results, base: str, series: Series) -> str | None:
    """The smallest epsilon from which on an answer errs less than the best constant."""
    first = None
    for epsilon in results.plan.epsilons:
        setting = series.setting(SetKey(base), epsilon)
        if results.value(setting, "ne").mean >= _constant(results, base):
            first = None
        else:
            first = first or epsilon
    return first


def best_at(results: Results, base: str, epsilon: str, metric: str, *, decoded: bool) -> Best:
    """The private mechanism whose reports, or whose decoded ones, have the best score."""
    scores = {
        each.setting.mechanism: results.value(each.setting, metric).mean
        for each in results.placed(EXPERIMENTS["ne"])
        if (each.base, each.x, each.setting.decoded) == (base, epsilon, decoded)
        and each.setting.mechanism not in AS_PUBLISHED
    }
    best = best_of(metric, scores)
    _, floor = better_floor(results.floors(SetKey(base)), metric)
    return Best(best, scores[best], floor)


def decoding_gains(results: Results, base: str) -> list[Gain]:
    """The errors of one set's reports as they are, beside those of what is decoded."""
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
    """At how many places of all panels the line of this label is the lowest."""
    found = []
    for base in experiment.bases(results.catalogue):
        curves = results.curves(experiment, base, "ne")
        (own,) = (curve for curve in curves if curve.series.label == label)
        for k in range(len(own.x)):
            found.append(own.mean[k] <= min(curve.mean[k] for curve in curves))
    return Tally(sum(found), len(found))


def largest_spread(curves: list[Curve]) -> float:
    """The largest gap between the highest and the lowest of several lines at one place."""
    by_place = zip(*(curve.mean for curve in curves), strict=True)
    return max((max(scores) - min(scores) for scores in by_place), default=0.0)


def chosen_granularity(results: Results) -> tuple[Tally, float]:
    """How often Table 1 names the best number of sectors, and the most it loses otherwise."""
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
        each.setting.mechanism: results.value(each.setting, "acd").mean
        for each in results.placed(EXPERIMENTS["table2"])
        if each.base == base
    }


def printed_above_flat(results: Results) -> Tally:
    """Values in Table 2 that are no better than the uniform baseline on the same set."""
    pairs = [
        (printed, results.floors(SetKey(base))["flat"]["acd"])
        for base in results.catalogue.names
        for printed in results.printed_counts(base).values()
    ]
    return Tally(sum(printed >= flat for printed, flat in pairs), len(pairs))


def worst_claims(results: Results) -> dict[str, tuple[str, dict[str, float | str]]]:
    """By mechanism, the audited claim that was exceeded most, or filled most."""
    worst: dict[str, tuple[str, dict[str, float | str]]] = {}
    for audit in EXPERIMENTS["frontier"].audits(results.plan):
        found = results.of(audit)
        losses = {name: found[name] for name in ("transcript_loss", "final_loss")}
        share = float(_number(losses["final_loss"])) / float(audit.epsilon)
        known = worst.get(audit.mechanism)
        if known is None or share > _number(known[1]["final_loss"]) / float(known[0]):
            worst[audit.mechanism] = audit.epsilon, losses
    return worst


def are_kept(claims: Mapping[str, tuple[str, dict[str, float | str]]]) -> bool:
    """Whether no audited loss is above the epsilon that was claimed."""
    return all(
        _number(loss) <= float(epsilon)
        for epsilon, losses in claims.values()
        for loss in losses.values()
    )


def _number(loss: float | str) -> float:
    return float("inf") if loss == "infinite" else float(loss)


def _constant(results: Results, base: str) -> float:
    return results.floors(SetKey(base))["constant"]["ne"]
