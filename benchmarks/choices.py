"""How the public parameters of ATLAS affect its error: codebook size and random walk.

python benchmarks/choices.py [--data DIR] [--sets chi,city] [--epsilons 2,4,8]

Prints the expected error of reports under the exact law, as a share of the set's diameter, for
variations of one parameter. Uses only the half of each data set on which parameters are chosen;
benchmarks/estimates.py uses the other half.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from estimates import HALVES, PAPER_SETS

from nomadp import walks
from nomadp.datasets.built import read_built
from nomadp.datasets.campus import build_campus
from nomadp.datasets.city import City, synthetic_city
from nomadp.laws import probabilities
from nomadp.locations import LocationSet
from nomadp.mechanisms.atlas import Atlas, lloyd
from nomadp.sequences import by_length
from nomadp.trajectory import TrajectorySet

TRIPS, SEED = 1000, 7
SIZES = (None, 4, 16, 64, 256)
SCALES = ((0, 2, 4, 8), (0, 2, 4, 8, 16), (0, 4, 8, 16), (2, 4, 8, 16), (0, 3, 12))
SHORTEST_KM = (0.0, 0.15)


MADE_UP: dict[str, Callable[[], Any]] = {
    "city": lambda: synthetic_city(SEED, places=800, trips=4000),
    "campus": lambda: build_campus(seed=SEED),
    "small-city": lambda: small_city(),
}


def main(args: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets")
    parser.add_argument("--epsilons", default="2,4,8")
    options = parser.parse_args(args)
    names = (
        options.sets.split(",")
        if options.sets
        else (*(PAPER_SETS if options.data else ()), *MADE_UP)
    )
    for name in names:
        locations, true = chosen_half(name, options.data)
        for epsilon in options.epsilons.split(","):
            errors = {label: error for label, error in varied(locations, true, epsilon)}
            text = ", ".join(f"{label} {error:.4f}" for label, error in errors.items())
            print(f"{name}, epsilon {epsilon}: {text}", flush=True)
    return 0


def chosen_half(name: str, folder: Path | None) -> tuple[LocationSet, TrajectorySet]:
    if name in MADE_UP:
        city = MADE_UP[name]()
        locations, true = city.locations, city.trajectories
    elif folder is None:
        raise SystemExit("the paper's sets need --data DIR")
    else:
        locations, true = read_built(folder / name)[:2]
    order = np.random.default_rng(HALVES).permutation(len(true))
    rows = np.sort(order[: len(order) // 2][:TRIPS])
    return locations, true.select(rows)


def small_city() -> City:
    """A city shrunk to the size of a campus."""
    city = synthetic_city(SEED, places=300, trips=4000)
    columns = (
        column.mean() + 0.1 * (column - column.mean())
        for column in (city.locations.lat, city.locations.lng)
    )
    return City(LocationSet.from_columns(city.locations.ids, *columns), city.trajectories)


def varied(
    locations: LocationSet, true: TrajectorySet, epsilon: str
) -> Iterator[tuple[str, float]]:
    for size in SIZES:
        yield f"K {size or 'by the rule'}", error(locations, true, epsilon, size)
    for scales in SCALES:
        with changed_walk(SCALES=scales):
            yield f"scales {'/'.join(map(str, scales))}", error(locations, true, epsilon)
    for shortest_km in SHORTEST_KM:
        with changed_walk(SHORTEST_KM=shortest_km):
            yield f"scales from {shortest_km} km", error(locations, true, epsilon)


def error(
    locations: LocationSet, true: TrajectorySet, epsilon: str, size: int | None = None
) -> float:
    """The expected normalised error over all points."""
    mechanism = Atlas(locations=locations, epsilon=epsilon, size=size)
    total = 0.0
    for length, rows in by_length(true):
        channel = mechanism.channel(length)
        places = true.locations[true.offsets[rows] + np.arange(length)[:, None]]
        chance = probabilities(channel, places)
        total += float((chance * channel.atlas.distances_km(places)).sum()) / length
    return total / len(true) / locations.diameter_km


@contextmanager
def changed_walk(**constants: Any) -> Iterator[None]:
    """Temporarily change constants of the random apply, and drop cached codebooks."""
    original = {name: getattr(walks, name) for name in constants}

    def apply(numbers: dict[str, Any]) -> None:
        for name, number in numbers.items():
            setattr(walks, name, number)
        walks.public_walks.cache_clear()
        lloyd.design.cache_clear()

    apply(constants)
    try:
        yield
    finally:
        apply(original)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
