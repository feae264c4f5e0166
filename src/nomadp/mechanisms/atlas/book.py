"""The atlas: a public book of few journeys of one length, the same for everybody.

Its journeys are answers: what is said of a trajectory when a row is reported. They are made for
epsilon from the location set alone (`lloyd.py`), on a public walk: the first location is
uniform, each next one is near the last on one of several scales. A bad atlas costs utility,
never privacy.
"""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import DomainError
from nomadp.geometry import Floats
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.randomness import SimulatedWords

__all__ = ["Atlas", "Journeys", "content_sha256", "public_walks", "uniforms"]

Journeys = NDArray[np.int32]

SCALES = (0, 2, 4, 8)
"""A step's scale is the mean pairwise distance over one of these; 0 stands for anywhere."""
# What the recipe reads, and nothing else does: other numbers are other walks.
_WALKED = 4096  # locations that walks visit; in a larger set so many, spread evenly over it
_SAMPLE = 512  # locations from which the mean pairwise distance is estimated
_UNIFORM_BITS = 53  # of a word, for a number in [0, 1)


@dataclass(frozen=True, eq=False)
class Atlas:
    """Journeys as rows of location indices; a report is the number of a row."""

    locations: LocationSet
    journeys: Journeys = field(repr=False)  # (size, length)
    near_count: int = 1
    """How many of them count as near to a trajectory."""
    error_km: float = float("nan")
    """By how much a reported point is off on average, on public walks it was not made from."""

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
        """Of the location set, the journeys and how many count as near: what a task pins."""
        return content_sha256(self.locations.sha256, self.journeys, self.near_count)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atlas) and other.sha256 == self.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def distances_km(self, trajectory: Ints) -> Floats:
        """Summed distances of all journeys to a trajectory; to (n, inputs), a row for each."""
        total = np.zeros((*trajectory.shape[1:], self.size))
        for position, places in enumerate(trajectory):
            # Of the same place for many inputs, once.
            some, which = np.unique(places, return_inverse=True)
            there = self.journeys[:, position]
            table_km = self.locations.distances_between_km(some[:, None], there)
            total += table_km[which.reshape(np.shape(places))]
        return total


def content_sha256(location_set_sha256: str, journeys: Journeys, near_count: int) -> str:
    """Of journeys over a location set that need not be at hand."""
    digest = hashlib.sha256(b"nomadp atlas 2\n" + location_set_sha256.encode())
    digest.update(np.asarray([*journeys.shape, near_count], dtype="<i8").tobytes())
    digest.update(journeys.astype("<i4").tobytes())
    return digest.hexdigest()


@lru_cache(maxsize=16)
def public_walks(locations: LocationSet, length: int, count: int, purpose: str) -> Journeys:
    """Walks of the recipe; those of another purpose or count are other walks."""
    recipe = f"walk-2/{purpose}/{locations.sha256}/{length}/{count}"
    uniform = uniforms(SimulatedWords(0).bound_to(recipe).rows(np.arange(count), length))
    world, places = _walked(locations)
    mean_km = _mean_distance_km(world)
    journeys = np.empty((count, length), dtype=np.int32)
    for part, scale in enumerate(SCALES):
        these = slice(part, count, len(SCALES))
        journeys[these] = _walks(world, uniform[these], mean_km / scale if scale else np.inf)
    walks: Journeys = places[journeys]
    walks.flags.writeable = False
    return walks


def uniforms(words: NDArray[np.uint64]) -> Floats:
    """Numbers in [0, 1) from the upper bits of words."""
    upper = (words >> np.uint64(64 - _UNIFORM_BITS)).astype(np.float64)
    return upper * 2.0**-_UNIFORM_BITS


@lru_cache(maxsize=4)
def _walked(locations: LocationSet) -> tuple[LocationSet, Journeys]:
    """The locations that walks visit, as a set of their own, and their indices."""
    size = len(locations)
    if size <= _WALKED:
        return locations, np.arange(size, dtype=np.int32)
    words = SimulatedWords(0).bound_to(f"walk-2/places/{locations.sha256}")
    # One of each block: a file in any order is covered evenly, and a regular one not in rows.
    within = uniforms(words.rows(np.arange(_WALKED), 1))[:, 0]
    places = ((np.arange(_WALKED) + within) * size / _WALKED).astype(np.int32)
    return locations.subset(places), places


@lru_cache(maxsize=4)
def _mean_distance_km(locations: LocationSet) -> float:
    some = range(0, len(locations), max(1, len(locations) // _SAMPLE))
    return float(np.mean([locations.distances_km(i).mean() for i in some]))


def _walks(locations: LocationSet, uniform: Floats, scale_km: float) -> Ints:
    """One walk per row of uniforms: each next step with weight e^(-distance / scale)."""
    last = len(locations) - 1
    walks = np.minimum((uniform * (last + 1)).astype(np.int64), last)
    if not 0 < scale_km < np.inf:  # anywhere
        return walks
    for step in range(1, uniform.shape[1]):
        order = np.argsort(walks[:, step - 1], kind="stable")
        here, first = np.unique(walks[order, step - 1], return_index=True)
        for location, walkers in zip(here.tolist(), np.split(order, first[1:]), strict=True):
            reached = np.cumsum(np.exp(-locations.distances_km(location) / scale_km))
            target = uniform[walkers, step] * reached[-1]
            walks[walkers, step] = reached.searchsorted(target, side="right")
    return np.minimum(walks, last)
