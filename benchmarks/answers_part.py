"""Update some cells of docs/answers.md: one kind of estimate at some epsilons, on every set.

python benchmarks/answers.py RESULTS --data DIR --only atlas --epsilons 1,2
python benchmarks/answers_part.py RESULTS    update the means over sets in docs/measured.json
python docs/generate.py                      update the documents

Comparisons between estimates (the other tables and the figure) need answers_tables.py.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from answers import EPSILONS, PEOPLE, SETS
from answers_questions import QUESTIONS
from answers_tables import NAMES, _shown
from estimates_tables import MEASURED


def measured(folder: Path, epsilon: str) -> dict[str, dict[str, str]]:
    """Means over all sets for each number of people, by estimate and query."""
    paths = [folder / f"{name}-{epsilon}.json" for name in SETS]
    if not all(path.exists() for path in paths):
        return {}
    sets = [json.loads(path.read_text()) for path in paths]
    cells: dict[str, dict[str, str]] = {}
    for kind in sets[0]:
        for name in sets[0][kind][str(PEOPLE[0])]:
            for question in QUESTIONS:
                means = [_mean(sets, (kind, str(people), name), question) for people in PEOPLE]
                cells.setdefault(name, {})[question] = _shown(means)
    return cells


def _mean(sets: list[Any], key: tuple[str, str, str], question: str) -> float:
    kind, people, name = key
    draws_by_set = [
        [draw[question] for draw in results[kind][people][name]] for results in sets
    ]
    return float(np.mean([np.mean(draws) for draws in draws_by_set]))


def replaced(text: str, label: str, column: int, cell: str) -> str:
    """A table with one cell replaced."""
    lines = text.split("\n")
    for k, line in enumerate(lines):
        cells = line.split("|")
        if len(cells) > column and cells[1].strip() == label:
            cells[column] = f" {cell} "
            lines[k] = "|".join(cells)
    return "\n".join(lines)


def main(args: list[str]) -> int:
    known = json.loads(MEASURED.read_text())
    for column, epsilon in enumerate(EPSILONS, 2):
        for name, by_query in measured(Path(args[0]), epsilon).items():
            for question, cell in by_query.items():
                key = f"answers-{question}"
                if name in NAMES:
                    known[key] = replaced(known[key], NAMES[name], column, cell)
                    print(f"{question}, {NAMES[name]}, epsilon {epsilon}: {cell}")
    MEASURED.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
