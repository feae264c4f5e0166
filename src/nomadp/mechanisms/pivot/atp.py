"""ATP, anchor-based pivot sampling (Algorithms 4-5), in its strict form.

Each copy first confines itself to a disc. Its anchor is the perturbed mean location of the
trajectory; its radius is the perturbed and calibrated distance from the anchor to the farthest
point. Then pivot sampling runs inside that disc.

Differs from the paper: inside a disc, the scale of the exponential mechanism follows from the
disc's width instead of the whole set's. So weights fall 2 to 7 times faster with distance, for
the same privacy loss.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from nomadp.budget import Step
from nomadp.drawing import Choose
from nomadp.errors import InvalidArgument
from nomadp.geometry import mean_lat_lng
from nomadp.laws import Disc, Exponential, Ints, Secret, SquareWave
from nomadp.mechanisms.base import Trajectory
from nomadp.mechanisms.pivot.calibration import calibrated_radius_km
from nomadp.mechanisms.pivot.tp import PivotSampling, Region, Shares

__all__ = ["RADIUS_MAX_KM", "RESOLUTION_MAX", "AnchoredPivotSampling"]

REGION_PART = Fraction(1, 4)  # of a copy's budget, for anchor and radius (section 6.1.2)
ANCHOR_PART = Fraction(1, 4)  # of that, for the anchor

RADIUS_MAX_KM = 20_016
"""Half the Earth's circumference, rounded up: no location is farther away."""
RESOLUTION_MAX = 2**20
"""Up to this resolution, the weights of a radius add up in 64 bits.

With 2 reach + 1 near cells, at most resolution + 1, of weight heavy <= 2^24 e^share and
share <= 3/32 epsilon < 2 at epsilon 20, the total (2 reach + 1) heavy + (resolution - 1) 2^24
is below 2^20 2^27 + 2^44 + 2^27 < 2^48, far from 2^63.
"""


@dataclass(frozen=True, kw_only=True)
class AnchoredPivotSampling(PivotSampling):
    """ATP: pivot sampling inside a disc around the trajectory's perturbed mean location."""

    name: ClassVar[str] = "atp"

    radius_km: float | None = None
    """A public radius for everybody; by default each trajectory reports its own."""
    resolution: int = 1024
    """Number of cells of the radius; the guarantee holds for any number."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.radius_km is not None and not 0 <= self.radius_km <= RADIUS_MAX_KM:
            raise InvalidArgument(
                f"radius_km must be from 0 to {RADIUS_MAX_KM:,}, half the Earth's "
                f"circumference, got radius_km={self.radius_km}",
                code="anchor_radius_out_of_range",
                radius_km=self.radius_km,
                most=RADIUS_MAX_KM,
            )
        if not 1 <= self.resolution <= RESOLUTION_MAX:
            raise InvalidArgument(
                f"resolution must be from 1 to {RESOLUTION_MAX:,}, got "
                f"resolution={self.resolution}",
                code="resolution_out_of_range",
                resolution=self.resolution,
                most=RESOLUTION_MAX,
            )

    def copies(self, length: int) -> tuple[int, ...]:
        return (1, 2)

    def _copy_steps(self, copy: int, length: int, budget: Fraction) -> list[Step]:
        for_region = REGION_PART * budget
        for_anchor = for_region if self.radius_km is not None else ANCHOR_PART * for_region
        steps = [Step("anchor", copy, 1, for_anchor)]
        if self.radius_km is None:
            steps.append(Step("radius", copy, 1, for_region - for_anchor))
        return steps + super()._copy_steps(copy, length, budget - for_region)

    def _region(self, shares: Shares, trajectory: Trajectory, choose: Choose) -> Region:
        # Algorithm 4, "restrict trajectory region". Lines 1 and 2: perturb the mean location.
        everywhere = np.arange(len(self.locations))
        diameter_km = self.locations.diameter_km
        channel = Exponential(self.locations, everywhere, diameter_km, shares["anchor"])
        anchor = choose("anchor", channel, self._mean_location(trajectory))
        # Lines 3 and 4: perturb and calibrate the radius. Line 5: the locations inside.
        radius_km = self.radius_km
        if radius_km is None:
            radius_km = self._radius_km(anchor, shares["radius"], trajectory, choose)
        return self._disc(Disc(anchor, radius_km))

    def _mean_location(self, trajectory: Trajectory) -> Secret:
        lat, lng = mean_lat_lng(self.locations.lat[trajectory], self.locations.lng[trajectory])
        return self.locations.nearest(lat, lng)

    def _radius_km(
        self, anchor: int, share: Fraction, trajectory: Trajectory, choose: Choose
    ) -> float:
        """The released radius: the perturbed distance from the anchor to the farthest point."""
        # The distance is divided by that of the farthest location (the paper's Delta R), which
        # the released anchor determines, so that it is in [0, 1] for every trajectory.
        distances_km = self.locations.distances_km(anchor)
        farthest_km = distances_km.max()
        relative = distances_km[trajectory].max(axis=0) / (farthest_km or 1.0)
        channel = SquareWave(self.resolution, share)
        cell = choose("radius", channel, channel.cell(relative))
        return calibrated_radius_km(channel, cell, distances_km)

    def _disc(self, disc: Disc) -> Region:
        domain: Ints = self.locations.within(disc.anchor, disc.radius_km)
        # No two locations of a disc are farther apart than its width, whatever the secret is.
        span_km = min(self.locations.diameter_km, 2 * disc.radius_km)
        return Region(domain, span_km, disc)
