"""The tables and the figure of docs/answers.md, from the results of benchmarks/answers.py.

python benchmarks/answers_tables.py RESULTS     write docs/measured.json and docs/images
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from answers import EPSILONS, PEOPLE, SETS
from answers_figure import drawn
from answers_questions import QUESTIONS
from estimates_tables import LABELS, MEASURED, table

FIGURE = MEASURED.parent / "images" / "answers.svg"
NAMES = {
    "flat": "baseline (no information)",
    "no privacy": "no privacy (sampling alone)",
    "atlas counted": "ATLAS counted",
    "atlas estimated": "ATLAS estimated",
    "atlas large": "ATLAS estimated, codebook of 512",
    "direct raw": "frequency oracle, raw",
    "direct smoothed": "frequency oracle, smoothed",
    "oue": "OUE",
    "olh": "local hashing",
    "grr": "GRR",
    "ldptrace": "LDPTrace, better grid",
}
SET_NAMES = LABELS | {"city": "city", "new-town": "new town"}
OURS = "direct smoothed"
CLEARLY = 1.05
"""An error larger by this factor is a loss; smaller differences may be sampling error."""
NEGLIGIBLE = 0.01
"""An error of ours below this is never a loss."""

Cell = tuple[str, str, int]
"""A set, an epsilon and a number of people."""
Results = dict[Cell, dict[str, dict[str, float]]]
"""The mean score over draws, by cell, estimate and query."""


def read(folder: Path) -> Results:
    """Means over draws, for the sets that were measured completely."""
    results: Results = {}
    for name in SETS:
        paths = {e: folder / f"{name}-{e}.json" for e in EPSILONS}
        if not all(path.exists() for path in paths.values()):
            continue
        for epsilon, path in paths.items():
            kinds = json.loads(path.read_text())
            for people in PEOPLE:
                drawn_scores: dict[str, Any] = {}
                for kind in kinds.values():
                    drawn_scores |= kind[str(people)]
                results[name, epsilon, people] = _means(drawn_scores)
    return results


def _means(draws: dict[str, list[dict[str, float]]]) -> dict[str, dict[str, float]]:
    means = {
        name: {
            question: float(np.mean([draw[question] for draw in scores]))
            for question in scores[0]
        }
        for name, scores in draws.items()
    }
    grids = [means.pop(name) for name in list(means) if name.startswith("ldptrace")]
    means["ldptrace"] = {
        question: (max if question == "hotspots" else min)(grid[question] for grid in grids)
        for question in QUESTIONS
    }
    return means


def error(question: str, score: float) -> float:
    """The error of a score: 1 - recall for hotspots, the score itself for other queries."""
    return 1 - score if question == "hotspots" else score


def by_epsilon(results: Results, question: str) -> str:
    """Means over all sets: a row for each estimate, and all numbers of people in one cell."""
    rows = []
    for name, label in _named(results):
        row = [label]
        for epsilon in EPSILONS:
            cells = [
                np.mean([results[s, epsilon, people][name][question] for s in _sets(results)])
                for people in PEOPLE
            ]
            row.append(_shown(cells))
        rows.append(row)
    return table(["mean over sets", *(f"ε = {epsilon}" for epsilon in EPSILONS)], rows)


def by_set(results: Results, question: str, epsilon: str = "4") -> str:
    rows = []
    for name, label in _named(results):
        row = [label]
        for set_name in _sets(results):
            row.append(
                _shown(
                    [results[set_name, epsilon, people][name][question] for people in PEOPLE]
                )
            )
        rows.append(row)
    return table([f"ε = {epsilon}", *(SET_NAMES[name] for name in _sets(results))], rows)


def when(results: Results) -> str:
    """On how many sets a frequency oracle is better than ATLAS, by number of people."""
    rows = []
    for question in QUESTIONS:
        row = [question]
        for epsilon in EPSILONS:
            wins = [
                sum(_wins(results[name, epsilon, n], question) for name in _sets(results))
                for n in PEOPLE
            ]
            row.append(" ".join(map(str, wins)))
        rows.append(row)
    return table([f"sets (of {len(_sets(results))})", *(f"ε = {e}" for e in EPSILONS)], rows)


def _wins(cell: dict[str, dict[str, float]], question: str) -> bool:
    """Whether the frequency oracle wins. It wins ties, because its error is known exactly."""
    direct, atlas = (
        error(question, cell[name][question]) for name in (OURS, "atlas estimated")
    )
    return direct <= atlas


def lost(results: Results) -> str:
    """Where another estimate or the baseline is clearly better than our frequency oracle."""
    rows = []
    for question in QUESTIONS:
        for name, label in _named(results):
            losses = _beaten(results, question, name)
            if name in (OURS, "no privacy") or not losses:
                continue
            (theirs, ours), (where, epsilon, people) = max(
                losses, key=lambda loss: loss[0][1] - loss[0][0]
            )
            row = [f"{question}: {label}", f"{len(losses)} of {len(results)}"]
            setting = f"{SET_NAMES[where]}, ε = {epsilon}, {people:,} people"
            rows.append([*row, setting, _shown([theirs]), _shown([ours])])
    header = ["query: better method", "settings", "largest difference", "its error", "ours"]
    return table(header, rows) if rows else " nowhere "


def _beaten(
    results: Results, question: str, name: str
) -> list[tuple[tuple[float, float], Cell]]:
    """Its error and ours, in the cells where it is clearly better."""
    pairs = [
        (
            (error(question, scores[name][question]), error(question, scores[OURS][question])),
            cell,
        )
        for cell, scores in results.items()
    ]
    return [
        (pair, cell) for pair, cell in pairs if pair[1] > max(CLEARLY * pair[0], NEGLIGIBLE)
    ]


def _named(results: Results) -> list[tuple[str, str]]:
    """The estimates that were measured in every cell."""
    return [
        (name, label)
        for name, label in NAMES.items()
        if all(name in cell for cell in results.values())
    ]


def _sets(results: Results) -> list[str]:
    return list(dict.fromkeys(name for name, _, _ in results))


def _shown(values: Any) -> str:
    return " ".join(f"{value:.3f}".lstrip("0") for value in values)


def facts(results: Results) -> dict[str, str]:
    tables = {"answers-when": when(results), "answers-lost": lost(results)}
    for question in QUESTIONS:
        tables[f"answers-{question}"] = by_epsilon(results, question)
        tables[f"answers-{question}-sets"] = by_set(results, question)
    return tables


def main(args: list[str]) -> int:
    results = read(Path(args[0]))
    if not results:
        raise SystemExit(f"{args[0]} must contain a set that was measured at every epsilon")
    tables = facts(results)
    for name, value in tables.items():
        print(f"{name}{value}")
    known = json.loads(MEASURED.read_text())
    known.update(tables)
    MEASURED.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
    FIGURE.write_text(drawn(results, NAMES), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
