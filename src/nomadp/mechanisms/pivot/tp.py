"""TP, pivot sampling (Algorithms 1-3), in its strict form.

The trajectory is perturbed twice. In copy 1 the odd positions are *pivots*, drawn over the
whole region. Every other position is a *target*: randomised response reports the sector in
which it lies, as seen from each neighbouring pivot, and the target is drawn from the locations
in the reported sectors. In copy 2 the roles are swapped. Then the copies are merged.

Differs from the paper: Algorithm 1 adds the true location to the set from which a target is
drawn, which reveals it (docs/differences.md). Here a target's domain depends on released values
only. So each step is an exponential mechanism or a randomised response over an output set that
is public given what was released before, and adaptive composition adds up their shares.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from nomadp.budget import Split, Step
from nomadp.drawing import Choose, Part
from nomadp.errors import InvalidArgument
from nomadp.laws import Channel, Disc, Exponential, Ints, RandomizedResponse, Secret
from nomadp.mechanisms.base import Mechanism, Range, Trajectory
from nomadp.mechanisms.pivot.granularity import RULES, choose_granularity
from nomadp.mechanisms.pivot.merge import MERGES

__all__ = ["PivotSampling", "Region"]

Shares = Mapping[str, Fraction]
"""The largest privacy loss of one draw of each step, in one copy."""
DIRECTION_PART = Fraction(3, 4)  # of a copy's budget for directions and points (section 6.1.2)


@dataclass(frozen=True, eq=False)
class Region:
    """Where a copy's locations are drawn; everything in it is public or already released."""

    domain: Ints
    span_km: float
    disc: Disc | None = None


@dataclass(frozen=True, kw_only=True)
class PivotSampling(Mechanism):
    """TP: each target is drawn from the sectors in which its pivots reported it."""

    name: ClassVar[str] = "tp"
    ranges: ClassVar[Mapping[str, Range]] = {**Mechanism.ranges, "granularity": (2, 64)}

    granularity: str | int = "table"
    """Number of sectors, or the rule that chooses it for epsilon: "table" or "formula"."""
    directions: str = "both"
    """Which neighbouring pivots report a sector: "both" or only the "preceding" one."""
    merge: str = "coin"
    """How the two copies are merged: "coin" picks one at random for each point, "first-index"
    picks the location with the lowest index, as public code does, and "direction" picks the
    copy in which the point was a target."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("merge", self.merge, MERGES)
        check_choice("directions", self.directions, ("both", "preceding"))
        if isinstance(self.granularity, str):
            check_choice("granularity", self.granularity, RULES)

    @cached_property
    def sectors(self) -> int:
        """The number of sectors (the paper's granularity |D|)."""
        if isinstance(self.granularity, int):
            return self.granularity
        return choose_granularity(self.epsilon, self.granularity)

    def split(self, length: int) -> Split:
        self.check_length(length)
        copies = self.copies(length)
        budget = self.epsilon / len(copies)
        steps = (step for copy in copies for step in self._copy_steps(copy, length, budget))
        return Split(self.epsilon, tuple(steps))

    def copies(self, length: int) -> tuple[int, ...]:
        """A single location has no direction, so one copy gets all of epsilon."""
        return (0,) if length == 1 else (1, 2)

    def _copy_steps(self, copy: int, length: int, budget: Fraction) -> list[Step]:
        # Differs from the paper: Algorithms 2 and 3 divide by the steps of both copies, and so
        # use half of epsilon. Here a copy divides its budget among its own steps: 3/4 among
        # its directions, the rest among its n points, whether pivots or targets.
        pivots, targets = _roles(copy, length)
        reports = sum(len(self._neighbours(i, length)) for i in targets)
        for_directions = DIRECTION_PART * budget if reports else Fraction(0)
        share = (budget - for_directions) / length
        steps = [
            Step("pivot", copy, len(pivots), share),
            Step("point", copy, len(targets), share),
        ]
        if reports:
            steps.insert(1, Step("direction", copy, reports, for_directions / reports))
        return [step for step in steps if step.count]

    def _neighbours(self, position: int, length: int) -> list[int]:
        """The positions whose pivots report a sector for this target."""
        both = (position - 1, position + 1) if self.directions == "both" else (position - 1,)
        return [neighbour for neighbour in both if 0 <= neighbour < length]

    def parts(self, trajectory: Trajectory) -> Sequence[Part[tuple[int, ...]]]:
        return [
            (partial(self._copy, copy), trajectory) for copy in self.copies(len(trajectory))
        ]

    def _copy(self, copy: int, trajectory: Trajectory, choose: Choose) -> tuple[int, ...]:
        length = len(trajectory)
        shares = self.split(length).shares(copy)
        region = self._region(shares, trajectory, choose)
        pivots, targets = _roles(copy, length)
        # Step 1 (Algorithm 2, first loop): perturb the pivots, independently.
        pivot = partial(self._pivot, region, shares)
        points = dict(
            zip(pivots, choose.each([(pivot, trajectory[i]) for i in pivots]), strict=True)
        )
        # Step 2 (second loop): perturb the targets, given the released pivots only.
        parts: list[Part[int]] = []
        for i in targets:
            seen_from = [points[j] for j in self._neighbours(i, length)]
            parts.append((partial(self._target, region, shares, seen_from), trajectory[i]))
        points.update(zip(targets, choose.each(parts), strict=True))
        return tuple(points[i] for i in range(length))

    def _region(self, shares: Shares, trajectory: Trajectory, choose: Choose) -> Region:
        return Region(np.arange(len(self.locations)), self.locations.diameter_km)

    def _pivot(self, region: Region, shares: Shares, location: Secret, choose: Choose) -> int:
        return choose("pivot", self._near(region, region.domain, shares["pivot"]), location)

    def _target(
        self,
        region: Region,
        shares: Shares,
        pivots: list[int],
        location: Secret,
        choose: Choose,
    ) -> int:
        """Draw a target from the sectors its pivots report (Algorithm 1, without union)."""
        reported = choose.each(
            [(partial(self._direction, pivot, shares), location) for pivot in pivots]
        )
        channel = self._point(region, pivots, reported, shares["point"])
        return choose("point", channel, location)

    def _direction(self, pivot: int, shares: Shares, location: Secret, choose: Choose) -> int:
        response = RandomizedResponse(self.sectors, shares["direction"])
        # Sectors are fixed to the map: sectors centred on the true direction, another reading
        # of section 4.2, would reveal it. A target on its pivot is in sector 0, and is reported
        # like any other: skipping the report would reveal that they coincide.
        sector = self.locations.sector_between(pivot, location, self.sectors)
        return choose("direction", response, sector)

    def _point(
        self, region: Region, pivots: list[int], reported: list[int], share: Fraction
    ) -> Channel:
        domain = self._inside(region, pivots, reported)
        # Emptiness is public, as it follows from released pivots and sectors alone: so it is
        # safe to use the whole region instead (Algorithm 1, line 5; here also at both ends).
        return self._near(region, domain if len(domain) else region.domain, share)

    def _inside(self, region: Region, pivots: list[int], reported: list[int]) -> Ints:
        """The locations of the region that lie in every reported sector."""
        inside = np.ones(len(region.domain), dtype=bool)
        for pivot, sector in zip(pivots, reported, strict=True):
            inside &= self.locations.sectors(pivot, self.sectors)[region.domain] == sector
        return region.domain[inside]

    def _near(self, region: Region, domain: Ints, share: Fraction) -> Channel:
        return Exponential(self.locations, domain, region.span_km, share, region.disc)

    def finish(self, released: Sequence[tuple[int, ...]], choose: Choose) -> tuple[int, ...]:
        if len(released) == 1:
            return released[0]
        first, second = released
        return MERGES[self.merge](self.locations, first, second, choose)


def _roles(copy: int, length: int) -> tuple[range, range]:
    """Pivots and targets of a copy: odd positions (counted from 1) are copy 1's pivots."""
    odd, even = range(0, length, 2), range(1, length, 2)
    return (even, odd) if copy == 2 else (odd, even)


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    if value not in choices:
        raise InvalidArgument(
            f"{name} must be one of {', '.join(choices)}, got {name}={value!r}",
            code="unknown_choice",
            parameter=name,
            choices=tuple(choices),
        )
