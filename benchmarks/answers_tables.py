"""Tables and the figure of what benchmarks/answers.py measured, for docs/answers.md.

python benchmarks/answers_tables.py RESULTS     values into docs/measured.json, docs/images
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
"""So many times the error is a loss; less is chance of the few draws."""
ALIKE = 0.01
"""An error of ours below this is none."""

Cell = tuple[str, str, int]
"""A set, an epsilon and a number of people."""
Results = dict[Cell, dict[str, dict[str, float]]]
"""By cell and by answer: the mean score of its draws, by question."""


def read(folder: Path) -> Results:
    """Means over draws, of the sets that are whole."""
    found: Results = {}
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
                found[name, epsilon, people] = _means(drawn_scores)
    return found


def _means(draws: dict[str, list[dict[str, float]]]) -> dict[str, dict[str, float]]:
    found = {
        name: {
            question: float(np.mean([one[question] for one in each])) for question in each[0]
        }
        for name, each in draws.items()
    }
    grids = [found.pop(name) for name in list(found) if name.startswith("ldptrace")]
    found["ldptrace"] = {
        question: (max if question == "hotspots" else min)(one[question] for one in grids)
        for question in QUESTIONS
    }
    return found


def error(question: str, score: float) -> float:
    """Of hotspots, the part that is missed."""
    return 1 - score if question == "hotspots" else score


def by_epsilon(results: Results, question: str) -> str:
    """Means over all sets: a row for each answer, the numbers of people in one cell."""
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
        for one in _sets(results):
            row.append(
                _shown([results[one, epsilon, people][name][question] for people in PEOPLE])
            )
        rows.append(row)
    return table([f"ε = {epsilon}", *(SET_NAMES[name] for name in _sets(results))], rows)


def when(results: Results) -> str:
    """From how many people on a direct question errs less than ATLAS, on how many sets."""
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
    return table([f"of {len(_sets(results))} sets", *(f"ε = {e}" for e in EPSILONS)], rows)


def _wins(cell: dict[str, dict[str, float]], question: str) -> bool:
    """A tie goes to the direct question, whose error is known."""
    direct, atlas = (
        error(question, cell[name][question]) for name in (OURS, "atlas estimated")
    )
    return direct <= atlas


def lost(results: Results) -> str:
    """Where a peer, or knowing nothing, errs clearly less than a direct question, smoothed."""
    rows = []
    for question in QUESTIONS:
        for name, label in _named(results):
            beaten = _beaten(results, question, name)
            if name in (OURS, "no privacy") or not beaten:
                continue
            (theirs, ours), (where, epsilon, people) = max(
                beaten, key=lambda found: found[0][1] - found[0][0]
            )
            row = [f"{question}: {label}", f"{len(beaten)} of {len(results)}"]
            most = f"{SET_NAMES[where]}, ε = {epsilon}, {people:,} people"
            rows.append([*row, most, _shown([theirs]), _shown([ours])])
    header = ["smaller error than the frequency oracle", "settings", "most on", "it", "ours"]
    return table(header, rows) if rows else " nowhere "


def _beaten(
    results: Results, question: str, name: str
) -> list[tuple[tuple[float, float], Cell]]:
    """Its error and ours, where it is clearly less."""
    pairs = [
        ((error(question, found[name][question]), error(question, found[OURS][question])), cell)
        for cell, found in results.items()
    ]
    return [(pair, cell) for pair, cell in pairs if pair[1] > max(CLEARLY * pair[0], ALIKE)]


def _named(results: Results) -> list[tuple[str, str]]:
    """The answers that were measured everywhere."""
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
    found = {"answers-when": when(results), "answers-lost": lost(results)}
    for question in QUESTIONS:
        found[f"answers-{question}"] = by_epsilon(results, question)
        found[f"answers-{question}-sets"] = by_set(results, question)
    return found


def main(args: list[str]) -> int:
    results = read(Path(args[0]))
    if not results:
        raise SystemExit(f"{args[0]} holds no set that is measured at every epsilon")
    found = facts(results)
    for name, value in found.items():
        print(f"{name}{value}")
    known = json.loads(MEASURED.read_text())
    known.update(found)
    MEASURED.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
    FIGURE.write_text(drawn(results, NAMES), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
