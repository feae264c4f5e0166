"""Codebooks: a few public trajectories (codewords) of one length, and the law of a report.

A codebook is the same for everybody. It is designed for an epsilon by a recipe (`lloyd.py`), or
pinned by its content, as tasks and files do. A bad codebook costs utility, never privacy.
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
    """Codewords as rows of location indices; a report is the number of a row."""

    locations: LocationSet
    codewords: TrajectoryTable = field(repr=False)  # (size, length)
    near_count: int = 1
    """Number of nearest codewords that have the larger weight (k)."""
    error_km: float = float("nan")
    """Mean error of a reported point, on public random walks held out from the design."""

    def __post_init__(self) -> None:
        table, places = self.codewords, len(self.locations)
        if table.ndim != 2 or not table.size or not 0 <= table.min() <= table.max() < places:
            raise DomainError(
                "a codebook must have at least one codeword of at least one location, and all "
                f"codewords must be in the public set of {places} locations",
                code="codebook_invalid",
                size=places,
            )
        table.flags.writeable = False  # codebooks are cached and shared

    @property
    def size(self) -> int:
        return len(self.codewords)

    @property
    def length(self) -> int:
        return int(self.codewords.shape[1])

    def distances_km(self, trajectory: Ints | TrajectoryTable) -> Floats:
        """Distances, summed over points, from a trajectory to all codewords.

        For several trajectories, (n, inputs), the result has a row for each.
        """
        total = np.zeros((*trajectory.shape[1:], self.size))
        for places, codeword_places in zip(trajectory, self.codewords.T, strict=True):
            # Many trajectories share places: compute the distances from each place once.
            distinct, inverse = np.unique(places, return_inverse=True)
            table_km = self.locations.distances_between_km(distinct[:, None], codeword_places)
            total += table_km[inverse.reshape(np.shape(places))]
        return total


@dataclass(frozen=True, eq=False)
class CodewordResponse(TwoLevels):
    """Two weights over codewords: the k nearest to the secret weigh more.

    The secret is a whole trajectory. Exactly k codewords are near for every trajectory, so the
    total is constant, and the loss is at most the share however the codebook was designed.
    """

    atlas: Codebook
    near_count: int
    share: Fraction

    @property
    def size(self) -> int:  # type: ignore[override]
        return self.atlas.size

    def weights(self, secret: Secret) -> Ints:
        return np.where(self.near(secret), heaviest(self.lightest, self.share), self.lightest)

    def near(self, secret: Secret) -> NDArray[np.bool_]:
        """Mark the codewords that weigh more (last axis); the secret is (n,) or (n, inputs)."""
        return nearest_first(self.atlas.distances_km(np.asarray(secret)), self.near_count)


class CodebookTable(NamedTuple):
    """The codebook of one length, without its locations."""

    codewords: TrajectoryTable
    near_count: int
    error_km: float


@dataclass(frozen=True, eq=False)
class PinnedCodebooks:
    """Given codebooks over one location set for one epsilon, one for each of some lengths.

    A client that does not design codebooks itself receives the codewords. Their hash is then
    part of the mechanism's identity. Any codewords are equally private, but not equally good.
    """

    location_set_sha256: str
    recipe: str
    epsilon: Fraction
    size: int | None
    """Requested number of codewords; None if the recipe chose it."""
    tables: tuple[CodebookTable, ...] = field(repr=False)

    def __post_init__(self) -> None:
        for table, near_count, _ in self.tables:
            distinct = np.unique(table, axis=0) if table.ndim == 2 and table.size else ()
            if not 1 <= near_count <= len(table) == len(distinct):
                raise DomainError(
                    "a pinned codebook must have distinct codewords, and near_count must be "
                    f"from 1 to their number, got near_count={near_count} of {len(table)}",
                    code="codewords_invalid",
                    near_count=near_count,
                    codewords=len(table),
                )
        if not self.tables or list(self.lengths) != sorted(set(self.lengths)):
            raise DomainError(
                "there must be one pinned codebook for each length, shortest first, got "
                f"lengths {', '.join(map(str, self.lengths))}",
                code="codebook_lengths_unordered",
                lengths=self.lengths,
            )

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(int(table.codewords.shape[1]) for table in self.tables)

    @cached_property
    def sha256(self) -> str:
        """Hash of everything that determines the law: part of tasks and identities."""
        # Widths and byte order are fixed, so the hash is the same on every machine. The shape
        # comes first, so that different tables cannot have the same bytes.
        header = f"nomadp atlas 2\n{self.location_set_sha256}\n{self.epsilon}\n"
        digest = hashlib.sha256(header.encode())
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
                "a codebook must be used with the locations it was made for, "
                f"sha256={self.location_set_sha256}, got {locations.sha256}",
                code="codebook_of_other_locations",
            )

    def table(self, length: int) -> CodebookTable:
        """The codebook of this length; refused if there is none."""
        if length not in self.lengths:
            raise DomainError(
                f"the codebook must have codewords of length {length}, got lengths "
                f"{', '.join(map(str, self.lengths))}; build it with --length {length} as well",
                code="codebook_length_missing",
                length=length,
                lengths=self.lengths,
            )
        return self.tables[self.lengths.index(length)]
