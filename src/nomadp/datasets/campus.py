"""Campus walks: the paper's synthetic data set (CPS), by the recipe of its artefact.

A walk begins at a uniformly random building. Each step takes 10 to 120 minutes, and ends at a
uniformly random building within walking reach, which may be the current one.
"""

from os import fspath
from pathlib import Path
from typing import Any

import numpy as np

from nomadp.datasets.built import (
    BuiltData,
    locations_around,
    recipe_of,
    rows_by_key,
    trajectories_of_rows,
)
from nomadp.errors import InvalidArgument, SchemaError
from nomadp.formats.json_files import features, first_vertex
from nomadp.formats.measured_file import AnyPath, file_sha256
from nomadp.geometry import Floats
from nomadp.locations import LocationSet
from nomadp.sequences import Indices
from nomadp.trajectory import TrajectorySet

__all__ = ["build_campus", "campus_walks", "read_buildings", "synthetic_campus"]

Lengths = int | tuple[int, int]
"""The length of every walk, or the shortest and longest of a uniform distribution."""

VERSION = 1
BUILDINGS = 262
BUILDING_KEY = "BLDG_ID"
GAP_MINUTES = (10, 120)
CENTRE = 45.5, -35.0
SPACING_KM = 0.025  # between neighbours, on a campus of BUILDINGS
ZONES = np.array(
    [  # share, along, across, spread along, spread across (km)
        [0.66, 0.10, 0.00, 0.48, 0.34],  # lecture halls and laboratories
        [0.20, -0.95, 0.02, 0.32, 0.25],  # residences
        [0.09, -1.80, 0.12, 0.13, 0.17],  # a research park
        [0.05, 0.90, -0.05, 0.55, 0.30],  # a farm
    ]
)
"""A campus along one road. No row was derived from real data."""


def build_campus(
    buildings: AnyPath | None = None,
    *,
    count: int = 4000,
    lengths: Lengths = (3, 8),
    speed_km_h: float | None = 4.0,
    seed: int = 1,
) -> BuiltData:
    """Walks between the buildings of a GeoJSON file, or of a synthetic campus."""
    counts: dict[str, Any] = {}
    inputs: dict[str, str] = {}
    if buildings is None:
        locations = synthetic_campus(seed)
    else:
        locations, repeated = read_buildings(buildings)
        counts["repeated_buildings"] = repeated
        inputs[Path(buildings).name] = file_sha256(buildings)
    walks = campus_walks(
        locations, count=count, lengths=lengths, speed_km_h=speed_km_h, seed=seed
    )
    shortest, longest = _range(lengths)
    parameters = {
        "buildings": "synthetic" if buildings is None else "file",
        "count": count,
        "lengths": [shortest, longest],
        "speed_km_h": speed_km_h,
        "gap_minutes": list(GAP_MINUTES),
        "seed": seed,
    }
    counts.update(
        buildings=len(locations), trajectories=len(walks), points=len(walks.locations)
    )
    return BuiltData(locations, walks, recipe_of("campus", VERSION, parameters, counts, inputs))


def campus_walks(
    locations: LocationSet,
    *,
    count: int = 4000,
    lengths: Lengths = (3, 8),
    speed_km_h: float | None = 4.0,
    seed: int = 1,
) -> TrajectorySet:
    """Random walks, determined by the seed. Without a speed, steps end anywhere."""
    shortest, longest = _range(lengths)
    if not (count >= 1 and 1 <= shortest <= longest):
        raise InvalidArgument(
            "count and lengths must be at least 1, with the shortest length first, "
            f"got count={count} and lengths={lengths}",
            code="walks_out_of_range",
        )
    if speed_km_h is not None and not 0 < speed_km_h < float("inf"):
        raise InvalidArgument(
            f"speed_km_h must be above 0, got speed_km_h={speed_km_h}",
            code="speed_out_of_range",
        )
    rng = np.random.default_rng(seed)
    length = rng.integers(shortest, longest + 1, count)
    position = rng.integers(0, len(locations), count)
    visited = np.empty((count, longest), dtype=np.int64)
    visited[:, 0] = position
    for k in range(1, longest):
        gap_minutes = rng.integers(GAP_MINUTES[0], GAP_MINUTES[1] + 1, count)
        share = rng.random(count)
        if speed_km_h is None:
            position = (share * len(locations)).astype(np.int64)
        else:
            reach_km = speed_km_h * gap_minutes / 60
            position = _within_reach(locations, position, reach_km, share)
        visited[:, k] = position
    return trajectories_of_rows(visited, length)


def _range(lengths: Lengths) -> tuple[int, int]:
    return (lengths, lengths) if isinstance(lengths, int) else lengths


def _within_reach(
    locations: LocationSet, position: Indices, reach_km: Floats, share: Floats
) -> Indices:
    """For each walker, a building within reach: the uniform number ``share`` selects it."""
    destination = np.empty(len(position), dtype=np.int64)
    for rows in rows_by_key(position):
        distance_km = locations.distances_km(int(position[rows[0]]))
        nearest = np.argsort(distance_km, kind="stable")
        n_within = distance_km[nearest].searchsorted(reach_km[rows], side="right")
        destination[rows] = nearest[(share[rows] * n_within).astype(np.int64)]
    return destination


def read_buildings(path: AnyPath) -> tuple[LocationSet, int]:
    """The buildings of a GeoJSON file, at the first vertex of their outer ring.

    A building in several parts is at its first part. Returns also how many parts were dropped.
    """
    first: dict[str, tuple[float, float]] = {}
    buildings = features(path)
    for k, feature in enumerate(buildings):
        name = feature["properties"].get(BUILDING_KEY)
        place = first_vertex(feature, VERTEX_DEPTH)
        if name in (None, "") or place is None:
            raise SchemaError(
                f"{fspath(path)}: feature {k + 1} must have the property {BUILDING_KEY} and be "
                "a Point, Polygon or MultiPolygon with coordinates in degrees, got another "
                "feature",
                code="not_a_building",
                feature=k + 1,
            )
        first.setdefault(str(name), place)
    lng, lat = zip(*first.values(), strict=True)
    return LocationSet.from_columns(list(first), lat, lng), len(buildings) - len(first)


VERTEX_DEPTH = {"Point": 0, "Polygon": 2, "MultiPolygon": 3}


def synthetic_campus(seed: int = 1, *, buildings: int = BUILDINGS) -> LocationSet:
    """A synthetic campus, with a minimum distance between buildings."""
    if buildings < 2:
        raise InvalidArgument(
            f"a campus must have at least 2 buildings, got buildings={buildings}",
            code="too_few_buildings",
            buildings=buildings,
        )
    rng = np.random.default_rng(seed)
    spacing_km = SPACING_KM * min(1.0, (BUILDINGS / buildings) ** 0.5)
    # Rejection sampling: draw from a mixture of normal distributions, one for each zone, until
    # the new building is far enough from all others.
    placed: list[tuple[float, float]] = []
    while len(placed) < buildings:
        zone = ZONES[rng.choice(len(ZONES), p=ZONES[:, 0])]
        along_km, across_km = (zone[1:3] + zone[3:5] * rng.normal(0, 1, 2)).tolist()
        gaps_km = (np.hypot(along_km - a, across_km - b) for a, b in placed)
        if all(gap_km >= spacing_km for gap_km in gaps_km):
            placed.append((along_km, across_km))
    turn = np.array([[1.0, -1.0], [1.0, 1.0]]) / np.sqrt(2)  # the road runs north-west
    east_km, north_km = (np.array(placed) @ turn).T
    ids = [f"B{k:0{len(str(buildings))}d}" for k in range(1, buildings + 1)]
    return locations_around(ids, CENTRE, east_km, north_km)
