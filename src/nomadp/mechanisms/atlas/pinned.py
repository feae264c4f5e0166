"""Atlases pinned by their content: what a task's configuration names, and a file can carry.

A client that cannot make them from the location set is handed the journeys themselves. Then
their hash is part of the mechanism's identity. They may be worse, but are as private.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from nomadp.errors import DomainError
from nomadp.locations import LocationSet
from nomadp.mechanisms.atlas.book import Atlas, Journeys
from nomadp.mechanisms.atlas.lloyd import RECIPE, design

__all__ = ["Page", "PinnedAtlases", "build_pinned", "follows_its_recipe"]


class Page(NamedTuple):
    """The atlas of one length, without its locations."""

    journeys: Journeys
    near_count: int
    error_km: float


@dataclass(frozen=True, eq=False)
class PinnedAtlases:
    """Journeys over one location set for one epsilon, an atlas for each of some lengths."""

    location_set_sha256: str
    recipe: str
    epsilon: Fraction
    size: int | None
    """Journeys that were asked for in each; None where the recipe chose."""
    pages: tuple[Page, ...] = field(repr=False)

    def __post_init__(self) -> None:
        for table, near_count, _ in self.pages:
            distinct = np.unique(table, axis=0) if table.ndim == 2 and table.size else ()
            if not 1 <= near_count <= len(table) == len(distinct):
                raise DomainError(
                    "a pinned atlas must hold journeys, all different, and from one to all of "
                    f"them count as near, got {near_count} near of {len(table)} journeys"
                )
        if not self.pages or list(self.lengths) != sorted(set(self.lengths)):
            raise DomainError(
                "pinned atlases must have one atlas for each length, shortest first, got "
                f"lengths {', '.join(map(str, self.lengths))}"
            )

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(int(page.journeys.shape[1]) for page in self.pages)

    @cached_property
    def sha256(self) -> str:
        """Of all that decides the law: what a task pins, and part of an identity."""
        said = f"nomadp atlas 2\n{self.location_set_sha256}\n{self.epsilon}\n"
        digest = hashlib.sha256(said.encode())
        for table, near_count, _ in self.pages:
            digest.update(np.asarray([*table.shape, near_count], dtype="<i8").tobytes())
            digest.update(table.astype("<i4").tobytes())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PinnedAtlases) and other.sha256 == self.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def check_locations(self, locations: LocationSet) -> None:
        if locations.sha256 != self.location_set_sha256:
            raise DomainError(
                "an atlas must be used with the locations it was made for, "
                f"sha256={self.location_set_sha256}, got {locations.sha256}"
            )

    @lru_cache(maxsize=64)  # noqa: B019 - a few atlases outlive their mechanism
    def atlas(self, locations: LocationSet, length: int) -> Atlas:
        """The atlas of this length; refused if it is not there."""
        self.check_locations(locations)
        if length not in self.lengths:
            raise DomainError(
                f"the pinned atlas must have journeys of length {length}, it has those of "
                f"{', '.join(map(str, self.lengths))}; build it with --length {length} as well"
            )
        return Atlas(locations, *self.pages[self.lengths.index(length)])


def build_pinned(
    locations: LocationSet, lengths: Sequence[int], epsilon: Fraction, size: int | None = None
) -> PinnedAtlases:
    """The atlases that every client would build for itself, as one value to hand out."""
    made = [design(locations, length, epsilon, size) for length in sorted(set(lengths))]
    pages = tuple(Page(each.journeys, each.near_count, each.error_km) for each in made)
    return PinnedAtlases(locations.sha256, RECIPE, epsilon, size, pages)


def follows_its_recipe(pinned: PinnedAtlases, locations: LocationSet) -> bool | None:
    """Whether building them here gives the same journeys; None for a recipe unknown here."""
    pinned.check_locations(locations)
    if pinned.recipe != RECIPE:
        return None
    return build_pinned(locations, pinned.lengths, pinned.epsilon, pinned.size) == pinned
