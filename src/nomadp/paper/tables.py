"""Tables of the report: the numbers behind the figures, and what follows from them."""

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
    """The numbers behind a figure, baselines included; what is worse than them is marked."""
    return "".join(
        _curve_table(experiment, results, base, metric)
        for base in experiment.bases(results.catalogue)
        for metric in results.metrics(experiment, base)
    )


def _curve_table(experiment: Experiment, results: Results, base: str, metric: str) -> str:
    curves = results.curves(experiment, base, metric)
    baselines = results.baseline_curves(experiment, base, metric)
    at = list(zip(*baselines.values(), strict=True))
    printed = results.printed_counts(base) if metric == "acd" else {}
    rows = []
    for curve in curves:
        cells = [
            number(
                f"{shown(metric, value.mean)} ± {shown(metric, value.sd)}",
                ""
                if all(is_better(metric, value.mean, baseline) for baseline in here)
                else "worse",
            )
            for value, here in zip(curve.values, at, strict=True)
        ]
        if printed:
            value = printed.get(curve.series.mechanism)
            cells.append(number("" if value is None else shown(metric, value)))
        rows.append([Cell(series_label(curve.series)), *cells])
    for baseline, scores in baselines.items():
        cells = [number(shown(metric, score)) for score in scores]
        rows.append([Cell(BASELINE_LABELS[baseline], "baseline"), *cells])
    along = [f"ε = {x}" if not experiment.axis.variation else x for x in curves[0].x]
    columns = [Cell("Answer"), *map(number, along)]
    columns += [number("printed")] if printed else []
    caption = f"{set_label(base)}: {score_label(metric)}. Mean ± standard deviation over "
    return table(f"{caption}{results.plan.runs} runs.", columns, rows)


def direction_table() -> str:
    """Table 1 as printed, and by the equation it cites."""
    rows = direction_rows()
    lines = []
    for reading, words in (("printed", "printed"), ("by_equation", "by the equation")):
        for epsilon in dict.fromkeys(row["epsilon"] for row in rows):
            of = {row["granularity"]: row for row in rows if row["epsilon"] == epsilon}
            chosen = max(of, key=lambda g: of[g][reading])
            cells = [
                number(f"{of[g][reading]:.8f}", "chosen" if g == chosen else "")
                for g in CANDIDATES
            ]
            lines.append([Cell(f"ε = {epsilon}, {words}"), *cells])
    columns = [Cell("Budget"), *(number(f"g = {g}") for g in CANDIDATES)]
    return table("Probability that a direction survives; the largest in bold.", columns, lines)


def beaten_table(results: Results) -> str:
    """From which epsilon on each answer errs less than the best constant."""
    bases = results.catalogue.names
    last = results.plan.epsilons[-1]
    rows = []
    for series in EVERY_ANSWER:
        found = [beaten_from(results, base, series) for base in bases]
        cells = [number(f"ε ≥ {e}") if e else number("none", "worse") for e in found]
        rows.append([Cell(series_label(series)), *cells])
    columns = [Cell("Answer"), *(number(set_label(base)) for base in bases)]
    caption = (
        "The budgets at which a report, or what is decoded from it, errs less (NE) than the "
        "best constant, which never saw the data; “none” if there is none up to "
        f"ε\u00a0=\u00a0{last}."
    )
    return table(caption, columns, rows)


def claim_table(found: Sequence[Claim]) -> str:
    """The paper's own claims, judged."""
    rows = [
        [
            Cell(claim.paper, "sentence"),
            Cell(claim.found, "sentence"),
            Cell(claim.verdict, "" if claim.verdict == HOLDS else "worse"),
        ]
        for claim in found
    ]
    columns = [Cell("The paper says"), Cell("Found here"), Cell("Verdict")]
    return table("A claim holds if nine places in ten agree with it.", columns, rows)


def score_table(results: Results, base: str, epsilon: str) -> str:
    """Every score of every mechanism's reports; what no information also gets is marked."""
    baselines = results.baselines(SetKey(base))
    metrics = [metric for metric in baselines["constant"] if metric != "error_km"]
    rows = []
    for name in (*COMPARED, *AS_PUBLISHED):
        setting = Setting(SetKey(base), name, (), epsilon)
        cells = []
        for metric in metrics:
            score = results.value(setting, metric).mean
            worse = not is_better(metric, score, better_baseline(baselines, metric)[1])
            cells.append(number(shown(metric, score), "worse" if worse else ""))
        rows.append([Cell(label_of(name)), *cells])
    for baseline in BASELINES:
        cells = [
            number(
                shown(metric, baselines[baseline][metric])
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
        found = results.of(audit)
        losses = [str(found[name]).replace("infinite", "∞") for name in LOSSES]
        cells = [number(audit.epsilon), *map(number, losses)]
        flags = ", ".join(found["flags"])
        verdict = Cell(f"broken ({flags})", "worse") if flags else Cell("holds")
        rows.append([Cell(label_of(audit.mechanism)), *cells, verdict])
    columns = [Cell("Mechanism"), number("ε claimed"), number("everything drawn")]
    columns += [number("the report alone"), Cell("Verdict")]
    length = results.plan.audited_length
    return table(f"Exact loss for trajectories of {length} points.", columns, rows)


LOSSES = ("transcript_loss", "final_loss")


def dataset_table(results: Results) -> str:
    """The sets that were compared."""
    rows = []
    for base in results.catalogue.names:
        facts = load(results.catalogue, SetKey(base)).facts()
        numbers = [f"{facts[name]:,}" for name in ("locations", "trajectories", "points")]
        numbers += [f"{facts['diameter_km']:.3f}"]
        cells = [*map(number, numbers), Cell(facts["sha256"], "hash")]
        rows.append([Cell(set_label(base)), *cells])
    names = ("Locations", "Trajectories", "Points", "Largest distance, km")
    columns = [Cell("Set"), *map(number, names), Cell("SHA-256")]
    return table("What was perturbed.", columns, rows)


def shown(metric: str, score: float) -> str:
    """As many digits as a score deserves."""
    percent_or_count = metric.startswith("prq_") or metric in ("acd", "step_w1_km", "error_km")
    return f"{score:.{2 if percent_or_count else 4}f}"
