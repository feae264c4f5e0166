"""How the error of ATLAS decreases with the number of people, by the size of the codebook.

OPENBLAS_NUM_THREADS=1 python benchmarks/answers_people.py [--data DIR] [--sets nyc,chi]
        prints the table and writes docs/measured.json
python docs/generate.py    update the documents

People are drawn as in answers.py, at epsilon 8. "Infinitely many" is the maximum likelihood
estimate over the public random-walk trajectories from the exact distribution of reports. Its
error is due to trajectories that the codebook cannot distinguish. For the default codebook, the
total variation distance between its reports and those of the true population is printed.
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
"""Iterations of expectation maximisation. More do not change the printed digits."""
CHUNK = 1024
CODEBOOK_SIZES = (None, 1024)
SCORED = ("density", "trips")
"""The queries that are scored, as in answers.py."""


def asymptotic(reports: AtlasReports, source: Population) -> tuple[dict[str, Any], float]:
    """The limit of infinitely many people, and the distance between its reports and theirs."""
    frequencies = np.zeros(reports.channel.size)
    for start in range(0, len(source.journeys), CHUNK):
        chunk = slice(start, start + CHUNK)
        chances = probabilities(reports.channel, source.journeys[chunk].T)
        frequencies += source.weights[chunk] @ chances
    support = reports.evidence.support
    weights = np.full(len(support), 1 / len(support))
    for _ in range(ROUNDS):
        weights = reports.evidence.expected_counts(weights, frequencies)
        weights /= weights.sum()
    total_variation = np.abs(reports.evidence.marginals(weights) - frequencies).sum() / 2
    return source.shares(support, weights), float(total_variation)


def scored(source: Population, shares: dict[str, Any]) -> str:
    scores = source.scores(shares)
    return " / ".join(f"{scores[question]:.3f}".lstrip("0") for question in SCORED)


def of_set(name: str, folder: Path | None) -> tuple[list[list[str]], float]:
    """The rows of one set, and the largest distance between two distributions of reports."""
    distances: list[float] = []
    source = population(name, folder, quick=False)
    return list(rows(LABELS.get(name, name), source, distances)), max(distances)


def rows(name: str, source: Population, distances: list[float]) -> Iterator[list[str]]:
    """A row for sample codebook, one for a frequency oracle and one for the baseline."""
    samples = [source.drawn(count, np.random.default_rng([SEED, count, 0])) for count in PEOPLE]
    for size in CODEBOOK_SIZES:
        reports = AtlasReports(source, str(EPSILON), size)
        rng = np.random.default_rng(SEED)
        counts = [reports.drawn(people, rng) for people in samples]
        cells = [scored(source, reports.estimated(sample)) for sample in counts]
        shares, distance = asymptotic(reports, source)
        if size is None:  # larger codebooks would need more iterations to converge
            distances.append(distance)
        cells.append(scored(source, shares))
        label = "default size" if size is None else f"`size={size}`"
        yield [f"{name}, ATLAS, {label} ({reports.channel.size} codewords)", *cells]
    rng = np.random.default_rng(SEED)
    answers = [direct(source, EPSILON, people, rng) for people in samples]
    cells = [scored(source, sample["direct smoothed"]) for sample in answers]
    yield [f"{name}, frequency oracle", *cells, "-"]
    yield [f"{name}, baseline", *[scored(source, source.baseline)] * (len(PEOPLE) + 1)]


def main(args: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets", default="nyc,chi")
    options = parser.parse_args(args)
    with ProcessPoolExecutor() as processes:
        of_sets = processes.map(partial(of_set, folder=options.data), options.sets.split(","))
        tables, distances = zip(*of_sets, strict=True)
    all_rows = [row for rows_of_set in tables for row in rows_of_set]
    header = ["density / trips, ε = 8", *(f"{count:,} people" for count in PEOPLE)]
    text = table([*header, "infinitely many"], all_rows)
    distance = f"{max(distances):.5f}".lstrip("0")
    print(text, f"reports differ by at most {distance}", sep="\n")
    known = json.loads(MEASURED.read_text())
    known |= {"atlas-people": text, "atlas-people-apart": distance}
    MEASURED.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
