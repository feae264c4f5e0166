"""The data sets of the speed benchmark: generated cities and globes, and the paper's sets."""

import math
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from nomadp.formats.location_files import read_locations
from nomadp.formats.point_files import read_trajectories
from nomadp.locations import LocationSet
from nomadp.trajectory import TrajectorySet

__all__ = [
    "GLOBES",
    "PAPER_SETS",
    "TRIPS",
    "City",
    "generated",
    "load",
    "paper_folder",
    "size_of",
]

PAPER_SETS = ("nyc", "chi", "cle", "cps")
GENERATED = "city-"
WORLD = "globe-"
GLOBES = ("globe-1000", "globe-100000")
"""Locations all over the Earth, for which no approximation for small areas holds."""
TRIPS = 32_768
LENGTH = 5
STEP_KM = 1.0
SIDE_KM = 30.0
QUARTERS = 100
QUARTER_KM = 1.0
GLOBE_STEP = 0.05
"""The length of a step in Earth radii: some 300 km."""
SOUTH_WEST = 41.7, -87.8
KM_PER_DEGREE = 111.2


class City(NamedTuple):
    locations: LocationSet
    trajectories: TrajectorySet


def load(name: str, trips: int = TRIPS) -> City:
    """The set of this name: `city-N` and `globe-N` are generated, others are the paper's."""
    size = size_of(name)
    if size is not None:
        return generated(size, trips)
    if name.startswith(WORLD):
        return _globe(int(name.removeprefix(WORLD)), trips)
    folder = paper_folder()
    if folder is None:
        raise FileNotFoundError(
            "the paper's sets are not available; set NOMADP_DATA to their folder"
        )
    locations = read_locations(folder / name / "locations.csv")
    trajectories, _ = read_trajectories(folder / name / "trajectories.csv", locations)
    # Repeat the trips: a few thousand would be done before all cores are busy.
    repeated = trajectories.select(
        np.resize(np.arange(len(trajectories)), max(trips, len(trajectories)))
    )
    tids = tuple(map(str, range(len(repeated))))  # a tid names one trajectory only
    return City(locations, TrajectorySet(repeated.offsets, repeated.locations, tids))


def size_of(name: str) -> int | None:
    """How many locations a generated city has; None for other sets."""
    return int(name.removeprefix(GENERATED)) if name.startswith(GENERATED) else None


def paper_folder() -> Path | None:
    """The folder of the paper's sets, if they are available."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("NOMADP_DATA", default))
    return folder if (folder / PAPER_SETS[0] / "locations.csv").is_file() else None


def generated(size: int, trips: int = TRIPS, seed: int = 1) -> City:
    """A box of 30 x 30 km, half of it in dense quarters, and walks with steps of about 1 km."""
    rng = np.random.default_rng(seed)
    spots_km = rng.uniform(0, SIDE_KM, (size, 2))
    dense = rng.integers(QUARTERS, size=size // 2)
    middles_km = rng.uniform(0, SIDE_KM, (QUARTERS, 2))
    spots_km[: size // 2] = middles_km[dense] + rng.normal(0, QUARTER_KM, (size // 2, 2))
    spots_km = rng.permutation(_inside(spots_km))
    return City(_placed(spots_km), _walks(spots_km, trips, rng))


def _globe(size: int, trips: int, seed: int = 1) -> City:
    """Locations uniform on the sphere, and walks with steps of some hundred kilometres."""
    rng = np.random.default_rng(seed)
    spots = rng.normal(size=(size, 3))
    spots /= np.linalg.norm(spots, axis=1, keepdims=True)
    lat = np.degrees(np.arcsin(spots[:, 2]))
    lng = np.degrees(np.arctan2(spots[:, 1], spots[:, 0]))
    locations = LocationSet.from_columns([f"p{k}" for k in range(size)], lat, lng)
    tree, rows = cKDTree(spots), np.empty((trips, LENGTH), dtype=np.int64)
    rows[:, 0] = rng.integers(size, size=trips)
    for k in range(1, LENGTH):
        moved = spots[rows[:, k - 1]] + rng.normal(0, GLOBE_STEP, (trips, 3))
        rows[:, k] = tree.query(moved)[1]
    names = tuple(map(str, range(trips)))
    return City(
        locations, TrajectorySet(np.arange(trips + 1) * LENGTH, rows.reshape(-1), names)
    )


def _inside(spots_km: np.ndarray) -> np.ndarray:
    """Reflect points outside of the box at its edge."""
    return SIDE_KM - np.abs(SIDE_KM - np.abs(spots_km))


def _placed(spots_km: np.ndarray) -> LocationSet:
    south, west = SOUTH_WEST
    lat = south + spots_km[:, 1] / KM_PER_DEGREE
    lng = west + spots_km[:, 0] / (KM_PER_DEGREE * math.cos(math.radians(south)))
    return LocationSet.from_columns([f"p{k}" for k in range(len(spots_km))], lat, lng)


def _walks(spots_km: np.ndarray, trips: int, rng: np.random.Generator) -> TrajectorySet:
    tree = cKDTree(spots_km)
    rows = np.empty((trips, LENGTH), dtype=np.int64)
    rows[:, 0] = rng.integers(len(spots_km), size=trips)
    walker_km = spots_km[rows[:, 0]]
    spread_km = STEP_KM / math.sqrt(math.pi / 2)  # of each coordinate, for this mean step
    for k in range(1, LENGTH):
        walker_km = _inside(walker_km + rng.normal(0, spread_km, walker_km.shape))
        rows[:, k] = tree.query(walker_km)[1]
    names = tuple(map(str, range(trips)))
    return TrajectorySet(np.arange(trips + 1) * LENGTH, rows.reshape(-1), names)
