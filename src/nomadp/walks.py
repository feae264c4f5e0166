"""Public random-walk trajectories: a synthetic prior that uses only the location set.

The first location is uniform. Each next one is near the last on one of several scales, or
uniform where the scale is too short to matter. Codebooks are designed and selected on these
walks, and the walks are the prior support before any report arrives. Equal arguments give equal
walks on every machine.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nomadp.geometry import Floats
from nomadp.locations import Indices, LocationSet
from nomadp.randomness import SeededRandom

__all__ = ["TrajectoryTable", "public_walks", "uniforms"]

TrajectoryTable = NDArray[np.int32]
"""Rows of location indices."""

SCALES = (0, 2, 8, 32)
"""The step scale is the mean pairwise distance divided by one of these; 0 means uniform."""
SHORTEST_KM = 0.1
"""Shorter scales also mean uniform: people do not mind such short distances."""
# These numbers belong to the recipe: other numbers give other walks.
_WALKED = 4096  # most locations that walks visit; in a larger set they are spread evenly
_SAMPLE = 512  # locations from which the mean pairwise distance is estimated
_UNIFORM_BITS = 53  # of a word, for a number in [0, 1): the precision of a double


@lru_cache(maxsize=16)
def public_walks(
    locations: LocationSet, length: int, count: int, purpose: str
) -> TrajectoryTable:
    """``count`` walks of ``length`` locations; each purpose and count has its own walks."""
    recipe = f"walk-2/{purpose}/{locations.sha256}/{length}/{count}"
    uniform = uniforms(SeededRandom(0).bound_to(recipe).rows(np.arange(count), length))
    world, places = _walked(locations)
    sample = range(0, len(world), max(1, len(world) // _SAMPLE))
    mean_km = float(np.mean([world.distances_km(i).mean() for i in sample]))
    walks = np.empty((count, length), dtype=np.int32)
    for part, scale in enumerate(SCALES):  # the scales take turns
        rows = slice(part, count, len(SCALES))
        walks[rows] = places[_walks(world, uniform[rows], _scale_km(mean_km, scale))]
    walks.flags.writeable = False
    return walks


def uniforms(words: NDArray[np.uint64]) -> Floats:
    """Uniform numbers in [0, 1) from the upper bits of random words."""
    upper = (words >> np.uint64(64 - _UNIFORM_BITS)).astype(np.float64)
    return upper * 2.0**-_UNIFORM_BITS


@lru_cache(maxsize=4)
def _walked(locations: LocationSet) -> tuple[LocationSet, TrajectoryTable]:
    """The locations that walks visit, as a location set, and their indices."""
    size = len(locations)
    if size <= _WALKED:
        return locations, np.arange(size, dtype=np.int32)
    randomness = SeededRandom(0).bound_to(f"walk-2/places/{locations.sha256}")
    # A random location of each block (stratified sampling). Evenly spaced ones of a grid could
    # all be in the same columns.
    within = uniforms(randomness.rows(np.arange(_WALKED), 1))[:, 0]
    places = np.unique(((np.arange(_WALKED) + within) * size / _WALKED).astype(np.int32))
    return locations.subset(places), places


def _scale_km(mean_km: float, scale: int) -> float:
    """The scale of a step, or 0 if steps are uniform."""
    scale_km = mean_km / scale if scale else 0.0
    return scale_km if scale_km >= SHORTEST_KM else 0.0


def _walks(locations: LocationSet, uniform: Floats, scale_km: float) -> Indices:
    """One walk per row of uniforms. Each step has weight e^(-distance / scale)."""
    last = len(locations) - 1
    walks = np.minimum((uniform * (last + 1)).astype(np.int64), last)
    for step in range(1, uniform.shape[1] if scale_km else 0):  # 0: the walks stay uniform
        # Walks at the same location share one cumulative distribution.
        order = np.argsort(walks[:, step - 1], kind="stable")
        origin, first = np.unique(walks[order, step - 1], return_index=True)
        for location, walkers in zip(origin.tolist(), np.split(order, first[1:]), strict=True):
            reached = np.cumsum(np.exp(-locations.distances_km(location) / scale_km))
            target = uniform[walkers, step] * reached[-1]
            walks[walkers, step] = np.minimum(reached.searchsorted(target, side="right"), last)
    return walks
