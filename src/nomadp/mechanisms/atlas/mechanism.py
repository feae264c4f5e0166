"""ATLAS: report the number of a journey that is probably near the true one.

Splitting epsilon over every point of a trajectory is what ruins the mechanisms that perturb
point by point. Here the whole trajectory is one secret and gets all of epsilon: a two-level
response over a public book of journeys, heavier for the k nearest to the truth.

Its ancestors: k-closest encoding over a shared codebook (Isik, Chen, Ozgur, Weissman and No,
arXiv 2306.04924), subset selection, and BRR, whose ranks of single points it takes to journeys.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from nomadp.budget import Split, Step
from nomadp.drawing import Choose, Task
from nomadp.errors import DomainError
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.mechanisms.atlas.book import Atlas, build_atlas
from nomadp.mechanisms.atlas.long import control_positions, interpolated
from nomadp.mechanisms.atlas.near_count import best_near_count
from nomadp.mechanisms.atlas.pinned import PinnedAtlases
from nomadp.mechanisms.atlas.response import JourneyResponse
from nomadp.mechanisms.base import MOST, Mechanism, Range, Trajectory
from nomadp.mechanisms.report_law import ReportLaw

__all__ = ["JourneyLaw", "WholeJourney", "atlas_of"]

SIZE = 8192


@lru_cache(maxsize=32)
def atlas_of(locations: LocationSet, length: int, size: int) -> Atlas:
    return build_atlas(locations, length, size)


@dataclass(frozen=True, kw_only=True)
class WholeJourney(Mechanism):
    """ATLAS: one draw for the whole trajectory."""

    name: ClassVar[str] = "atlas"
    ranges: ClassVar[Mapping[str, Range]] = {
        **Mechanism.ranges,
        "size": (1, MOST),
        "near_count": (1, MOST),
        "control_points": (2, 256),
    }

    size: int = SIZE
    """Journeys in the atlas of each length; of pinned ones, their own."""
    near_count: int | None = None
    """Journeys that count as near; by default what errs least on fresh walks of the atlas'
    recipe, never on the journeys that are in it."""
    control_points: int = 8
    """Longer trajectories are reported through so many of their points, evenly spaced."""
    pinned: PinnedAtlases | None = None
    """Atlases given as they are, instead of built by the recipe of this version."""

    def __post_init__(self) -> None:
        if self.pinned is not None:
            self._take(self.pinned)
        super().__post_init__()

    def _take(self, pinned: PinnedAtlases) -> None:
        pinned.check_locations(self.locations)
        if self.size not in (SIZE, pinned.size):
            raise DomainError(
                f"size must be that of the pinned atlas, {pinned.size}, got size={self.size}"
            )
        object.__setattr__(self, "size", pinned.size)

    def get_params(self) -> dict[str, Any]:
        """Pinned atlases are named by their hash: they decide the law, and so the identity."""
        params = super().get_params()
        pinned = params.pop("pinned")
        return params if pinned is None else params | {"pinned": pinned.sha256}

    def split(self, length: int) -> Split:
        self.check_length(length)
        return Split(self.epsilon, (Step("journey", 0, 1, self.epsilon),))

    def atlas(self, length: int) -> Atlas:
        """The public book for trajectories of this length."""
        seen = min(length, self.control_points)
        if self.pinned is not None:
            return self.pinned.atlas(self.locations, seen)
        return atlas_of(self.locations, seen, self.size)

    def channel(self, length: int) -> JourneyResponse:
        """The law of the report."""
        atlas = self.atlas(length)
        near = self.near_count or best_near_count(atlas, self.epsilon)
        return JourneyResponse(atlas, min(near, atlas.size), self.epsilon)

    def parts(self, trajectory: Trajectory) -> Sequence[Task[tuple[int, ...]]]:
        return [(self._report, trajectory)]

    def _report(self, trajectory: Trajectory, choose: Choose) -> tuple[int, ...]:
        length = len(trajectory)
        seen = trajectory[control_positions(length, self.control_points)]
        return (choose("journey", self.channel(length), seen), length)

    def finish(self, released: Sequence[Any], choose: Choose) -> tuple[int, ...]:
        index, length = released[0]
        length = int(np.max(length))
        journey = self.atlas(length).journeys[index]
        return tuple(interpolated(self.locations, journey.T, length))

    def report_number(self, released: Sequence[Any]) -> int:
        """The row of the atlas."""
        return int(released[0][0])

    def report_law(self, length: int) -> "JourneyLaw":
        return JourneyLaw(self, length)


@dataclass(frozen=True, eq=False)
class JourneyLaw(ReportLaw):
    """A report is a row of the atlas, whatever is drawn between its control points."""

    mechanism: WholeJourney
    length: int
    whole: ClassVar[bool] = True

    @property
    def locations(self) -> LocationSet:  # type: ignore[override]
        return self.mechanism.locations

    @cached_property
    def channel(self) -> JourneyResponse:  # type: ignore[override]
        return self.mechanism.channel(self.length)

    def values(self, places: Ints, numbers: Ints | None = None) -> Ints:
        """Rows, by number or searched for; a journey that stands twice counts as its first."""
        journeys = self.mechanism.atlas(self.length).journeys
        seen = places[:, control_positions(self.length, self.mechanism.control_points)]
        if numbers is not None:
            there = (numbers >= 0) & (numbers < len(journeys))
            same = (journeys[np.where(there, numbers, 0)] == seen).all(axis=1)
            return np.where(there & same, numbers, -1)
        rows = np.concatenate([journeys, seen.astype(journeys.dtype)])
        _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        found = first[which.reshape(-1)[len(journeys) :]]
        return np.where(found < len(journeys), found, -1)
