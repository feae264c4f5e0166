"""Whether ATLAS tells more when more people report, by the size of its book.

OPENBLAS_NUM_THREADS=1 python benchmarks/answers_people.py [--data DIR] [--sets nyc,chi]
        prints the table; values into docs/measured.json
python docs/generate.py    values into the documents

People are drawn as in answers.py, at epsilon 8. "Without end" is the likeliest of all possible
truths, from the public walks, when reports come exactly as often as the law says: what is wrong
then is what the book does not tell apart. How nearly it reports as true people do is printed
for the book by default: half the sum of the differences of the chances of reports.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from answers import SEED, direct, population
from answers_atlas import AtlasReports
from answers_questions import Population
from estimates_tables import LABELS, MEASURED, table

from nomadp.laws import probabilities

EPSILON = 8.0
PEOPLE = (3_000, 30_000, 300_000)
ROUNDS = 300
"""Of expectation maximisation: more change nothing that is shown."""
AT_ONCE = 1024
BOOKS = (None, 1024)
ASKED = ("density", "trips")
"""What is scored, as in answers.py."""


def without_end(reports: AtlasReports, crowd: Population) -> tuple[dict[str, Any], float]:
    """What the reports of ever more people come to, and how far its own are from theirs."""
    often = np.zeros(reports.channel.size)
    for start in range(0, len(crowd.journeys), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        chances = probabilities(reports.channel, crowd.journeys[some].T)
        often += crowd.weights[some] @ chances
    support = reports.evidence.support
    weights = np.full(len(support), 1 / len(support))
    for _ in range(ROUNDS):
        weights = reports.evidence.expected_counts(weights, often)
        weights /= weights.sum()
    apart = np.abs(reports.evidence.marginals(weights) - often).sum() / 2
    return crowd.shares(support, weights), float(apart)


def scored(crowd: Population, shares: dict[str, Any]) -> str:
    found = crowd.scores(shares)
    return " / ".join(f"{found[question]:.3f}".lstrip("0") for question in ASKED)


def of_set(name: str, folder: Path | None) -> tuple[list[list[str]], float]:
    """The rows of one set, and how far apart the reports of two populations are at most."""
    apart: list[float] = []
    crowd = population(name, folder, quick=False)
    return list(rows(LABELS.get(name, name), crowd, apart)), max(apart)


def rows(name: str, crowd: Population, apart: list[float]) -> Iterator[list[str]]:
    """One for each book, one for asking directly and one for knowing nothing."""
    everybody = [
        crowd.drawn(count, np.random.default_rng([SEED, count, 0])) for count in PEOPLE
    ]
    for size in BOOKS:
        reports = AtlasReports(crowd, str(EPSILON), size)
        rng = np.random.default_rng(SEED)
        told = [reports.drawn(people, rng) for people in everybody]
        cells = [scored(crowd, reports.estimated(each)) for each in told]
        shares, away = without_end(reports, crowd)
        if size is None:  # more journeys would take more rounds to report as alike
            apart.append(away)
        cells.append(scored(crowd, shares))
        asked = "by default" if size is None else f"`size={size}`"
        yield [f"{name}, ATLAS {asked} ({reports.channel.size} codewords)", *cells]
    rng = np.random.default_rng(SEED)
    answers = [direct(crowd, EPSILON, people, rng) for people in everybody]
    cells = [scored(crowd, each["direct smoothed"]) for each in answers]
    yield [f"{name}, frequency oracle", *cells, "-"]
    yield [f"{name}, baseline", *[scored(crowd, crowd.flat)] * (len(PEOPLE) + 1)]


def main(args: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets", default="nyc,chi")
    asked = parser.parse_args(args)
    with ProcessPoolExecutor() as processes:
        of_sets = processes.map(partial(of_set, folder=asked.data), asked.sets.split(","))
        several, apart = zip(*of_sets, strict=True)
    found = [row for some in several for row in some]
    header = ["density / trips, ε = 8", *(f"{count:,} people" for count in PEOPLE)]
    shown = table([*header, "without end"], found)
    away = f"{max(apart):.5f}".lstrip("0")
    print(shown, f"reports differ by at most {away}", sep="\n")
    known = json.loads(MEASURED.read_text())
    known |= {"atlas-people": shown, "atlas-people-apart": away}
    MEASURED.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
