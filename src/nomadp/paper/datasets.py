"""The data sets of the experiments: the user's, the generated ones, and their variations.

The user's folder contains one folder per data set, each with `locations.csv` and
`trajectories.csv`. Without it, a synthetic city and a generated campus are used.
"""

import hashlib
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from nomadp.analysis.measures import Yardstick
from nomadp.datasets.built import missing_files, read_built
from nomadp.datasets.campus import build_campus, campus_walks
from nomadp.datasets.city import synthetic_city
from nomadp.datasets.popular import most_popular
from nomadp.errors import InvalidArgument, SchemaError
from nomadp.formats.point_files import LOCATIONS, TRAJECTORIES
from nomadp.locations import LocationSet
from nomadp.trajectory import TrajectorySet

__all__ = ["CAMPUS", "CITY", "Catalogue", "Dataset", "SetKey", "load", "set_label"]

CITY, CAMPUS = "city", "campus"
PAPER_SETS = ("nyc", "chi", "cle", "cps")
LABELS = {CITY: "Synthetic city", CAMPUS: "Synthetic campus"} | {
    name: name.upper() for name in PAPER_SETS
}
CITY_TRIPS = 4000
WALKS = 4000
WALK_LENGTHS = (3, 8)
WALK_SPEED_KM_H = 4.0
SEED = 1
SMALL_KM = 10.0
"""Smaller sets are campuses, whose range queries have smaller radii."""
POPULAR_SHARE = {"nyc": 0.5}
"""The share of locations whose counts the paper compares; 0.75 for all other sets."""


@dataclass(frozen=True)
class SetKey:
    """A data set, or a variation of one: a share of its locations, or other walks on them."""

    base: str
    variation: str = ""
    value: float | None = None
    """The value of the variation; None with "speed" means that every building is in reach."""

    def __str__(self) -> str:
        if not self.variation:
            return self.base
        value = "none" if self.value is None else f"{self.value:g}"
        return f"{self.base}/{self.variation}={value}"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Locations, trajectories, and the parameters of their scores."""

    key: SetKey
    locations: LocationSet
    trajectories: TrajectorySet
    yardstick: Yardstick

    @cached_property
    def sha256(self) -> str:
        """The hash of everything that an experiment reads."""
        digest = hashlib.sha256(self.locations.sha256.encode())
        # Explicitly little-endian, so that the hash is the same on every machine.
        for column in (self.trajectories.offsets, self.trajectories.locations):
            digest.update(column.astype("<i8").tobytes())
        return digest.hexdigest()

    def facts(self) -> dict[str, Any]:
        lengths = self.trajectories.lengths
        return {
            "dataset": str(self.key),
            "sha256": self.sha256,
            "location_set_sha256": self.locations.sha256,
            "locations": len(self.locations),
            "trajectories": len(self.trajectories),
            "points": len(self.trajectories.locations),
            "mean_length": float(lengths.mean()),
            "diameter_km": self.locations.diameter_km,
        }


@dataclass(frozen=True)
class Catalogue:
    """The available data sets, and the maximum number of trajectories used of each."""

    folder: Path | None = None
    trajectories: int | None = None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all data sets; those of the paper come first, in its order."""
        if self.folder is None:
            return CITY, CAMPUS
        if not missing_files(self.folder):
            return (self.folder.resolve().name,)
        names = [path.name for path in _folders(self.folder) if not missing_files(path)]
        if not names:
            others = ", ".join(self.left_out)
            raise SchemaError(
                f"{self.folder} must hold one folder per data set, each with {LOCATIONS} and "
                f"{TRAJECTORIES}, but holds none{others and f' ({others})'}; "
                '"nomadp data build" makes them',
                code="no_data_sets",
                left_out=self.left_out,
            )
        known = [name for name in PAPER_SETS if name in names]
        return (*known, *sorted(set(names) - set(known)))

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """Folders that are not data sets, each with the files that it lacks."""
        if self.folder is None or not missing_files(self.folder):
            return ()
        return tuple(
            f"{path.name} lacks {' and '.join(missing_files(path))}"
            for path in sorted(_folders(self.folder))
            if missing_files(path) and not path.name.startswith(".")
        )

    @property
    def pair(self) -> tuple[str, ...]:
        """The two sets of the paper's studies of parameters, or else the first two."""
        paper_pair = ("nyc", "cle")
        return paper_pair if set(paper_pair) <= set(self.names) else self.names[:2]

    @property
    def campus(self) -> str:
        """The set of buildings between which walks are generated: the paper's, or our own."""
        return "cps" if "cps" in self.names else CAMPUS

    @property
    def simulated(self) -> bool:
        return self.folder is None

    def path(self, name: str) -> Path:
        if self.folder is None:
            raise InvalidArgument(
                f"{name} is generated and has no folder",
                code="data_set_generated",
                data_set=name,
            )
        return self.folder / name if missing_files(self.folder) else self.folder


def set_label(name: str) -> str:
    return LABELS.get(name, name)


@cache
def load(catalogue: Catalogue, key: SetKey) -> Dataset:
    """Read or generate a data set, once per process."""
    locations, trajectories = _varied(catalogue, key)
    whole, _ = _base(catalogue, key.base)  # all variations of a set have the same radii
    return Dataset(
        key,
        locations,
        _thinned(trajectories, catalogue.trajectories),
        Yardstick(
            radii_km=(0.25, 0.5, 1.0) if whole.diameter_km < SMALL_KM else (1.0, 2.0, 4.0),
            popular_share=POPULAR_SHARE.get(key.base, 0.75),
        ),
    )


@cache
def _base(catalogue: Catalogue, name: str) -> tuple[LocationSet, TrajectorySet]:
    if name in catalogue.names and not catalogue.simulated:
        return read_built(catalogue.path(name))
    if name == CITY:
        city = synthetic_city(SEED, trips=CITY_TRIPS)
        return city.locations, city.trajectories
    campus = build_campus(seed=SEED)
    return campus.locations, campus.trajectories


def _varied(catalogue: Catalogue, key: SetKey) -> tuple[LocationSet, TrajectorySet]:
    locations, trajectories = _base(catalogue, key.base)
    match key.variation, key.value:
        case "", None:
            return locations, trajectories
        case "share", float(share):
            return most_popular(locations, trajectories, share)
        case "length", float(length):
            lengths = (int(length), int(length))
            return locations, _walks(locations, lengths, WALK_SPEED_KM_H)
        case "speed", speed_km_h:
            return locations, _walks(locations, WALK_LENGTHS, speed_km_h)
        case _:
            raise InvalidArgument(
                f"there is no variation {key.variation!r} of a data set",
                code="unknown_variation",
                variation=key.variation,
            )


def _walks(
    locations: LocationSet, lengths: tuple[int, int], speed_km_h: float | None
) -> TrajectorySet:
    return campus_walks(
        locations, count=WALKS, lengths=lengths, speed_km_h=speed_km_h, seed=SEED
    )


def _thinned(trajectories: TrajectorySet, limit: int | None) -> TrajectorySet:
    """Evenly spaced trajectories, because files are often sorted by user or by day."""
    if limit is None or len(trajectories) <= limit:
        return trajectories
    return trajectories.select(np.arange(limit) * len(trajectories) // limit)


def _folders(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise SchemaError(
            f"{folder} must be a folder of data sets, but is not", code="not_a_folder"
        )
    return [path for path in folder.iterdir() if path.is_dir()]
