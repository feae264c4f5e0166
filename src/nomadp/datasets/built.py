"""A data set in a folder: public locations, private trajectories, and how they were made.

`locations.csv`, `trajectories.csv` and `recipe.json`, and `districts.geojson` where areas with
names are known. The recipe has a name and a version,
every parameter, the counts of every stage, and the hashes of what went in and came out:
whoever repeats it can tell whether they got the same.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import nomadp
from nomadp.errors import DomainError, OutputError, SchemaError
from nomadp.formats.atomic import Write, written_whole
from nomadp.formats.columns import offset_texts
from nomadp.formats.files import write_table
from nomadp.formats.location_files import location_columns, point_columns, read_locations
from nomadp.formats.measured_file import AnyPath, file_sha256
from nomadp.formats.point_files import LOCATIONS, TRAJECTORIES, read_trajectories
from nomadp.formats.zone_files import write_polygons
from nomadp.geometry import DEGREE_KM, Floats
from nomadp.locations import LocationSet
from nomadp.sequences import Indices
from nomadp.trajectory import TrajectorySet
from nomadp.zones import Zones

__all__ = [
    "BuiltData",
    "alike",
    "check_folder",
    "degrees_of",
    "lacking",
    "made",
    "on_the_map",
    "read_built",
    "walked",
    "write_built",
]


RECIPE = "recipe.json"
DISTRICTS = "districts.geojson"


@dataclass(frozen=True, eq=False)
class BuiltData:
    """Locations, trajectories over them, and the recipe that made both."""

    locations: LocationSet
    trajectories: TrajectorySet
    recipe: dict[str, Any]
    moment_us: Indices | None = None  # (n_points,), UTC; None where nobody kept a clock
    local_us: Indices | None = None
    """What the clock showed at each point, as `Points` has it."""
    districts: Zones | None = None  # public areas with names, for questions about them

    def __post_init__(self) -> None:
        self.trajectories.check_size(len(self.locations))
        points = len(self.trajectories.locations)
        if self.moment_us is not None and len(self.moment_us) != points:
            raise DomainError(
                f"every point must have one moment, got {len(self.moment_us)} for {points}",
                code="column_lengths_differ",
                moments=len(self.moment_us),
                points=points,
            )

    def __repr__(self) -> str:
        return f"BuiltData({self.recipe.get('recipe')}, {self.locations}, {self.trajectories})"


def made(
    name: str,
    version: int,
    parameters: Mapping[str, Any],
    counts: Mapping[str, Any],
    inputs: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """A recipe: `inputs` are file names (without their folders) and hashes."""
    return {
        "recipe": name,
        "version": version,
        "parameters": dict(parameters),
        "counts": dict(counts),
        "inputs": dict(inputs or {}),
        "nomadp_version": nomadp.__version__,
    }


def on_the_map(
    ids: Sequence[str], centre: tuple[float, float], east_km: Floats, north_km: Floats
) -> LocationSet:
    """Places so many km from a centre in degrees (latitude first).

    Six decimals are 10 cm, and hide the last bits in which machines may differ.
    """
    lat, lng = degrees_of(centre, east_km, north_km)
    return LocationSet.from_columns(ids, np.round(lat, 6), np.round(lng, 6))


def degrees_of(
    centre: tuple[float, float], east_km: Floats, north_km: Floats
) -> tuple[Floats, Floats]:
    """Latitudes and longitudes of points so far from the centre."""
    lat = centre[0] + north_km / DEGREE_KM
    lng = centre[1] + east_km / (DEGREE_KM * np.cos(np.radians(centre[0])))
    return lat, lng


def walked(visited: Indices, lengths: Indices) -> TrajectorySet:
    """Each row of `visited` up to its length, named by its number."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    taken = visited[np.arange(visited.shape[1]) < lengths[:, np.newaxis]]
    return TrajectorySet(offsets, taken, tuple(map(str, range(len(lengths)))))


def alike(keys: Indices) -> list[Indices]:
    """The rows that have the same key, key by key."""
    order = np.argsort(keys, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(keys[order], prepend=-1))[1:])


def check_folder(folder: AnyPath) -> Path:
    """The folder, unless it holds data that no recipe made and that we would replace."""
    found = Path(folder)
    if found.exists() and not found.is_dir():
        raise SchemaError(
            f"{found} must be a folder, and is a file; name another", code="not_a_folder"
        )
    ours = (LOCATIONS, TRAJECTORIES, DISTRICTS)
    theirs = [name for name in ours if (found / name).exists()]
    if theirs and not (found / RECIPE).exists():
        raise SchemaError(
            f"{found} holds {' and '.join(theirs)} but no {RECIPE}, so it was not built here "
            "and is not overwritten; name another folder",
            code="not_built_here",
            files=tuple(theirs),
        )
    return found


def write_built(folder: AnyPath, built: BuiltData) -> dict[str, Any]:
    """Write the files, whole or not at all; the recipe as written."""
    found = check_folder(folder)
    try:
        found.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{found} cannot be made: {error.strerror or error}",
            code="file_unwritable",
            errno=error.errno,
        ) from error
    recipe = {**built.recipe, "location_set_sha256": built.locations.sha256, "outputs": {}}

    clock, points = built.moment_us, point_columns(built.trajectories, built.locations)
    points["datetime"] = [""] * len(points["seq"])
    if clock is not None:
        points["datetime"] = offset_texts(clock, built.local_us)

    places = location_columns(built.locations)
    files: dict[str, Write] = {
        LOCATIONS: lambda part: write_table(part, places),
        TRAJECTORIES: lambda part: write_table(part, points),
    }
    if built.districts is not None:
        polygons = built.districts.polygons
        files[DISTRICTS] = lambda part: write_polygons(part, polygons)

    def vouched(name: str, write: Write) -> Write:
        def written(part: Path) -> None:
            write(part)
            recipe["outputs"][name] = file_sha256(part)

        return written

    def describe(part: Path) -> None:
        with part.open("x", encoding="utf-8", newline="\n") as file:
            file.write(json.dumps(recipe, indent=2, allow_nan=False) + "\n")

    writes = {found / name: vouched(name, write) for name, write in files.items()}
    writes[found / RECIPE] = describe  # last: it vouches for the others
    written_whole(writes, private=[found / TRAJECTORIES])
    if built.districts is None:  # those of what was built here before
        (found / DISTRICTS).unlink(missing_ok=True)
    return recipe


def lacking(folder: Path) -> list[str]:
    """The files without which it holds no data set."""
    return [name for name in (LOCATIONS, TRAJECTORIES) if not (folder / name).is_file()]


def read_built(folder: AnyPath) -> tuple[LocationSet, TrajectorySet]:
    """The locations and trajectories in a folder, whoever put them there."""
    found = Path(folder)
    locations = read_locations(found / LOCATIONS)
    return locations, read_trajectories(found / TRAJECTORIES, locations)[0]
