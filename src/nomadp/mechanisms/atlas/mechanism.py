"""ATLAS: report the index of a codeword that is probably near the true trajectory.

Mechanisms that perturb every point must divide epsilon among the points, which makes each draw
noisy. ATLAS treats the whole trajectory as one secret and spends all of epsilon on one draw
from a small public codebook, in which the k codewords nearest to the truth are e^epsilon times
more likely than the others. Each codeword is the best estimate given its own report
(`lloyd.py`). Related: k-closest encoding over a codebook (Isik et al., arXiv 2306.04924), and
BRR.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from nomadp.budget import Split, Step
from nomadp.drawing import Choose, Part
from nomadp.errors import DomainError
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.mechanisms.atlas.codebook import Codebook, CodewordResponse, PinnedCodebooks
from nomadp.mechanisms.atlas.lloyd import SIZE_MOST, design
from nomadp.mechanisms.atlas.long import control_count, control_positions, interpolated
from nomadp.mechanisms.base import Mechanism, Range, Trajectory
from nomadp.mechanisms.report_law import ReportLaw

__all__ = ["CodewordReports", "Atlas"]


@dataclass(frozen=True, kw_only=True)
class Atlas(Mechanism):
    """ATLAS: one draw for the whole trajectory."""

    name: ClassVar[str] = "atlas"
    version: ClassVar[int] = 3  # 2 had other public walks, 1 thousands of codewords
    ranges: ClassVar[Mapping[str, Range]] = {
        **Mechanism.ranges,
        "size": (1, SIZE_MOST),
        "near_count": (1, SIZE_MOST),
        "control_points": (2, 256),
    }

    size: int | None = None
    """Number of codewords for each length (default: the fewest that are accurate enough)."""
    near_count: int | None = None
    """Number of nearest codewords with the larger weight (default: the smallest error)."""
    control_points: int | None = None
    """Number of control points of longer trajectories (default: see `control_count`)."""
    pinned: PinnedCodebooks | None = None
    """Given codebooks, instead of those designed by the recipe of this version."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pinned is None:
            return
        self.pinned.check_locations(self.locations)
        if (self.epsilon, self.size) != (self.pinned.epsilon, None):
            raise DomainError(
                f"epsilon must be that of the codebook, {self.pinned.epsilon}, without a size, "
                f"got epsilon={self.epsilon} and size={self.size}; build another codebook",
                code="codebook_parameters_mismatch",
                epsilon=str(self.epsilon),
                size=self.size,
            )

    def get_params(self) -> dict[str, Any]:
        """Pinned codebooks are represented by their hash, as they determine the law."""
        params = super().get_params()
        pinned = params.pop("pinned")
        return params if pinned is None else params | {"pinned": pinned.sha256}

    def split(self, length: int) -> Split:
        # One draw uses all of epsilon: splitting it over points is what makes other mechanisms
        # noisy.
        self.check_length(length)
        return Split(self.epsilon, (Step("journey", 0, 1, self.epsilon),))

    def n_control_points(self, length: int) -> int:
        """Number of control points of a trajectory of this length."""
        return min(length, self.control_points or control_count(self.epsilon, length))

    def atlas(self, length: int) -> Codebook:
        """The public codebook for trajectories of this length."""
        count = self.n_control_points(length)
        if self.pinned is not None:
            return Codebook(self.locations, *self.pinned.table(count))
        return design(self.locations, count, self.epsilon, self.size)

    def channel(self, length: int) -> CodewordResponse:
        """The law of the report."""
        atlas = self.atlas(length)
        near = min(self.near_count or atlas.near_count, atlas.size)
        return CodewordResponse(atlas, near, self.epsilon)

    def parts(self, trajectory: Trajectory) -> Sequence[Part[tuple[int, ...]]]:
        return [(self._report, trajectory)]

    def _report(self, trajectory: Trajectory, choose: Choose) -> tuple[int, ...]:
        # The positions of control points depend on the public length alone.
        length = len(trajectory)
        control = trajectory[control_positions(length, self.n_control_points(length))]
        return (choose("journey", self.channel(length), control), length)

    def finish(self, released: Sequence[Any], choose: Choose) -> tuple[int, ...]:
        index, length = released[0][0], int(np.max(released[0][1]))
        control = self.atlas(length).codewords[index].T
        places = interpolated(self.locations, control, length)
        return tuple(places if control.ndim > 1 else places.tolist())

    def report_number(self, released: Sequence[Any]) -> int:
        """The index of the codeword."""
        return int(released[0][0])

    def report_law(self, length: int) -> "CodewordReports":
        return CodewordReports(self, length)


@dataclass(frozen=True, eq=False)
class CodewordReports(ReportLaw):
    """A report is a codeword, whatever is interpolated between its control points."""

    mechanism: Atlas
    length: int
    whole: ClassVar[bool] = True

    @property
    def locations(self) -> LocationSet:  # type: ignore[override]
        return self.mechanism.locations

    @cached_property
    def channel(self) -> CodewordResponse:  # type: ignore[override]
        return self.mechanism.channel(self.length)

    @property
    def n_control_points(self) -> int:
        return self.mechanism.n_control_points(self.length)

    def values(self, places: Ints, numbers: Ints | None = None) -> Ints:
        """Indices of the codewords that rows of locations represent; -1 where there is none."""
        codewords = self.channel.atlas.codewords.astype(np.int64)
        control = places[:, control_positions(self.length, codewords.shape[1])]
        if numbers is None:
            # Rows as byte strings can be looked up by binary search. A row that is no codeword
            # gets the number of some codeword, and the comparison below refuses it.
            row_type = f"S{codewords[0].nbytes}"
            keys, queries = (
                np.ascontiguousarray(rows).view(row_type)[:, 0] for rows in (codewords, control)
            )
            order = np.argsort(keys)
            numbers = order[np.searchsorted(keys, queries, sorter=order) % len(order)]
        in_range = (numbers >= 0) & (numbers < len(codewords))
        is_codeword = (codewords[np.where(in_range, numbers, 0)] == control).all(axis=1)
        return np.where(in_range & is_codeword, numbers, -1)
