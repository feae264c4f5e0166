"""A data set in a folder: public locations, private trajectories, and the recipe of both.

The files are `locations.csv`, `trajectories.csv`, `recipe.json` and, if there are named areas,
`districts.geojson`. The recipe contains its name and version, all parameters, the counts of
every stage, and the hashes of inputs and outputs, so that a repeated build can be compared.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import nomadp
from nomadp.errors import DomainError, OutputError, SchemaError
from nomadp.formats.atomic import Write, write_atomically
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
    "check_folder",
    "degrees_of",
    "locations_around",
    "missing_files",
    "read_built",
    "recipe_of",
    "rows_by_key",
    "trajectories_of_rows",
    "write_built",
]


RECIPE = "recipe.json"
DISTRICTS = "districts.geojson"


@dataclass(frozen=True, eq=False)
class BuiltData:
    """Locations, trajectories over them, and the recipe of both."""

    locations: LocationSet
    trajectories: TrajectorySet
    recipe: dict[str, Any]
    moment_us: Indices | None = None  # (n_points,), UTC; None if times are unknown
    local_us: Indices | None = None
    """The local time at each point, as in `Points`."""
    districts: Zones | None = None  # public areas with names, for queries

    def __post_init__(self) -> None:
        self.trajectories.check_size(len(self.locations))
        points = len(self.trajectories.locations)
        if self.moment_us is not None and len(self.moment_us) != points:
            raise DomainError(
                f"every point must have one moment, got {len(self.moment_us)} moments for "
                f"{points} points",
                code="column_lengths_differ",
                moments=len(self.moment_us),
                points=points,
            )

    def __repr__(self) -> str:
        return f"BuiltData({self.recipe.get('recipe')}, {self.locations}, {self.trajectories})"


def recipe_of(
    name: str,
    version: int,
    parameters: Mapping[str, Any],
    counts: Mapping[str, Any],
    inputs: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """A recipe. `inputs` maps file names (without folders) to hashes."""
    return {
        "recipe": name,
        "version": version,
        "parameters": dict(parameters),
        "counts": dict(counts),
        "inputs": dict(inputs or {}),
        "nomadp_version": nomadp.__version__,
    }


def locations_around(
    ids: Sequence[str], centre: tuple[float, float], east_km: Floats, north_km: Floats
) -> LocationSet:
    """Locations at distances in km from a centre in degrees (latitude first).

    Rounding to six decimals (10 cm) hides the last bits, in which machines may differ.
    """
    lat, lng = degrees_of(centre, east_km, north_km)
    return LocationSet.from_columns(ids, np.round(lat, 6), np.round(lng, 6))


def degrees_of(
    centre: tuple[float, float], east_km: Floats, north_km: Floats
) -> tuple[Floats, Floats]:
    """Latitudes and longitudes of points at distances from the centre."""
    lat = centre[0] + north_km / DEGREE_KM
    lng = centre[1] + east_km / (DEGREE_KM * np.cos(np.radians(centre[0])))
    return lat, lng


def trajectories_of_rows(visited: Indices, lengths: Indices) -> TrajectorySet:
    """A trajectory for each row of `visited`, cut to its length and named by its number."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    locations = visited[np.arange(visited.shape[1]) < lengths[:, np.newaxis]]
    return TrajectorySet(offsets, locations, tuple(map(str, range(len(lengths)))))


def rows_by_key(keys: Indices) -> list[Indices]:
    """For each distinct key, the rows that have it."""
    order = np.argsort(keys, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(keys[order], prepend=-1))[1:])


def check_folder(folder: AnyPath) -> Path:
    """The folder as a path. Raises `SchemaError` if it has data without a recipe.

    Such data was not built by us, and building would replace it.
    """
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise SchemaError(
            f"{path} must be a folder, but it is a file; choose another path",
            code="not_a_folder",
        )
    data_files = (LOCATIONS, TRAJECTORIES, DISTRICTS)
    existing = [name for name in data_files if (path / name).exists()]
    if existing and not (path / RECIPE).exists():
        raise SchemaError(
            f"{path} contains {' and '.join(existing)} but no {RECIPE}, so nomadp did not "
            "build it and does not overwrite it; choose another folder",
            code="not_built_here",
            files=tuple(existing),
        )
    return path


def write_built(folder: AnyPath, built: BuiltData) -> dict[str, Any]:
    """Write all files completely or none of them. Returns the recipe as written."""
    path = check_folder(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{path} cannot be created: {error.strerror or error}",
            code="file_unwritable",
            errno=error.errno,
        ) from error
    recipe = {**built.recipe, "location_set_sha256": built.locations.sha256, "outputs": {}}

    points = point_columns(built.trajectories, built.locations)
    points["datetime"] = [""] * len(points["seq"])
    if built.moment_us is not None:
        points["datetime"] = offset_texts(built.moment_us, built.local_us)

    places = location_columns(built.locations)
    files: dict[str, Write] = {
        LOCATIONS: lambda part: write_table(part, places),
        TRAJECTORIES: lambda part: write_table(part, points),
    }
    if built.districts is not None:
        polygons = built.districts.polygons
        files[DISTRICTS] = lambda part: write_polygons(part, polygons)

    def with_hash(name: str, write: Write) -> Write:
        def write_and_hash(part: Path) -> None:
            write(part)
            recipe["outputs"][name] = file_sha256(part)

        return write_and_hash

    def write_recipe(part: Path) -> None:
        with part.open("x", encoding="utf-8", newline="\n") as file:
            file.write(json.dumps(recipe, indent=2, allow_nan=False) + "\n")

    writes = {path / name: with_hash(name, write) for name, write in files.items()}
    writes[path / RECIPE] = write_recipe  # last: it contains the hashes of the others
    write_atomically(writes, private=[path / TRAJECTORIES])
    if built.districts is None:  # a previous build may have left some
        (path / DISTRICTS).unlink(missing_ok=True)
    return recipe


def missing_files(folder: Path) -> list[str]:
    """The required files of a data set that the folder does not have."""
    return [name for name in (LOCATIONS, TRAJECTORIES) if not (folder / name).is_file()]


def read_built(folder: AnyPath) -> tuple[LocationSet, TrajectorySet]:
    """Read the locations and trajectories in a folder, with or without a recipe."""
    path = Path(folder)
    locations = read_locations(path / LOCATIONS)
    return locations, read_trajectories(path / TRAJECTORIES, locations)[0]
