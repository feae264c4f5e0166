"""The tables of the report: the numbers of the figures, and comparisons with baselines."""

from collections.abc import Sequence

from nomadp.analysis.measures import BASELINES, is_better
from nomadp.mechanisms.pivot.granularity import CANDIDATES
from nomadp.page import Cell, number, table
from nomadp.paper.cells import Setting
from nomadp.paper.claims import HOLDS, Claim
from nomadp.paper.datasets import SetKey, load, set_label
from nomadp.paper.findings import beaten_from
from nomadp.paper.lines import AS_PUBLISHED, COMPARED, EVERY_ANSWER
from nomadp.paper.panels import score_label, series_label
from nomadp.paper.reference import direction_rows
from nomadp.paper.results import Results, better_baseline
from nomadp.paper.specs import Experiment
from nomadp.paper.style import BASELINE_LABELS, label_of

__all__ = [
    "audit_table",
    "beaten_table",
    "claim_table",
    "curve_tables",
    "dataset_table",
    "direction_table",
    "score_table",
]


def curve_tables(experiment: Experiment, results: Results) -> str:
    """The numbers of a figure and its baselines; scores worse than a baseline are marked."""
    return "".join(
        _curve_table(experiment, results, base, metric)
        for base in experiment.bases(results.catalogue)
        for metric in results.metrics(experiment, base)
    )


def _curve_table(experiment: Experiment, results: Results, base: str, metric: str) -> str:
    curves = results.curves(experiment, base, metric)
    baselines = results.baseline_curves(experiment, base, metric)
    by_point = list(zip(*baselines.values(), strict=True))
    printed = results.printed_counts(base) if metric == "acd" else {}
    rows = []
    for curve in curves:
        cells = []
        for value, others in zip(curve.values, by_point, strict=True):
            better = all(is_better(metric, value.mean, other) for other in others)
            text = f"{rounded(metric, value.mean)} ± {rounded(metric, value.sd)}"
            cells.append(number(text, "" if better else "worse"))
        if printed:
            count = printed.get(curve.series.mechanism)
            cells.append(number("" if count is None else rounded(metric, count)))
        rows.append([Cell(series_label(curve.series)), *cells])
    for baseline, scores in baselines.items():
        cells = [number(rounded(metric, score)) for score in scores]
        rows.append([Cell(BASELINE_LABELS[baseline], "baseline"), *cells])
    ticks = [f"ε = {x}" if not experiment.axis.variation else x for x in curves[0].x]
    columns = [Cell("Answer"), *map(number, ticks)]
    columns += [number("printed")] if printed else []
    caption = f"{set_label(base)}: {score_label(metric)}. Mean ± standard deviation over "
    return table(f"{caption}{results.plan.runs} runs.", columns, rows)


def direction_table() -> str:
    """Table 1 as printed, and by the equation it cites."""
    rows = direction_rows()
    lines = []
    for reading, label in (("printed", "printed"), ("by_equation", "by the equation")):
        for epsilon in dict.fromkeys(row["epsilon"] for row in rows):
            value = {
                row["granularity"]: row[reading] for row in rows if row["epsilon"] == epsilon
            }
            chosen = max(value, key=value.__getitem__)
            cells = [
                number(f"{value[g]:.8f}", "chosen" if g == chosen else "") for g in CANDIDATES
            ]
            lines.append([Cell(f"ε = {epsilon}, {label}"), *cells])
    columns = [Cell("Budget"), *(number(f"g = {g}") for g in CANDIDATES)]
    return table("Probability that a direction survives; the largest in bold.", columns, lines)


def beaten_table(results: Results) -> str:
    """From which epsilon on each answer errs less than the best constant."""
    bases = results.catalogue.names
    last = results.plan.epsilons[-1]
    rows = []
    for series in EVERY_ANSWER:
        smallest = [beaten_from(results, base, series) for base in bases]
        cells = [number(f"ε ≥ {e}") if e else number("none", "worse") for e in smallest]
        rows.append([Cell(series_label(series)), *cells])
    columns = [Cell("Answer"), *(number(set_label(base)) for base in bases)]
    caption = (
        "The smallest ε from which reports, or their decoded points, have a lower error (NE) "
        "than the best constant, which does not depend on the data; “none” if there is none "
        f"up to ε\u00a0=\u00a0{last}."
    )
    return table(caption, columns, rows)


def claim_table(judged: Sequence[Claim]) -> str:
    """The paper's claims, with our evidence and verdict."""
    rows = [
        [
            Cell(claim.paper, "sentence"),
            Cell(claim.evidence, "sentence"),
            Cell(claim.verdict, "" if claim.verdict == HOLDS else "worse"),
        ]
        for claim in judged
    ]
    columns = [Cell("Claim of the paper"), Cell("Our results"), Cell("Verdict")]
    return table("A claim holds if at least 90 % of all comparisons agree.", columns, rows)


def score_table(results: Results, base: str, epsilon: str) -> str:
    """All scores of each mechanism's reports; those no better than a baseline are marked."""
    baselines = results.baselines(SetKey(base))
    metrics = [metric for metric in baselines["constant"] if metric != "error_km"]
    rows = []
    for name in (*COMPARED, *AS_PUBLISHED):
        setting = Setting(SetKey(base), name, (), epsilon)
        cells = []
        for metric in metrics:
            score = results.value(setting, metric).mean
            worse = not is_better(metric, score, better_baseline(baselines, metric)[1])
            cells.append(number(rounded(metric, score), "worse" if worse else ""))
        rows.append([Cell(label_of(name)), *cells])
    for baseline in BASELINES:
        cells = [
            number(
                rounded(metric, baselines[baseline][metric])
                if metric in baselines[baseline]
                else ""
            )
            for metric in metrics
        ]
        rows.append([Cell(BASELINE_LABELS[baseline], "baseline"), *cells])
    columns = [Cell("Answer"), *(number(score_label(metric)) for metric in metrics)]
    return table(f"{set_label(base)}, ε = {epsilon}.", columns, rows)


def audit_table(experiment: Experiment, results: Results) -> str:
    """Exact losses on the auditor's maps."""
    rows = []
    for audit in experiment.audits(results.plan):
        audited = results.of(audit)
        losses = [str(audited[name]).replace("infinite", "∞") for name in LOSSES]
        cells = [number(audit.epsilon), *map(number, losses)]
        flags = ", ".join(audited["flags"])
        verdict = Cell(f"broken ({flags})", "worse") if flags else Cell("holds")
        rows.append([Cell(label_of(audit.mechanism)), *cells, verdict])
    columns = [Cell("Mechanism"), number("ε claimed"), number("everything drawn")]
    columns += [number("the report alone"), Cell("Verdict")]
    length = results.plan.audited_length
    return table(f"Exact loss for trajectories of {length} points.", columns, rows)


LOSSES = ("transcript_loss", "final_loss")


def dataset_table(results: Results) -> str:
    """The size and the hash of each data set."""
    rows = []
    for base in results.catalogue.names:
        facts = load(results.catalogue, SetKey(base)).facts()
        numbers = [f"{facts[name]:,}" for name in ("locations", "trajectories", "points")]
        numbers += [f"{facts['diameter_km']:.3f}"]
        cells = [*map(number, numbers), Cell(facts["sha256"], "hash")]
        rows.append([Cell(set_label(base)), *cells])
    names = ("Locations", "Trajectories", "Points", "Largest distance, km")
    columns = [Cell("Set"), *map(number, names), Cell("SHA-256")]
    return table("The data sets.", columns, rows)


def rounded(metric: str, score: float) -> str:
    """A score with the number of decimals that suits its unit."""
    percent_or_count = metric.startswith("prq_") or metric in ("acd", "step_w1_km", "error_km")
    return f"{score:.{2 if percent_or_count else 4}f}"
