"""What asking is worth: error against the number of people, question by question.

OPENBLAS_NUM_THREADS=1 python benchmarks/answers.py RESULTS [--data DIR] [--sets chi,city]
        [--again atlas] [--only atlas] [--quick]    a process for each core, one thread each
python benchmarks/answers_tables.py RESULTS     values into docs/measured.json, and the figure
python docs/generate.py                         values into the documents

The halves of the data sets that nothing was chosen on stand for whole populations: people are
drawn from them, with replacement, and make trips of two points (their first and last). What is
done is kept in RESULTS and not repeated, but for the kinds named by --again.
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
"""No mechanism and no estimator was tried on the second before; its seed is used here only."""
SETS = (*PAPER_SETS, *CITIES)
SEED = 20261116
TIMES = dict.fromkeys(PEOPLE, 10)
"""How often each number of people is drawn."""
SLOW = {"ldptrace": 2, "atlas": 2, "codebook": 1}
"""How often 3,000 are drawn where it takes seconds; more people, for whom chance matters less,
once."""
LARGE = 512
QUICK_TIMES = {300: 2, 3_000: 1}
SYNTHETIC = 100_000
"""Journeys that LDPTrace makes up."""
LDPTRACE_GRIDS = (6, 16)

Shares = dict[str, Any]
"""By question."""


def population(name: str, folder: Path | None, *, quick: bool) -> Population:
    if name in PAPER_SETS:
        half = subject(name, folder, quick=quick)
        return Population.of(half.locations, half.true)
    size = {"places": 60, "trips": 400} if quick else {"places": 1000, "trips": 8000}
    city = synthetic_city(CITIES[name], **size)
    return Population.of(city.locations, city.trajectories)


def floors(crowd: Population, epsilon: float, people: Any, rng: Any) -> dict[str, Shares]:
    """What no report gives, and what people without any privacy would."""
    return {"flat": crowd.flat, "no privacy": crowd.shares(crowd.journeys, people)}


def direct(crowd: Population, epsilon: float, people: Any, rng: Any) -> dict[str, Shares]:
    """Each question asked of everybody, by subset selection at the whole of epsilon."""
    raw, smoothed = {}, {}
    for question in QUESTIONS:
        answered = LAWS["subset"](crowd.askable(question, people, rng), epsilon, rng)
        raw[question] = projected(answered.unbiased)
        chances = answered.true_chance, answered.other_chance
        levels = crowd.levels(question)
        found = oracle_shares(answered.support, answered.total, *chances, levels)
        smoothed[question] = found.values
    return {"direct raw": raw, "direct smoothed": smoothed}


def peers(crowd: Population, epsilon: float, people: Any, rng: Any) -> dict[str, Shares]:
    """The same by other laws, made consistent in the same way."""
    return {
        name: {
            question: projected(
                LAWS[name](crowd.askable(question, people, rng), epsilon, rng).unbiased
            )
            for question in QUESTIONS
        }
        for name in ("oue", "olh", "grr")
    }


def ldptrace(crowd: Population, epsilon: float, people: Any, rng: Any) -> dict[str, Shares]:
    """Journeys made up from what LDPTrace learns, counted."""
    found = {}
    for grid in LDPTRACE_GRIDS:
        paths = Paths.of(crowd.locations, crowd.journeys, grid)
        model = LdpTrace.learned(paths, people, epsilon, rng)
        made = model.journeys(crowd.locations, SYNTHETIC, rng)
        found[f"ldptrace {grid}"] = crowd.shares(made, np.ones(len(made)))
    return found


def atlas(crowd: Population, epsilon: float, people: Any, rng: Any) -> dict[str, Shares]:
    """Reports of whole journeys, counted as they come and estimated."""
    reports = _reports(crowd, str(epsilon))
    counts = reports.drawn(people, rng)
    return {
        "atlas counted": reports.counted(counts),
        "atlas estimated": reports.estimated(counts),
    }


def codebook(crowd: Population, epsilon: float, people: Any, rng: Any) -> dict[str, Shares]:
    """The same with a larger codebook, for analysts who need shares only."""
    reports = _reports(crowd, str(epsilon), LARGE)
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


def measure(crowd: Population, epsilon: str, kind: str, numbers: dict[int, int]) -> Any:
    """Scores of one kind of answers, a list of draws for each number of people."""
    found: dict[str, Any] = {}
    for count, times in numbers.items():
        draws: dict[str, list[Any]] = {}
        for k in range(times):
            # The same people for every kind and every epsilon.
            people = crowd.drawn(count, np.random.default_rng([SEED, count, k]))
            seed = zlib.crc32(f"{kind} {epsilon} {count} {k}".encode())
            rng = np.random.default_rng([SEED, seed])
            asked = KINDS[kind](crowd, float(epsilon), people, rng)
            for name, shares in asked.items():
                draws.setdefault(name, []).append(crowd.scores(shares))
        found[str(count)] = draws
    return found


def done(name: str, epsilon: str, asked: argparse.Namespace) -> str:
    """Measure what is missing of one set at one epsilon."""
    path = asked.results / f"{name}-{epsilon}.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    again = asked.again.split(",")
    only = asked.only.split(",")
    todo = [kind for kind in only if kind not in known or kind in again]
    if not todo:
        return ""
    crowd = population(name, asked.data, quick=asked.quick)
    for kind in todo:
        known[kind] = measure(crowd, epsilon, kind, _times(kind, quick=asked.quick))
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
    parser.add_argument("--again", default="", help=f"of {', '.join(KINDS)}: what changed")
    parser.add_argument("--only", default=",".join(KINDS), help="of the same: the others wait")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args(args)
    sets = asked.sets.split(",") if asked.sets else (SETS if asked.data else tuple(CITIES))
    asked.results.mkdir(parents=True, exist_ok=True)
    pairs = [(name, epsilon) for epsilon in asked.epsilons.split(",") for name in sets]
    names, epsilons = zip(*pairs, strict=True)
    work = partial(done, asked=asked)
    with ProcessPoolExecutor(asked.jobs) as processes:
        across = map if asked.jobs == 1 else processes.map
        for line in across(work, names, epsilons):
            print(line or "known", file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
