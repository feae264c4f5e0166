"""Sentences on the results of each experiment, generated from its numbers."""

from collections.abc import Callable

from nomadp.budget import format_epsilon
from nomadp.page import listed
from nomadp.paper import findings
from nomadp.paper.datasets import SetKey, load, set_label
from nomadp.paper.lines import AS_PUBLISHED, BOTH_DIRECTIONS, DECODED, PRIVATE_RADIUS
from nomadp.paper.reference import direction_rows, largest_difference
from nomadp.paper.results import Results
from nomadp.paper.specs import EXPERIMENTS, Experiment
from nomadp.paper.style import label_of

__all__ = ["DECODING", "verdict"]

DECODING = (
    "Decoded means that each point of a report is replaced by the location with the smallest "
    "expected error, by Bayes' theorem with the mechanism's exact law and a uniform prior. "
    f"Reports of {' and '.join(map(label_of, DECODED))} are decoded here; a mechanism's name "
    "alone means its reports as they are."
)
CHOICES = ("epsilon", "chosen_as_printed", "chosen_by_equation")


def verdict(experiment: Experiment, results: Results) -> list[str]:
    """Paragraphs for the report, the most important first."""
    return SENTENCES[experiment.name](experiment, results)


def _ne(experiment: Experiment, results: Results) -> list[str]:
    tally = findings.losing_to_the_constant(results, findings.PAPER_METHODS)
    rest = tally.of - tally.count
    sentences = [
        "Reports of the methods that the paper compares have a lower error than the best "
        "constant, which always answers the most central location, in "
        f"{rest or 'none'} of {tally.of} settings. A setting is a method, a data set and an ε. "
        "The paper's own two mechanisms are counted in both forms, as published and strict."
    ]
    last = results.plan.epsilons[-1]
    for decoded, label in ((False, "as reported"), (True, "decoded")):
        lowest = [
            f"{label_of(best.mechanism)} with {best.score:.4f} on {set_label(base)} "
            f"(constant {best.baseline:.4f})"
            for base in _bases(results)
            for best in [findings.best_at(results, base, last, "ne", decoded=decoded)]
        ]
        sentences.append(f"Lowest error at ε = {last}, {label}: {listed(lowest)}.")
    return [*sentences, DECODING]


def _prq(experiment: Experiment, results: Results) -> list[str]:
    last = results.plan.epsilons[-1]
    best = []
    for base in _bases(results):
        radius_km = load(results.catalogue, SetKey(base)).yardstick.radii_km[1]
        reported, decoded = (
            findings.best_at(results, base, last, f"prq_{radius_km:g}km", decoded=is_decoded)
            for is_decoded in (False, True)
        )
        best.append(
            f"on {set_label(base)} within {radius_km:g} km, {reported.score:.1f} % as reported "
            f"({label_of(reported.mechanism)}) and {decoded.score:.1f} % decoded "
            f"({label_of(decoded.mechanism)}), against {reported.baseline:.1f} % without "
            "information"
        )
    return [
        f"Largest percentage of points within a range at ε = {last}: {'; '.join(best)}.",
        DECODING,
    ]


def _radius(experiment: Experiment, results: Results) -> list[str]:
    tally = findings.lowest(results, experiment, PRIVATE_RADIUS)
    return [
        "The paper recommends a private radius instead of a fixed one. Here the private radius "
        f"has the lowest error at {tally.count} of {tally.of} points of the figure. A fixed "
        "radius uses no budget, which leaves more for the locations."
    ]


def _directions(experiment: Experiment, results: Results) -> list[str]:
    tally = findings.lowest(results, experiment, BOTH_DIRECTIONS)
    gaps = [
        findings.largest_spread(results.curves(experiment, base, "ne"))
        for base in experiment.bases(results.catalogue)
    ]
    return [
        f"Directions from both neighbours have the lower error at {tally.count} of {tally.of} "
        f"points of the figure; the difference is at most {max(gaps):.4f}."
    ]


def _granularity(experiment: Experiment, results: Results) -> list[str]:
    tally, loss = findings.chosen_granularity(results)
    return [
        f"The arithmetic of Table 1 picks the number of sectors with the lowest error at "
        f"{tally.count} of {tally.of} points of the figure; elsewhere its error is at most "
        f"{loss:.4f} higher."
    ]


def _budget(experiment: Experiment, results: Results) -> list[str]:
    last = results.plan.epsilons[-1]
    by_set = []
    for base in experiment.bases(results.catalogue):
        ends: dict[str, list[str]] = {}
        for curve in results.curves(experiment, base, "ne"):
            ends.setdefault(curve.series.mechanism, []).append(f"{curve.mean[-1]:.4f}")
        pairs = [f"{label_of(name)} {' against '.join(pair)}" for name, pair in ends.items()]
        by_set.append(f"on {set_label(base)} {listed(pairs)}")
    return [
        "Section 6.1.2 of the paper gives half of ε to each of the two copies. Algorithms 2 "
        "and 3 halve it too, and then divide it by the number of draws of both copies. Read "
        "literally, they use half of ε, which is private but less accurate. NE at "
        f"ε = {last} with all of ε against half of it: {'; '.join(by_set)}."
    ]


def _merge(experiment: Experiment, results: Results) -> list[str]:
    gaps = {}
    for mechanism in ("tp", "atp"):
        spreads = []
        for base in experiment.bases(results.catalogue):
            curves = results.curves(experiment, base, "ne")
            own = [curve for curve in curves if curve.series.mechanism == mechanism]
            spreads.append(findings.largest_spread(own))
        gaps[mechanism] = max(spreads)
    return [
        "The paper chooses the trajectory closest to both copies. By the triangle inequality, "
        "the locations of each copy always satisfy this rule. So the rule does not decide "
        "between them, and the result depends on the implementation. Three ways to decide "
        f"differ by up to {gaps['tp']:.4f} in TP and {gaps['atp']:.4f} in ATP."
    ]


def _ends(experiment: Experiment, results: Results) -> list[str]:
    """The NE at the first and the last tick of the axis."""
    sentences = []
    for base in experiment.bases(results.catalogue):
        curves = results.curves(experiment, base, "ne")
        lines = {label_of(curve.series.mechanism): curve.mean for curve in curves}
        lines["the best constant"] = results.baseline_curves(experiment, base, "ne")["constant"]
        ends = [f"{name} {mean[0]:.4f} and {mean[-1]:.4f}" for name, mean in lines.items()]
        first, last = curves[0].x[0], curves[0].x[-1]
        sentences.append(
            f"NE on {set_label(base)} at {first} and {last} ({experiment.axis.label}): "
            f"{'; '.join(ends)}."
        )
    return sentences


def _table_1(experiment: Experiment, results: Results) -> list[str]:
    rows = direction_rows()
    epsilons_of: dict[tuple[int, int], list[str]] = {}
    for epsilon, old, new in {tuple(row[name] for name in CHOICES): None for row in rows}:
        if old != new:
            epsilons_of.setdefault((old, new), []).append(epsilon)
    changes = [
        f"{new} instead of {old} at ε = {listed(epsilons)}"
        for (old, new), epsilons in epsilons_of.items()
    ]
    return [
        f"All {len(rows)} printed values are reproduced to the last digit if the probability "
        "of each wrong sector is divided once more by the number of wrong sectors, which the "
        "equation beside the table does not do (largest difference "
        f"{largest_difference('as_printed'):.1g}). By the equation itself, values differ by up "
        f"to {largest_difference('by_equation'):.4f}, and other numbers of sectors are chosen: "
        f"{listed(changes)}."
    ]


def _table_2(experiment: Experiment, results: Results) -> list[str]:
    by_set = []
    for base in _bases(results):
        equal = results.baselines(SetKey(base))["flat"]["acd"]
        rows = findings.count_rows(results, base)
        better = [label_of(name) for name, score in rows.items() if score < equal]
        by_set.append(f"{set_label(base)} {equal:.2f} ({listed(better) or 'none'} below it)")
    sentences = [
        "The baseline of equal counts gives every location the same count, without any report. "
        f"Its mean count difference: {listed(by_set)}."
    ]
    tally = findings.printed_above_equal_counts(results)
    if tally.of:
        sentences.append(
            f"Of the {tally.of} values printed in the paper for these sets, {tally.count} are "
            "no better than this baseline."
        )
    return sentences


def _frontier(experiment: Experiment, results: Results) -> list[str]:
    claims = findings.worst_claims(results)
    strict = {name: claims[name] for name in claims if name not in AS_PUBLISHED}
    bounded = "is at most" if findings.all_hold(strict) else "IS NOT ALWAYS AT MOST"
    sentences = [
        f"The exact loss of {listed([label_of(name) for name in strict])} on the auditor's "
        f"small maps {bounded} the claimed ε, at every ε audited. The audit covers reports; "
        "decoding them is post-processing and reveals nothing more."
    ]
    for name in AS_PUBLISHED:
        if name in claims:
            epsilon, losses = claims[name]
            sentences.append(
                f"{label_of(name)}: at a claimed ε = {epsilon}, the exact loss of all draws is "
                f"{_loss(losses['transcript_loss'])} and that of the report alone is "
                f"{_loss(losses['final_loss'])}."
            )
    sentences.append(
        "CGM and TraCS draw floating-point numbers from continuous laws. The exact audit does "
        "not cover them, and nothing is guaranteed for them here."
    )
    return [*sentences, DECODING, _gains(results)]


def _gains(results: Results) -> str:
    """How decoding changes the error of each mechanism on each set."""
    gains_of = {base: findings.decoding_gains(results, base) for base in _bases(results)}
    lower = []
    for name in DECODED:
        tallies = [
            gain.lower
            for gains in gains_of.values()
            for gain in gains
            if gain.mechanism == name
        ]
        count, settings = (
            sum(tally.count for tally in tallies),
            sum(tally.of for tally in tallies),
        )
        lower.append(f"of {label_of(name)} in {count} of {settings} settings")
    by_set = [
        f"on {set_label(base)} "
        + listed(
            [
                f"{label_of(gain.mechanism)} {gain.reported:.4f} against {gain.decoded:.4f}"
                for gain in gains
            ]
        )
        for base, gains in gains_of.items()
    ]
    return (
        f"Decoding reduces the error {listed(lower)}. NE at ε = {results.plan.epsilons[-1]} as "
        f"reported against decoded: {'; '.join(by_set)}."
    )


def _loss(loss: float | str) -> str:
    return "unbounded" if loss == "infinite" else format_epsilon(float(loss), 4)


def _bases(results: Results) -> tuple[str, ...]:
    return EXPERIMENTS["ne"].bases(results.catalogue)


SENTENCES: dict[str, Callable[[Experiment, Results], list[str]]] = {
    "ne": _ne,
    "prq": _prq,
    "radius": _radius,
    "directions": _directions,
    "granularity": _granularity,
    "budget": _budget,
    "merge": _merge,
    "locations": _ends,
    "length": _ends,
    "reach": _ends,
    "table1": _table_1,
    "table2": _table_2,
    "frontier": _frontier,
}
