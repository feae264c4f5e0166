"""The data sets of the experiments: the user's, the generated ones, and their variations.

A folder given by the user holds one folder per set, each with `locations.csv` and
`trajectories.csv`. Without one, a synthetic city and a generated campus stand in.
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
"""A set no wider than this is a campus, where a kilometre is far."""
POPULAR_SHARE = {"nyc": 0.5}
"""Of the locations, those whose counts the paper compares; three quarters elsewhere."""


@dataclass(frozen=True)
class SetKey:
    """A data set, or a variation of one: a share of its locations, other walks on it."""

    base: str
    variation: str = ""
    value: float | None = None
    """Of the variation; None with "speed" means that any building can be reached."""

    def __str__(self) -> str:
        if not self.variation:
            return self.base
        value = "none" if self.value is None else f"{self.value:g}"
        return f"{self.base}/{self.variation}={value}"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Locations, trajectories, and what they are measured with."""

    key: SetKey
    locations: LocationSet
    trajectories: TrajectorySet
    yardstick: Yardstick

    @cached_property
    def sha256(self) -> str:
        """Of everything that an experiment reads."""
        digest = hashlib.sha256(self.locations.sha256.encode())
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
    """Which sets there are, and at most how many trajectories of each are used."""

    folder: Path | None = None
    trajectories: int | None = None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The sets that are compared; the paper's four first, in its order."""
        if self.folder is None:
            return CITY, CAMPUS
        if not missing_files(self.folder):
            return (self.folder.resolve().name,)
        found = [path.name for path in _folders(self.folder) if not missing_files(path)]
        if not found:
            others = ", ".join(self.left_out)
            raise SchemaError(
                f"{self.folder} must hold one folder per data set, each with {LOCATIONS} and "
                f"{TRAJECTORIES}, and holds none{others and f' ({others})'}; "
                '"nomadp data build" makes them',
                code="no_data_sets",
                left_out=self.left_out,
            )
        known = [name for name in PAPER_SETS if name in found]
        return (*known, *sorted(set(found) - set(known)))

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """Folders beside the sets that are none, and what each lacks to be one."""
        if self.folder is None or not missing_files(self.folder):
            return ()
        return tuple(
            f"{path.name} lacks {' and '.join(missing_files(path))}"
            for path in sorted(_folders(self.folder))
            if missing_files(path) and not path.name.startswith(".")
        )

    @property
    def pair(self) -> tuple[str, ...]:
        """The two sets of the paper's studies of parameters, or the first two there are."""
        wanted = ("nyc", "cle")
        return wanted if set(wanted) <= set(self.names) else self.names[:2]

    @property
    def campus(self) -> str:
        """The buildings that walks are made on: the paper's, or generated ones."""
        return "cps" if "cps" in self.names else CAMPUS

    @property
    def simulated(self) -> bool:
        return self.folder is None

    def path(self, name: str) -> Path:
        if self.folder is None:
            raise InvalidArgument(
                f"{name} is generated: it is in no folder",
                code="data_set_generated",
                data_set=name,
            )
        return self.folder / name if missing_files(self.folder) else self.folder


def set_label(name: str) -> str:
    return LABELS.get(name, name)


@cache
def load(catalogue: Catalogue, key: SetKey) -> Dataset:
    """One set, read or made once per process."""
    locations, trajectories = _varied(catalogue, key)
    whole, _ = _base(catalogue, key.base)
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


def _thinned(trajectories: TrajectorySet, most: int | None) -> TrajectorySet:
    """At most so many, spread evenly over all: files are often sorted by user or by day."""
    if most is None or len(trajectories) <= most:
        return trajectories
    return trajectories.select(np.arange(most) * len(trajectories) // most)


def _folders(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise SchemaError(
            f"{folder} must be a folder of data sets, and is none", code="not_a_folder"
        )
    return [path for path in folder.iterdir() if path.is_dir()]
