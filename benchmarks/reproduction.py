"""Update docs/reproduction.md with the results of the paper's experiments.

nomadp paper all --data DIR --out RESULTS
python benchmarks/reproduction.py RESULTS      write docs/measured.json and the figures
python docs/generate.py                        update the documents
"""

import json
import sys
from pathlib import Path

from nomadp.budget import format_epsilon
from nomadp.page import listed
from nomadp.paper import EXPERIMENTS, reopen
from nomadp.paper.cells import Audit
from nomadp.paper.claims import claims
from nomadp.paper.datasets import SetKey, set_label
from nomadp.paper.findings import (
    PAPER_METHODS,
    beaten_from,
    count_rows,
    losing_to_the_constant,
    printed_above_equal_counts,
)
from nomadp.paper.lines import AS_PUBLISHED, COMPARED, EVERY_ANSWER
from nomadp.paper.panels import series_label
from nomadp.paper.report import amount
from nomadp.paper.results import Results
from nomadp.paper.sentences import DECODING, verdict
from nomadp.paper.specs import Experiment
from nomadp.paper.style import BASELINE_LABELS, label_of

ROOT = Path(__file__).resolve().parent.parent
MEASURED = ROOT / "docs" / "measured.json"
FIGURES = ROOT / "docs" / "images" / "reproduction"
SHOWN = ("1", "2", "4", "6", "8", "10")
NAMES = (*COMPARED, *AS_PUBLISHED)


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table, with empty lines around it."""
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def errors(results: Results) -> str:
    """The NE at some epsilons, with a row for each reported or decoded answer."""
    epsilons = [epsilon for epsilon in SHOWN if epsilon in results.plan.epsilons]
    bases = results.catalogue.names
    rows = []
    for series in EVERY_ANSWER:
        cells = [
            " ".join(
                f"{results.value(series.setting(SetKey(base), e), 'ne').mean:.4f}"[1:]
                for e in epsilons
            )
            for base in bases
        ]
        rows.append([series_label(series), *cells])
    for name in ("constant", "uniform"):
        scores = [f"{results.baselines(SetKey(base))[name]['ne']:.4f}"[1:] for base in bases]
        rows.append([BASELINE_LABELS[name], *scores])
    return table([f"NE at ε = {', '.join(epsilons)}", *map(set_label, bases)], rows)


def beaten(results: Results) -> str:
    bases = results.catalogue.names
    rows = []
    for series in EVERY_ANSWER:
        epsilons = [beaten_from(results, base, series) for base in bases]
        rows.append([series_label(series), *(f"ε ≥ {e}" if e else "never" for e in epsilons)])
    return table(["lower NE than the constant", *map(set_label, bases)], rows)


def counts(results: Results) -> str:
    """Table 2: the printed and the measured values, and baselines without any report."""
    bases = results.catalogue.names
    measured = {base: count_rows(results, base) for base in bases}
    printed = {base: results.printed_counts(base) for base in bases}
    rows = []
    for name in NAMES:
        cells = [
            f"{measured[base][name]:.2f}"
            + (f" (printed {printed[base][name]:.2f})" if name in printed[base] else "")
            for base in bases
        ]
        rows.append([label_of(name), *cells])
    for baseline, words in BASELINE_LABELS.items():
        scores = [f"{results.baselines(SetKey(base))[baseline]['acd']:.2f}" for base in bases]
        rows.append([words, *scores])
    return table(["ACD at ε = 4", *map(set_label, bases)], rows)


def no_better_than_baseline(results: Results) -> str:
    above = printed_above_equal_counts(results)
    if not above.of:
        return "Table 2 is not compared here: this run does not have all of the paper's data"
    counts = f"{above.count} are no better than equal counts"
    return f"Of the {above.of} values that Table 2 prints, {counts}"


def campus_counts(results: Results) -> str:
    """The range of our values for CPS, to compare with Table 2."""
    base = results.catalogue.campus
    if base not in results.catalogue.names:
        return "CPS is not among the sets of this run"
    forms = [count_rows(results, base)[name] for name in ("tp", "atp", *AS_PUBLISHED)]
    span = f"{min(forms):.2f} to {max(forms):.2f}"
    return f"TP and ATP, in either form, come to {span} on {set_label(base)}"


def leak(results: Results) -> str:
    losses = []
    for name in results.plan.audited_published:
        for epsilon in ("1", "4"):
            if epsilon in results.plan.audited_epsilons:
                loss = results.of(Audit(name, epsilon, results.plan.audited_length))
                final = format_epsilon(float(loss["final_loss"]), 4)
                text = f"{loss['transcript_loss']} and {final} at a claimed ε = {epsilon}"
                losses.append(f"{label_of(name)}: {text}")
    return "; ".join(losses)


def claimed(results: Results) -> str:
    rows = [[c.paper, c.evidence, c.verdict] for c in claims(results, list(EXPERIMENTS))]
    return table(["The paper says", "Our results", "Verdict"], rows)


def _paragraphs(experiment: Experiment, results: Results) -> list[str]:
    # The document defines decoding once, before all figures.
    return [text for text in verdict(experiment, results) if text != DECODING]


def facts(results: Results) -> dict[str, str]:
    lost = losing_to_the_constant(results, PAPER_METHODS)
    sets = listed([set_label(base) for base in results.catalogue.names])
    verdicts = {
        f"repro-{name}": "\n" + "\n\n".join(_paragraphs(experiment, results)) + "\n"
        for name, experiment in EXPERIMENTS.items()
    }
    return verdicts | {
        "repro-run": f"{amount(results)}, on {sets}",
        "repro-claims": claimed(results),
        "repro-lost": f"{lost.count} of {lost.of}",
        "repro-errors": errors(results),
        "repro-beaten": beaten(results),
        "repro-counts": counts(results),
        "repro-table2-baseline": no_better_than_baseline(results),
        "repro-campus": campus_counts(results),
        "repro-leak": leak(results),
    }


def main(args: list[str]) -> int:
    if len(args) != 1:
        print(__doc__)
        return 2
    paper = reopen(Path(args[0]))
    if missing := paper.missing():
        print(f"{len(missing)} pieces of work are missing; run nomadp paper all first")
        return 1
    results = Results(paper.catalogue, paper.plan, paper.store)
    known = json.loads(MEASURED.read_text())
    known.update(facts(results))
    MEASURED.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
    FIGURES.mkdir(parents=True, exist_ok=True)
    for name in EXPERIMENTS:
        (FIGURES / f"{name}.svg").write_bytes((paper.out / f"{name}.svg").read_bytes())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
