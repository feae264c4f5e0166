"""Whether estimates for 3,000 people have a larger error than the baseline, beyond chance.

OPENBLAS_NUM_THREADS=1 python benchmarks/answers_few_people.py [--data DIR] [--draws 240]
python docs/generate.py                         values into the documents

The density error of a smoothed frequency oracle minus that of the baseline, as a
Jensen-Shannon distance: the mean of many draws, and that mean in standard errors. With --data
the table goes into docs/measured.json.
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


def difference(crowd: Population, epsilon: float, seed: int) -> float:
    """The error of one draw of people minus that of the baseline; less is better."""
    rng = np.random.default_rng([SEED, PEOPLE, round(epsilon), seed])
    people = crowd.askable("density", crowd.drawn(PEOPLE, rng), rng)
    told = LAWS["subset"](people, epsilon, rng)
    chances = told.true_chance, told.other_chance
    found = oracle_shares(told.support, told.total, *chances, crowd.levels("density"))
    true, baseline = crowd.truth["density"], crowd.flat["density"]
    return jensen_shannon(true, found.values) - jensen_shannon(true, baseline)


def cell(crowd: Population, epsilon: str, draws: int) -> str:
    worse = [difference(crowd, float(epsilon), seed) for seed in range(draws)]
    mean, error = np.mean(worse), np.std(worse, ddof=1) / np.sqrt(draws)
    return f"{mean:+.4f} ({mean / error if error else 0:+.1f})".replace("0.", ".", 1)


def main(args: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--draws", type=int, default=DRAWS)
    asked = parser.parse_args(args)
    names = SETS if asked.data else tuple(CITIES)
    crowds = [population(name, asked.data, quick=False) for name in names]
    rows = [[f"ε = {e}", *(cell(crowd, e, asked.draws) for crowd in crowds)] for e in EPSILONS]
    found = table(
        ["less the baseline's (in errors)", *(SET_NAMES[name] for name in names)], rows
    )
    print(found)
    if asked.data:
        known = json.loads(MEASURED.read_text()) | {"answers-few-people": found}
        MEASURED.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
