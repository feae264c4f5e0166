"""The atlas: a public book of plausible journeys of one length, the same for everybody.

It is made once from the location set alone, by a public walk: the first location is uniform,
each next one is near the last on one of several scales. A bad atlas costs utility, never
privacy. Its words come from its own recipe, so that everybody builds the same book, and its
content hash says whether they did.
"""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import DomainError
from nomadp.geometry import EARTH_RADIUS_KM
from nomadp.locations import CACHED_ROWS_MAX, LocationSet
from nomadp.randomness import SimulatedWords

__all__ = [
    "LARGE_RECIPE",
    "RECIPE",
    "Atlas",
    "build_atlas",
    "content_sha256",
    "fresh_journeys",
    "public_walks",
    "recipe_of",
    "uniforms",
]

Journeys = NDArray[np.int32]
Floats = NDArray[np.float64]

RECIPE = "walk-1"
LARGE_RECIPE = "walk-1-sampled"
"""In large sets the mean distance is that of a sample, so that it takes no minutes."""
SCALES = (0, 2, 4, 8)
"""A step's scale is the mean pairwise distance over one of these; 0 stands for anywhere."""
# What the recipes read, and nothing else does: other numbers are other recipes.
_DENSE = 4096  # up to so many locations RECIPE walks, above LARGE_RECIPE
_SAMPLE = 512  # locations from which the mean pairwise distance is estimated
_OTHERS = 4096  # and to how many others, in a large set
_UNIFORM_BITS = 53  # of a word, for a number in [0, 1)
_POLE = 1e-6  # a circle of latitude is never shorter than this part of the equator


@dataclass(frozen=True, eq=False)
class Atlas:
    """Journeys as rows of location indices; a report is the number of a row."""

    locations: LocationSet
    journeys: Journeys = field(repr=False)  # (size, length)

    def __post_init__(self) -> None:
        if self.journeys.ndim != 2 or min(self.journeys.shape) < 1:
            raise DomainError(
                "an atlas must hold at least one journey of at least one location"
            )
        if self.journeys.min() < 0 or self.journeys.max() >= len(self.locations):
            raise DomainError(
                f"every journey must lie in the public set of {len(self.locations)} locations"
            )
        self.journeys.flags.writeable = False

    @property
    def size(self) -> int:
        return len(self.journeys)

    @property
    def length(self) -> int:
        return int(self.journeys.shape[1])

    @cached_property
    def sha256(self) -> str:
        """Of the location set and the journeys: what a task pins."""
        return content_sha256(self.locations.sha256, self.journeys)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atlas) and other.sha256 == self.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def distances_km(self, trajectory: NDArray[np.int64]) -> Floats:
        """Summed distances of all journeys to a trajectory; to (n, inputs), a row for each."""
        if trajectory.ndim == 2:
            return np.stack([self.distances_km(one) for one in trajectory.T])
        total = np.zeros(self.size)
        for position, location in enumerate(trajectory.tolist()):
            total += self._from_km(location, self.journeys[:, position])
        return total

    def _from_km(self, location: int, others: Journeys) -> Floats:
        if len(self.locations) <= CACHED_ROWS_MAX:
            return self.locations.distances_km(location)[others]
        return self.locations.distances_between_km(location, others)


def content_sha256(location_set_sha256: str, journeys: Journeys) -> str:
    """Of journeys over a location set that need not be at hand."""
    digest = hashlib.sha256(b"nomadp atlas 1\n" + location_set_sha256.encode())
    digest.update(np.asarray(journeys.shape, dtype="<i8").tobytes())
    digest.update(journeys.astype("<i4").tobytes())
    return digest.hexdigest()


def build_atlas(locations: LocationSet, length: int, size: int) -> Atlas:
    """The atlas of this recipe; with few locations simply every journey there is."""
    if length < 1 or size < 1:
        raise DomainError(
            f"an atlas needs length and size of at least 1, got {length} and {size}"
        )
    if len(locations) ** length <= size:
        every = np.indices((len(locations),) * length).reshape(length, -1).T
        return Atlas(locations, np.ascontiguousarray(every, dtype=np.int32))
    return Atlas(locations, public_walks(locations, length, size, "atlas"))


def fresh_journeys(atlas: Atlas, count: int) -> Journeys:
    """More walks of the same recipe, that are not in the book."""
    return public_walks(atlas.locations, atlas.length, count, "fresh")


def public_walks(locations: LocationSet, length: int, count: int, purpose: str) -> Journeys:
    """Walks of the recipe; those of another purpose or count are other walks."""
    recipe = f"{recipe_of(locations)}/{purpose}/{locations.sha256}/{length}/{count}"
    rows = SimulatedWords(0).bound_to(recipe).rows(np.arange(count), 2 * length)
    uniform = uniforms(rows)
    journeys = np.empty((count, length), dtype=np.int32)
    mean_km = _mean_distance_km(locations)
    for part, scale in enumerate(SCALES):
        these = slice(part, count, len(SCALES))
        journeys[these] = _walks(locations, uniform[these], mean_km / scale if scale else 0.0)
    return journeys


def uniforms(words: NDArray[np.uint64]) -> Floats:
    """Numbers in [0, 1) from the upper bits of words."""
    upper = (words >> np.uint64(64 - _UNIFORM_BITS)).astype(np.float64)
    return upper * 2.0**-_UNIFORM_BITS


def recipe_of(locations: LocationSet) -> str:
    """The name of the recipe for a set of this size."""
    return RECIPE if len(locations) <= _DENSE else LARGE_RECIPE


def _mean_distance_km(locations: LocationSet) -> float:
    size = len(locations)
    if size > _DENSE:
        here, there = (np.arange(count) * size // count for count in (_SAMPLE, _OTHERS))
        return float(locations.distances_between_km(here[:, None], there).mean())
    step = max(1, size // _SAMPLE)
    some = range(0, size, step)
    return float(np.mean([locations.distances_km(i).mean() for i in some]))


def _walks(locations: LocationSet, uniform: Floats, scale_km: float) -> Journeys:
    """One walk per row of uniforms, two for each step; a scale of 0 goes anywhere."""
    size = len(locations)
    here = np.minimum((uniform[:, 0] * size).astype(np.int64), size - 1)
    walks = [here]
    for step in range(1, uniform.shape[1] // 2):
        pair = uniform[:, 2 * step : 2 * step + 2]
        if not scale_km:
            here = np.minimum((pair[:, 0] * size).astype(np.int64), size - 1)
        elif size <= _DENSE:
            here = _step_by_distance(locations, here, pair[:, 0], scale_km)
        else:
            here = _step_by_displacement(locations, here, pair, scale_km)
        walks.append(here)
    return np.stack(walks, axis=1).astype(np.int32)


def _step_by_distance(
    locations: LocationSet, here: NDArray[np.int64], uniform: Floats, scale_km: float
) -> NDArray[np.int64]:
    """The next location, with probability proportional to e^(-distance / scale)."""
    following = np.empty_like(here)
    for location in np.unique(here).tolist():
        walkers = np.flatnonzero(here == location)
        cumulative = np.cumsum(np.exp(-locations.distances_km(location) / scale_km))
        target = uniform[walkers] * cumulative[-1]
        following[walkers] = cumulative.searchsorted(target, side="right")
    return np.minimum(following, len(locations) - 1)


def _step_by_displacement(
    locations: LocationSet, here: NDArray[np.int64], uniform: Floats, scale_km: float
) -> NDArray[np.int64]:
    """A step of exponential length in a uniform direction, snapped to the nearest location."""
    length_km = -scale_km * np.log1p(-uniform[:, 0])
    angle = 2 * np.pi * uniform[:, 1]
    north = np.degrees(length_km * np.cos(angle) / EARTH_RADIUS_KM)
    lat = np.clip(locations.lat[here] + north, -90.0, 90.0)
    shrink = np.maximum(np.cos(np.radians(lat)), _POLE)
    east = np.degrees(length_km * np.sin(angle) / (EARTH_RADIUS_KM * shrink))
    lng = locations.lng[here] + east
    lng = lng - 360.0 * np.round(lng / 360.0)
    return np.asarray(locations.nearest(lat, lng), dtype=np.int64)
