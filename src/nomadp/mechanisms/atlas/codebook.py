"""The atlas: a public book of few journeys of one length, and the law of reporting one of them.

It is the same for everybody: made for epsilon by a recipe (`lloyd.py`), or pinned by content:
what a task's configuration names and a file can carry. A bad one costs utility, never privacy.
"""

import hashlib
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import DomainError
from nomadp.geometry import Floats
from nomadp.laws import Ints, Secret, heaviest
from nomadp.laws.subset import TwoLevels, nearest_first
from nomadp.locations import LocationSet
from nomadp.walks import TrajectoryTable

__all__ = ["Codebook", "CodebookTable", "CodewordResponse", "PinnedCodebooks"]


@dataclass(frozen=True, eq=False)
class Codebook:
    """Journeys as rows of location indices; a report is the number of a row."""

    locations: LocationSet
    codewords: TrajectoryTable = field(repr=False)  # (size, length)
    near_count: int = 1
    """How many of them count as near to a trajectory."""
    error_km: float = float("nan")
    """By how much a reported point is off on average, on public walks it was not made from."""

    def __post_init__(self) -> None:
        table, places = self.codewords, len(self.locations)
        if table.ndim != 2 or not table.size or not 0 <= table.min() <= table.max() < places:
            raise DomainError(
                "an atlas must hold at least one journey of at least one location, and every "
                f"journey must lie in the public set of {places} locations",
                code="codebook_invalid",
                size=places,
            )
        table.flags.writeable = False

    @property
    def size(self) -> int:
        return len(self.codewords)

    @property
    def length(self) -> int:
        return int(self.codewords.shape[1])

    def distances_km(self, trajectory: Ints | TrajectoryTable) -> Floats:
        """Summed distances of all journeys to a trajectory; to (n, inputs), a row for each."""
        total = np.zeros((*trajectory.shape[1:], self.size))
        for places, there in zip(trajectory, self.codewords.T, strict=True):
            some, which = np.unique(places, return_inverse=True)  # where many are, only once
            table_km = self.locations.distances_between_km(some[:, None], there)
            total += table_km[which.reshape(np.shape(places))]
        return total


@dataclass(frozen=True, eq=False)
class CodewordResponse(TwoLevels):
    """Two levels over the journeys of an atlas: heavier for the nearest ones to the secret."""

    atlas: Codebook
    near_count: int
    share: Fraction

    @property
    def size(self) -> int:  # type: ignore[override]
        return self.atlas.size

    def weights(self, secret: Secret) -> Ints:
        return np.where(self.near(secret), heaviest(self.lightest, self.share), self.lightest)

    def near(self, secret: Secret) -> NDArray[np.bool_]:
        """Which journeys weigh more (last axis); the secret is (n,) or (n, inputs)."""
        return nearest_first(self.atlas.distances_km(np.asarray(secret)), self.near_count)


class CodebookTable(NamedTuple):
    """The atlas of one length, without its locations."""

    codewords: TrajectoryTable
    near_count: int
    error_km: float


@dataclass(frozen=True, eq=False)
class PinnedCodebooks:
    """Journeys over one location set for one epsilon, an atlas for each of some lengths.

    A client that cannot make them from the location set is handed the journeys themselves. Then
    their hash is part of the mechanism's identity. They may be worse, but are as private.
    """

    location_set_sha256: str
    recipe: str
    epsilon: Fraction
    size: int | None
    """Journeys that were asked for in each; None where the recipe chose."""
    tables: tuple[CodebookTable, ...] = field(repr=False)

    def __post_init__(self) -> None:
        for table, near_count, _ in self.tables:
            distinct = np.unique(table, axis=0) if table.ndim == 2 and table.size else ()
            if not 1 <= near_count <= len(table) == len(distinct):
                raise DomainError(
                    "a pinned atlas must hold journeys, all different, and from one to all of "
                    f"them count as near, got {near_count} near of {len(table)} journeys",
                    code="codewords_invalid",
                    near_count=near_count,
                    codewords=len(table),
                )
        if not self.tables or list(self.lengths) != sorted(set(self.lengths)):
            raise DomainError(
                "pinned atlases must have one atlas for each length, shortest first, got "
                f"lengths {', '.join(map(str, self.lengths))}",
                code="codebook_lengths_unordered",
                lengths=self.lengths,
            )

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(int(table.codewords.shape[1]) for table in self.tables)

    @cached_property
    def sha256(self) -> str:
        """Of all that decides the law: what a task pins, and part of an identity."""
        said = f"nomadp atlas 2\n{self.location_set_sha256}\n{self.epsilon}\n"
        digest = hashlib.sha256(said.encode())
        for table, near_count, _ in self.tables:
            digest.update(np.asarray([*table.shape, near_count], dtype="<i8").tobytes())
            digest.update(table.astype("<i4").tobytes())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PinnedCodebooks) and other.sha256 == self.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def check_locations(self, locations: LocationSet) -> None:
        if locations.sha256 != self.location_set_sha256:
            raise DomainError(
                "an atlas must be used with the locations it was made for, "
                f"sha256={self.location_set_sha256}, got {locations.sha256}",
                code="codebook_of_other_locations",
            )

    def table(self, length: int) -> CodebookTable:
        """The atlas of this length; refused if it is not there."""
        if length not in self.lengths:
            raise DomainError(
                f"the pinned atlas must have journeys of length {length}, it has those of "
                f"{', '.join(map(str, self.lengths))}; build it with --length {length} as well",
                code="codebook_length_missing",
                length=length,
                lengths=self.lengths,
            )
        return self.tables[self.lengths.index(length)]
