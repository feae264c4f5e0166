"""The paper's claims about its results, and whether the results here support them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nomadp.analysis.measures import is_better
from nomadp.paper.cells import Setting
from nomadp.paper.datasets import CAMPUS, SetKey
from nomadp.paper.findings import Tally, chosen_granularity, lowest
from nomadp.paper.lines import AS_PUBLISHED, BOTH_DIRECTIONS, PRIVATE_RADIUS
from nomadp.paper.results import Results
from nomadp.paper.specs import EXPERIMENTS, FIXED_EPSILON

__all__ = ["Claim", "claims"]

COMPETITORS = ("exp", "ngram", "cgm")
FORMS = {"tp": ("tp", AS_PUBLISHED[0]), "atp": ("atp", AS_PUBLISHED[1])}
"""The strict form of each mechanism, and the form as published."""
NEARLY, HARDLY = 0.9, 0.1
"""A claim holds if at least this share of all comparisons agrees, and fails if at most this."""
HOLDS, PARTLY, FAILS = "holds", "partly", "does not hold"
"""Verdicts."""


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, paraphrased, with the evidence of our results and a verdict."""

    experiment: str
    paper: str
    evidence: str
    verdict: str


Judge = Callable[[Results], Claim | None]


def claims(results: Results, complete: Sequence[str]) -> list[Claim]:
    """The claims that these experiments can judge, in the order of the paper."""
    judged = [make(results) for name, make in CLAIMS if name in complete]
    return [claim for claim in judged if claim is not None]


def _comparison(winner: str, text: str, sets: str, experiment: str = "ne") -> Judge:
    """Judge whether a mechanism beats EXP, NGRAM and CGM, on all sets or on those of people."""

    def judge(results: Results) -> Claim | None:
        names = results.catalogue.names
        bases = [name for name in names if sets == "all" or name not in ("cps", CAMPUS)]
        if not bases:
            return None
        strict, published = (_wins(results, name, bases, experiment) for name in FORMS[winner])
        evidence = (
            f"As published (not private) in {published.count} of {published.of} comparisons; "
            f"strict in {strict.count}."
        )
        return Claim(experiment, text, evidence, _verdict(strict, published))

    return judge


def _wins(results: Results, winner: str, bases: Sequence[str], experiment: str) -> Tally:
    """How often a mechanism beats all competitors, over data sets, scores and epsilons."""
    wins = []
    for base in bases:
        for metric in results.metrics(EXPERIMENTS[experiment], base):
            for epsilon in results.plan.epsilons:
                scores = [
                    results.value(Setting(SetKey(base), name, (), epsilon), metric).mean
                    for name in (winner, *COMPETITORS)
                ]
                wins.append(all(is_better(metric, scores[0], other) for other in scores[1:]))
    return Tally(sum(wins), len(wins))


def _lowest(name: str, label: str, text: str) -> Judge:
    """Judge whether one line of a figure is the lowest."""

    def judge(results: Results) -> Claim:
        tally = lowest(results, EXPERIMENTS[name], label)
        return Claim(name, text, _count_sentence(tally), _verdict(tally))

    return judge


def _granularity(results: Results) -> Claim:
    tally, loss = chosen_granularity(results)
    text = "The rule of Table 1 almost always picks the best number of sectors."
    evidence = f"{_count_sentence(tally)[:-1]}; elsewhere its NE is at most {loss:.4f} higher."
    return Claim("granularity", text, evidence, _verdict(tally))


def _stable(name: str, text: str) -> Judge:
    """Judge whether the NE of ATP hardly changes along an axis."""

    def judge(results: Results) -> Claim:
        experiment = EXPERIMENTS[name]
        changes = []
        for base in experiment.bases(results.catalogue):
            curves = results.curves(experiment, base, "ne")
            (atp,) = (curve for curve in curves if curve.series.mechanism == "atp")
            changes.append((max(atp.mean) - min(atp.mean)) / min(atp.mean))
        evidence = (
            f"ATP's NE changes by at most {100 * max(changes):.0f} % of its lowest value."
        )
        return Claim(name, text, evidence, HOLDS if max(changes) < HARDLY else PARTLY)

    return judge


def _counts(results: Results) -> Claim:
    wins = []
    for base in results.catalogue.names:
        scores = {
            name: results.value(Setting(SetKey(base), name, (), FIXED_EPSILON), "acd").mean
            for name in ("tp", "atp", *AS_PUBLISHED, "ngram", "cgm")
        }
        # Beating both NGRAM and CGM means beating the better of the two.
        limit = min(scores.pop("ngram"), scores.pop("cgm"))
        wins += [score < limit for score in scores.values()]
    tally = Tally(sum(wins), len(wins))
    text = "TP and ATP have lower count differences than NGRAM and CGM on every set."
    return Claim(
        "table2", text, f"In {tally.count} of {tally.of} comparisons.", _verdict(tally)
    )


def _count_sentence(tally: Tally) -> str:
    return f"At {tally.count} of {tally.of} points of the figure."


def _verdict(*tallies: Tally) -> str:
    # A claim about both forms holds if it holds for each, and fails if it fails for each.
    shares = [tally.count / tally.of for tally in tallies]
    if min(shares) >= NEARLY:
        return HOLDS
    return FAILS if max(shares) <= HARDLY else PARTLY


TP_ERROR = "TP has a lower NE than EXP, NGRAM and CGM on real data."
ATP_ERROR = "ATP has a lower NE than EXP, NGRAM and CGM on every set."
ATP_RANGE = "ATP has a higher PRQ than EXP, NGRAM and CGM on real data, for every range."
RADIUS = "A private, calibrated radius is better than any fixed radius."
DIRECTIONS = "Directions from both neighbours are better than from one."
CLAIMS: tuple[tuple[str, Judge], ...] = (
    ("ne", _comparison("tp", TP_ERROR, "real")),
    ("ne", _comparison("atp", ATP_ERROR, "all")),
    ("prq", _comparison("atp", ATP_RANGE, "real", "prq")),
    ("radius", _lowest("radius", PRIVATE_RADIUS, RADIUS)),
    ("directions", _lowest("directions", BOTH_DIRECTIONS, DIRECTIONS)),
    ("granularity", _granularity),
    ("locations", _stable("locations", "The size of the location set matters little.")),
    ("length", _stable("length", "The length of a trajectory matters little.")),
    ("reach", _stable("reach", "The reach of a step matters little.")),
    ("table2", _counts),
)
