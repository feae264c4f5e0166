"""The utility of each query: error by number of people, for several mechanisms.

OPENBLAS_NUM_THREADS=1 python benchmarks/answers.py RESULTS [--data DIR] [--sets chi,city]
        [--again atlas] [--only atlas] [--quick]    uses one process for each core
python benchmarks/answers_tables.py RESULTS     write docs/measured.json and the figure
python docs/generate.py                         update the documents

The held-out half of each data set, on which no parameter was chosen, represents a population:
people are sampled from it with replacement, and make trips of two points (their first and
last). RESULTS keeps finished work, which is not repeated except for the kinds in --again.
"""

import argparse
import json
import os
import sys
import zlib
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from answers_atlas import AtlasReports
from answers_peers import LAWS, projected
from answers_questions import QUESTIONS, Population
from estimates import PAPER_SETS, subject
from ldptrace import LdpTrace, Paths

from nomadp.datasets.city import synthetic_city
from nomadp.inference.frequencies import oracle_shares

EPSILONS = ("1", "2", "4", "8")
PEOPLE = (3_000, 30_000, 300_000, 3_000_000)
CITIES = {"city": 1, "new-town": 78_110_537}
"""The second city was never used to develop a mechanism or an estimator."""
SETS = (*PAPER_SETS, *CITIES)
SEED = 20261116
TIMES = dict.fromkeys(PEOPLE, 10)
"""The number of draws for each number of people."""
SLOW = {"ldptrace": 2, "atlas": 2, "codebook": 1}
"""The number of draws of 3,000 people for slow kinds. More people, whose sampling error is
smaller, are drawn once."""
LARGE = 512
QUICK_TIMES = {300: 2, 3_000: 1}
SYNTHETIC = 100_000
"""The number of trajectories that LDPTrace synthesizes."""
LDPTRACE_GRIDS = (6, 16)

Shares = dict[str, Any]
"""Estimated shares by query."""


def population(name: str, folder: Path | None, *, quick: bool) -> Population:
    if name in PAPER_SETS:
        half = subject(name, folder, quick=quick)
        return Population.of(half.locations, half.true)
    size = {"places": 60, "trips": 400} if quick else {"places": 1000, "trips": 8000}
    city = synthetic_city(CITIES[name], **size)
    return Population.of(city.locations, city.trajectories)


def floors(source: Population, epsilon: float, people: Any, rng: Any) -> dict[str, Shares]:
    """The uniform baseline, and the shares of the sampled people without any privacy."""
    return {"flat": source.baseline, "no privacy": source.shares(source.journeys, people)}


def direct(source: Population, epsilon: float, people: Any, rng: Any) -> dict[str, Shares]:
    """A frequency oracle for each query: subset selection with all of epsilon."""
    raw, smoothed = {}, {}
    for question in QUESTIONS:
        reports = LAWS["subset"](source.label_counts(question, people, rng), epsilon, rng)
        raw[question] = projected(reports.unbiased)
        chances = reports.true_chance, reports.other_chance
        levels = source.levels(question)
        estimate = oracle_shares(reports.support, reports.total, *chances, levels)
        smoothed[question] = estimate.values
    return {"direct raw": raw, "direct smoothed": smoothed}


def peers(source: Population, epsilon: float, people: Any, rng: Any) -> dict[str, Shares]:
    """Frequency oracles with other laws, projected to valid shares in the same way."""
    return {
        name: {
            question: projected(
                LAWS[name](source.label_counts(question, people, rng), epsilon, rng).unbiased
            )
            for question in QUESTIONS
        }
        for name in ("oue", "olh", "grr")
    }


def ldptrace(source: Population, epsilon: float, people: Any, rng: Any) -> dict[str, Shares]:
    """The shares of trajectories that LDPTrace synthesizes from its fitted model."""
    shares = {}
    for grid in LDPTRACE_GRIDS:
        paths = Paths.of(source.locations, source.journeys, grid)
        model = LdpTrace.fit(paths, people, epsilon, rng)
        trips = model.journeys(source.locations, SYNTHETIC, rng)
        shares[f"ldptrace {grid}"] = source.shares(trips, np.ones(len(trips)))
    return shares


def atlas(source: Population, epsilon: float, people: Any, rng: Any) -> dict[str, Shares]:
    """ATLAS reports, counted as they are and with the estimator."""
    reports = _reports(source, str(epsilon))
    counts = reports.drawn(people, rng)
    return {
        "atlas counted": reports.counted(counts),
        "atlas estimated": reports.estimated(counts),
    }


def codebook(source: Population, epsilon: float, people: Any, rng: Any) -> dict[str, Shares]:
    """ATLAS with a larger codebook, which is better if only shares are needed."""
    reports = _reports(source, str(epsilon), LARGE)
    return {"atlas large": reports.estimated(reports.drawn(people, rng))}


_reports = lru_cache(maxsize=1)(AtlasReports)
KINDS: dict[str, Callable[..., dict[str, Shares]]] = {
    "floors": floors,
    "direct": direct,
    "peers": peers,
    "ldptrace": ldptrace,
    "atlas": atlas,
    "codebook": codebook,
}


def measure(source: Population, epsilon: str, kind: str, numbers: dict[int, int]) -> Any:
    """The scores of one kind of estimate: a list of draws for each number of people."""
    scores: dict[str, Any] = {}
    for count, times in numbers.items():
        draws: dict[str, list[Any]] = {}
        for k in range(times):
            # The same people for every kind and every epsilon.
            people = source.drawn(count, np.random.default_rng([SEED, count, k]))
            seed = zlib.crc32(f"{kind} {epsilon} {count} {k}".encode())
            rng = np.random.default_rng([SEED, seed])
            answers = KINDS[kind](source, float(epsilon), people, rng)
            for name, shares in answers.items():
                draws.setdefault(name, []).append(source.scores(shares))
        scores[str(count)] = draws
    return scores


def measure_missing(name: str, epsilon: str, options: argparse.Namespace) -> str:
    """Measure what RESULTS does not have of one set at one epsilon."""
    path = options.results / f"{name}-{epsilon}.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    again = options.again.split(",")
    only = options.only.split(",")
    todo = [kind for kind in only if kind not in known or kind in again]
    if not todo:
        return ""
    source = population(name, options.data, quick=options.quick)
    for kind in todo:
        known[kind] = measure(source, epsilon, kind, _times(kind, quick=options.quick))
        path.write_text(json.dumps(known, indent=1, sort_keys=True))
    return f"{name}, epsilon {epsilon}: {', '.join(todo)}"


def _times(kind: str, *, quick: bool) -> dict[int, int]:
    if quick:
        return QUICK_TIMES
    return dict.fromkeys(PEOPLE, 1) | {3_000: SLOW[kind]} if kind in SLOW else TIMES


def main(args: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets")
    parser.add_argument("--epsilons", default=",".join(EPSILONS))
    parser.add_argument(
        "--again", default="", help=f"kinds to measure again: {', '.join(KINDS)}"
    )
    parser.add_argument(
        "--only", default=",".join(KINDS), help="kinds to measure (default: all)"
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(args)
    sets = (
        options.sets.split(",") if options.sets else (SETS if options.data else tuple(CITIES))
    )
    options.results.mkdir(parents=True, exist_ok=True)
    pairs = [(name, epsilon) for epsilon in options.epsilons.split(",") for name in sets]
    names, epsilons = zip(*pairs, strict=True)
    work = partial(measure_missing, options=options)
    with ProcessPoolExecutor(options.jobs) as processes:
        run = map if options.jobs == 1 else processes.map
        for line in run(work, names, epsilons):
            print(line or "nothing to do", file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
