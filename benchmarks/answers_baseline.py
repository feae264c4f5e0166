"""Whether estimates from 3,000 people are significantly worse than the uniform baseline.

OPENBLAS_NUM_THREADS=1 python benchmarks/answers_baseline.py [--data DIR] [--draws 240]
python docs/generate.py                         update the documents

The table has the Jensen-Shannon distance of the smoothed density estimate of a frequency oracle
from the truth, minus that of the baseline: the mean over many draws, and in brackets the mean
in standard errors. With --data, the table is written to docs/measured.json.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from answers import CITIES, EPSILONS, SEED, SETS, population
from answers_peers import LAWS
from answers_questions import Population
from answers_tables import SET_NAMES
from estimates_tables import MEASURED, table

from nomadp.analysis.hotspots import jensen_shannon
from nomadp.inference.frequencies import oracle_shares

PEOPLE, DRAWS = 3_000, 240


def difference(source: Population, epsilon: float, seed: int) -> float:
    """The error of the estimate from one sample of people, minus the error of the baseline."""
    rng = np.random.default_rng([SEED, PEOPLE, round(epsilon), seed])
    people = source.label_counts("density", source.drawn(PEOPLE, rng), rng)
    reports = LAWS["subset"](people, epsilon, rng)
    chances = reports.true_chance, reports.other_chance
    estimate = oracle_shares(reports.support, reports.total, *chances, source.levels("density"))
    true, baseline = source.truth["density"], source.baseline["density"]
    return jensen_shannon(true, estimate.values) - jensen_shannon(true, baseline)


def cell(source: Population, epsilon: str, draws: int) -> str:
    differences = [difference(source, float(epsilon), seed) for seed in range(draws)]
    mean, std_error = np.mean(differences), np.std(differences, ddof=1) / np.sqrt(draws)
    return f"{mean:+.4f} ({mean / std_error if std_error else 0:+.1f})".replace("0.", ".", 1)


def main(args: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--draws", type=int, default=DRAWS)
    options = parser.parse_args(args)
    names = SETS if options.data else tuple(CITIES)
    sources = [population(name, options.data, quick=False) for name in names]
    rows = [
        [f"ε = {e}", *(cell(source, e, options.draws) for source in sources)] for e in EPSILONS
    ]
    text = table(
        ["difference (in standard errors)", *(SET_NAMES[name] for name in names)],
        rows,
    )
    print(text)
    if options.data:
        known = json.loads(MEASURED.read_text()) | {"answers-few-people": text}
        MEASURED.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
