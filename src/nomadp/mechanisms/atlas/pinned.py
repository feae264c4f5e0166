"""Atlases pinned by their content: what a task's configuration names, and a file can carry.

Usually everybody builds the atlas from the location set and epsilon. A client that cannot, in
another language or because its floats round differently, is handed the journeys themselves.
Then their hash is part of the mechanism's identity: another content is another mechanism. It
may be worse, but it is as private.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import NamedTuple

from nomadp.errors import DomainError
from nomadp.locations import LocationSet
from nomadp.mechanisms.atlas.book import Atlas, Journeys, content_sha256
from nomadp.mechanisms.atlas.lloyd import RECIPE, design

__all__ = ["Page", "PinnedAtlases", "build_pinned", "follows_its_recipe"]

Progress = Callable[[int], None]
"""Told how many atlases were built since it was last called."""


class Page(NamedTuple):
    """The atlas of one length, without its locations."""

    journeys: Journeys
    near_count: int
    error_km: float

    @property
    def length(self) -> int:
        return int(self.journeys.shape[1])


@dataclass(frozen=True, eq=False)
class PinnedAtlases:
    """Journeys over one location set for one epsilon, an atlas for each of some lengths."""

    location_set_sha256: str
    recipe: str
    """How they were made, for whoever wants to make them again."""
    epsilon: Fraction
    size: int | None
    """Journeys that were asked for in each; None where the recipe chose."""
    pages: tuple[Page, ...] = field(repr=False)

    def __post_init__(self) -> None:
        if not self.pages or any(
            p.journeys.ndim != 2 or not p.journeys.size for p in self.pages
        ):
            raise DomainError("pinned atlases must hold at least one journey of each length")
        if list(self.lengths) != sorted(set(self.lengths)):
            raise DomainError(
                "pinned atlases must have one atlas for each length, shortest first, got "
                f"lengths {_listed(self.lengths)}"
            )
        for page in self.pages:
            if not 1 <= page.near_count <= len(page.journeys):
                raise DomainError(
                    f"of {len(page.journeys)} pinned journeys at least one and at most all "
                    f"must count as near, got {page.near_count}"
                )
            page.journeys.flags.writeable = False

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(page.length for page in self.pages)

    @cached_property
    def page_sha256(self) -> dict[int, str]:
        """The hash of the atlas of each length."""
        return {
            page.length: content_sha256(
                self.location_set_sha256, page.journeys, page.near_count
            )
            for page in self.pages
        }

    @cached_property
    def sha256(self) -> str:
        """Of all of them: what a task pins, and what is part of a mechanism's identity."""
        digest = hashlib.sha256(f"nomadp pinned atlases 2\n{self.epsilon}\n".encode())
        for page in self.page_sha256.values():
            digest.update(page.encode())
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

    def atlas(self, locations: LocationSet, length: int) -> Atlas:
        """The atlas of this length; refused if it is not there."""
        return _opened(self, locations, length)


@lru_cache(maxsize=64)
def _opened(pinned: PinnedAtlases, locations: LocationSet, length: int) -> Atlas:
    pinned.check_locations(locations)
    if length not in pinned.lengths:
        raise DomainError(
            f"the pinned atlas must have journeys of length {length}, it has those of "
            f"{_listed(pinned.lengths)}; build it with --length {length} as well"
        )
    return Atlas(locations, *pinned.pages[pinned.lengths.index(length)])


def build_pinned(
    locations: LocationSet,
    lengths: Sequence[int],
    epsilon: Fraction,
    size: int | None = None,
    progress: Progress | None = None,
) -> PinnedAtlases:
    """The atlases that every client would build for itself, as one value to hand out."""
    pages = []
    for length in sorted(set(lengths)):
        made = design(locations, length, epsilon, size)
        pages.append(Page(made.journeys, made.near_count, made.error_km))
        if progress is not None:
            progress(1)
    return PinnedAtlases(locations.sha256, RECIPE, epsilon, size, tuple(pages))


def follows_its_recipe(pinned: PinnedAtlases, locations: LocationSet) -> bool | None:
    """Whether building them here gives the same journeys; None for a recipe unknown here."""
    pinned.check_locations(locations)
    if pinned.recipe != RECIPE:
        return None
    return build_pinned(locations, pinned.lengths, pinned.epsilon, pinned.size) == pinned


def _listed(lengths: Sequence[int]) -> str:
    return ", ".join(map(str, lengths)) or "none"
