"""What the numbers of an experiment say, in sentences that follow from them."""

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

__all__ = ["verdict"]

DECODING = (
    "Decoded means that each point of a report is replaced by the location with the smallest "
    "expected error, by Bayes with the mechanism's exact law and a uniform prior. Reports of "
    f"{' and '.join(map(label_of, DECODED))} are decoded here; a mechanism's name alone means "
    "its reports as they are."
)
CHOICES = ("epsilon", "chosen_as_printed", "chosen_by_equation")


def verdict(experiment: Experiment, results: Results) -> list[str]:
    """Paragraphs for the report, the most important first."""
    return WORDS[experiment.name](experiment, results)


def _ne(experiment: Experiment, results: Results) -> list[str]:
    tally = findings.losing_to_the_constant(results, findings.PAPER_METHODS)
    rest = tally.of - tally.count
    sentences = [
        f"At {rest or 'none'} of {tally.of} settings (each set, each ε) does a report of a "
        "method that the paper compares err less than always answering with the most central "
        "location; its own two mechanisms are counted in both forms, as published and strict."
    ]
    last = results.plan.epsilons[-1]
    for decoded, what in ((False, "a report as it is"), (True, "a decoded report")):
        found = [
            f"{label_of(each.mechanism)} with {each.score:.4f} on {set_label(base)} "
            f"(constant {each.floor:.4f})"
            for base in _bases(results)
            for each in [findings.best_at(results, base, last, "ne", decoded=decoded)]
        ]
        sentences.append(f"The lowest error of {what} at ε = {last}: {listed(found)}.")
    return [*sentences, DECODING]


def _prq(experiment: Experiment, results: Results) -> list[str]:
    last = results.plan.epsilons[-1]
    found = []
    for base in _bases(results):
        middle = load(results.catalogue, SetKey(base)).yardstick.radii_km[1]
        reported, decoded = (
            findings.best_at(results, base, last, f"prq_{middle:g}km", decoded=each)
            for each in (False, True)
        )
        found.append(
            f"on {set_label(base)} {reported.score:.1f} % within {middle:g} km, by "
            f"{label_of(reported.mechanism)}, and decoded {decoded.score:.1f} %, by "
            f"{label_of(decoded.mechanism)}, against {reported.floor:.1f} % without information"
        )
    most = f"The most points nearly right at ε = {last}, as reported: {'; '.join(found)}."
    return [most, DECODING]


def _radius(experiment: Experiment, results: Results) -> list[str]:
    tally = findings.lowest(results, experiment, PRIVATE_RADIUS)
    return [
        "The paper advises to report the radius privately rather than to fix it. Here the "
        f"private radius has the lowest error at {tally.count} of {tally.of} places of the "
        "figure; a fixed radius costs no budget, and what it saves goes to the points."
    ]


def _directions(experiment: Experiment, results: Results) -> list[str]:
    tally = findings.lowest(results, experiment, BOTH_DIRECTIONS)
    gaps = [
        findings.largest_spread(results.curves(experiment, base, "ne"))
        for base in experiment.bases(results.catalogue)
    ]
    return [
        f"Directions from both neighbours have the lower error at {tally.count} of {tally.of} "
        f"places; the two are never more than {max(gaps):.4f} apart."
    ]


def _granularity(experiment: Experiment, results: Results) -> list[str]:
    tally, loss = findings.chosen_granularity(results)
    return [
        f"The arithmetic of Table 1 picks the number of sectors with the lowest error at "
        f"{tally.count} of {tally.of} places; where it does not, it errs by at most {loss:.4f} "
        "more."
    ]


def _budget(experiment: Experiment, results: Results) -> list[str]:
    last = results.plan.epsilons[-1]
    found = []
    for base in experiment.bases(results.catalogue):
        ends: dict[str, list[str]] = {}
        for curve in results.curves(experiment, base, "ne"):
            ends.setdefault(curve.series.mechanism, []).append(f"{curve.mean[-1]:.4f}")
        pairs = [f"{label_of(name)} {' against '.join(pair)}" for name, pair in ends.items()]
        found.append(f"on {set_label(base)} {listed(pairs)}")
    return [
        "Section 6.1.2 of the paper gives each of the two copies half of ε. Algorithms 2 and 3 "
        "halve it too, and then divide by the number of draws of both copies: read literally, "
        "they use half of ε. That is private, and the unused half costs accuracy. NE at "
        f"ε = {last} with all of it against half of it: {'; '.join(found)}."
    ]


def _merge(experiment: Experiment, results: Results) -> list[str]:
    gaps = {}
    for mechanism in ("tp", "atp"):
        spreads = []
        for base in experiment.bases(results.catalogue):
            curves = results.curves(experiment, base, "ne")
            of = [curve for curve in curves if curve.series.mechanism == mechanism]
            spreads.append(findings.largest_spread(of))
        gaps[mechanism] = max(spreads)
    return [
        "The paper asks for the trajectory closest to both copies. By the triangle inequality "
        "each copy's own locations always are, so the rule decides nothing and an "
        "implementation's accident does. Three ways to decide differ by up to "
        f"{gaps['tp']:.4f} in TP and {gaps['atp']:.4f} in ATP."
    ]


def _ends(experiment: Experiment, results: Results) -> list[str]:
    """From the first to the last place of the axis."""
    sentences = []
    for base in experiment.bases(results.catalogue):
        curves = results.curves(experiment, base, "ne")
        lines = {label_of(curve.series.mechanism): curve.mean for curve in curves}
        lines["the best constant"] = results.floor_curves(experiment, base, "ne")["constant"]
        moves = [f"{name} from {mean[0]:.4f} to {mean[-1]:.4f}" for name, mean in lines.items()]
        first, last = curves[0].x[0], curves[0].x[-1]
        sentences.append(f"{set_label(base)}, from {first} to {last}: {listed(moves)}.")
    return sentences


def _table_1(experiment: Experiment, results: Results) -> list[str]:
    rows = direction_rows()
    other: dict[tuple[int, int], list[str]] = {}
    for epsilon, old, new in {tuple(row[name] for name in CHOICES): None for row in rows}:
        if old != new:
            other.setdefault((old, new), []).append(epsilon)
    changes = [
        f"{new} instead of {old} at ε = {listed(at)}" for (old, new), at in other.items()
    ]
    return [
        f"All {len(rows)} printed values come out to the last digit when the probability of "
        "each wrong sector is divided once more by the number of wrong sectors, which the "
        "equation beside the table does not do (largest difference "
        f"{largest_difference('as_printed'):.1g}). By the "
        f"equation itself they differ by up to {largest_difference('by_equation'):.4f}, and "
        f"other numbers of sectors are chosen: {listed(changes)}."
    ]


def _table_2(experiment: Experiment, results: Results) -> list[str]:
    beaten = []
    for base in _bases(results):
        flat = results.floors(SetKey(base))["flat"]["acd"]
        rows = findings.count_rows(results, base)
        under = [label_of(name) for name, score in rows.items() if score < flat]
        beaten.append(f"{set_label(base)} {flat:.2f} ({listed(under) or 'nothing'} below it)")
    sentences = [
        "The uniform baseline gives every location the same count and looks at no report. Its "
        f"mean difference: {listed(beaten)}."
    ]
    tally = findings.printed_above_flat(results)
    if tally.of:
        sentences.append(
            f"Of the {tally.of} values printed in the paper for these sets, {tally.count} are "
            "no better than the uniform baseline."
        )
    return sentences


def _frontier(experiment: Experiment, results: Results) -> list[str]:
    claims = findings.worst_claims(results)
    strict = {name: claims[name] for name in claims if name not in AS_PUBLISHED}
    kept = findings.are_kept(strict)
    sentences = [
        f"{listed([label_of(name) for name in strict])} "
        + ("keep" if kept else "DO NOT ALL KEEP")
        + " to what they claim at every ε audited, on the auditor's small maps, exactly. The "
        "audit is of reports; decoding them takes nothing else, and reveals nothing more."
    ]
    for name in AS_PUBLISHED:
        if name in claims:
            epsilon, losses = claims[name]
            sentences.append(
                f"{label_of(name)}: at a claimed ε = {epsilon} the draws reveal "
                f"{_loss(losses['transcript_loss'])} and the report alone "
                f"{_loss(losses['final_loss'])}."
            )
    sentences.append(
        "CGM and TraCS draw floating-point numbers from continuous laws; the exact audit does "
        "not reach them, and nothing is guaranteed for them here."
    )
    return [*sentences, DECODING, _gains(results)]


def _gains(results: Results) -> str:
    """Reports as they are against decoded ones, mechanism by mechanism."""
    gains = {base: findings.decoding_gains(results, base) for base in _bases(results)}
    lower = []
    for name in DECODED:
        of = [each.lower for some in gains.values() for each in some if each.mechanism == name]
        count, settings = sum(each.count for each in of), sum(each.of for each in of)
        lower.append(f"of {label_of(name)} at {count} of {settings} settings")
    found = [
        f"on {set_label(base)} "
        + listed(
            [
                f"{label_of(gain.mechanism)} {gain.reported:.4f} against {gain.decoded:.4f}"
                for gain in some
            ]
        )
        for base, some in gains.items()
    ]
    return (
        f"Decoded reports err less than the same reports as they are: {listed(lower)}. NE at "
        f"ε = {results.plan.epsilons[-1]} as reported against decoded: {'; '.join(found)}."
    )


def _loss(loss: float | str) -> str:
    if loss == "infinite":
        return "an unbounded loss"
    return f"a loss of {format_epsilon(float(loss), 4)}"


def _bases(results: Results) -> tuple[str, ...]:
    return EXPERIMENTS["ne"].bases(results.catalogue)


WORDS: dict[str, Callable[[Experiment, Results], list[str]]] = {
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
