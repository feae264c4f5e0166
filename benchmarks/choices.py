"""What the public choices of ATLAS are worth: k, the size of the atlas, the scales of its walk.

python benchmarks/choices.py [--data DIR] [--sets chi,city] [--epsilons 2,4,8]

Prints the mean error of decoded reports (flat prior) as a share of the set's diameter, for
every variation of one choice. Only the half of each data set on which choices are made is
used; benchmarks/estimates.py reports on the other.
"""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import numpy as np
from estimates import HALVES, PAPER_SETS
from nomadp.mechanisms.atlas.near_count import best_near_count

from nomadp.analysis.metrics import error_km_each
from nomadp.datasets.built import read_built
from nomadp.datasets.city import synthetic_city
from nomadp.engine import perturb_set
from nomadp.inference import decode
from nomadp.locations import LocationSet
from nomadp.mechanisms import make_mechanism
from nomadp.mechanisms.atlas import book, mechanism
from nomadp.randomness import SimulatedWords
from nomadp.sequences import by_length
from nomadp.trajectory import TrajectorySet

TRIPS, DRAWS, SEED = 1000, 2, 7
NEAR_PARTS = (0.5, 0.7, 1.0, 1.4, 2.0)
SIZES = (4096, 16384, 32768)
SCALES = ((0, 2, 4, 8, 16), (2, 4, 8, 16), (0, 4, 16), (1, 2, 4, 8), (2, 4, 8))


def main(args: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets")
    parser.add_argument("--epsilons", default="2,4,8")
    asked = parser.parse_args(args)
    names = (
        asked.sets.split(",") if asked.sets else (*(PAPER_SETS if asked.data else ()), "city")
    )
    for name in names:
        locations, true = chosen_half(name, asked.data)
        for epsilon in asked.epsilons.split(","):
            found = {label: error for label, error in varied(locations, true, epsilon)}
            told = ", ".join(f"{label} {error:.4f}" for label, error in found.items())
            print(f"{name}, epsilon {epsilon}: {told}", flush=True)
    return 0


def chosen_half(name: str, folder: Path | None) -> tuple[LocationSet, TrajectorySet]:
    if name == "city":
        city = synthetic_city(SEED, places=800, trips=4000)
        locations, true = city.locations, city.trajectories
    elif folder is None:
        raise SystemExit("the paper's sets need --data DIR")
    else:
        locations, true = read_built(folder / name)[:2]
    order = np.random.default_rng(HALVES).permutation(len(true))
    some = np.sort(order[: len(order) // 2][:TRIPS])
    return locations, true.select(np.tile(some, DRAWS))


def varied(
    locations: LocationSet, true: TrajectorySet, epsilon: str
) -> Iterator[tuple[str, float]]:
    for part in NEAR_PARTS:
        yield f"k x {part:g}", error(locations, true, epsilon, near_part=part)
    for size in SIZES:
        yield f"K {size}", error(locations, true, epsilon, size=size)
    for scales in SCALES:
        with walking(scales):
            yield f"scales {'/'.join(map(str, scales))}", error(locations, true, epsilon)


def error(
    locations: LocationSet,
    true: TrajectorySet,
    epsilon: str,
    *,
    size: int = mechanism.SIZE,
    near_part: float = 1.0,
) -> float:
    """The normalised error of the decoded points of all trajectories."""
    total = 0.0
    for length, these in by_length(true):
        of_length, atlas = true.select(these), mechanism.atlas_of(locations, length, size)
        near = max(1, round(near_part * best_near_count(atlas, Fraction(epsilon))))
        chosen = {"size": size, "near_count": min(near, atlas.size)}
        made = make_mechanism("atlas", locations, epsilon, **chosen)
        reports = perturb_set(made, of_length, SimulatedWords(SEED), keep_tids=True)
        answers = decode(made, reports).locations
        found = TrajectorySet(of_length.offsets, answers, of_length.tids)
        total += error_km_each(locations, of_length, found).sum()
    return float(total / len(true) / locations.diameter_km)


@contextmanager
def walking(scales: tuple[int, ...]) -> Iterator[None]:
    """Atlases of another walk, for a while."""
    usual = book.SCALES
    book.SCALES = scales
    mechanism.atlas_of.cache_clear()
    try:
        yield
    finally:
        book.SCALES = usual
        mechanism.atlas_of.cache_clear()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
