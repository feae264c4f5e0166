"""TP and ATP exactly as published: for experiments only, because they are not private.

Algorithm 1 of the paper adds the true location to the set from which a target is drawn. A
location outside the reported sectors is then released only if it is the truth, so the loss is
infinite at any epsilon (docs/differences.md; `nomadp audit` measures it).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from nomadp.laws import Channel, Disc, Exponential, Ints, Secret
from nomadp.locations import LocationSet
from nomadp.mechanisms.pivot.atp import AnchoredPivotSampling
from nomadp.mechanisms.pivot.tp import PivotSampling, Region

__all__ = ["PublishedAnchoredPivotSampling", "PublishedPivotSampling", "WithTheTruth"]

_WARNING = (
    "as published, the true location can always be reported, even if the reported region "
    "excludes it: the exact loss of the full transcript is infinite at any epsilon, and that "
    'of the final output exceeds 3.5 at epsilon 1 ("nomadp audit --variant {name}" measures '
    "both)"
)


@dataclass(frozen=True, eq=False)
class WithTheTruth(Channel):
    """An exponential law over a public domain and the true location: not private."""

    locations: LocationSet
    domain: Ints
    span_km: float
    share: Fraction

    @property
    def outputs(self) -> Ints:
        return np.arange(len(self.locations))

    def weights(self, secret: Secret) -> Ints:
        everywhere = Exponential(self.locations, self.outputs, self.span_km, self.share)
        possible = np.isin(self.outputs, self.domain)
        truth = np.asarray(secret)[..., None] == self.outputs
        # The support depends on the secret: outside the domain, the truth alone has a weight.
        return np.where(possible | truth, everywhere.weights(secret), 0)

    @property
    def bound(self) -> Fraction:
        raise NotImplementedError("no bound: the support depends on the secret")


class AddsTheTruth(PivotSampling):
    """The union of Algorithm 1, which both published forms share."""

    private: ClassVar[bool] = False

    def _point(
        self, region: Region, pivots: list[int], reported: list[int], share: Fraction
    ) -> Channel:
        domain = self._inside(region, pivots, reported)
        # Lines 4-5 widen an empty intersection only for interior targets, with two pivots.
        if not len(domain) and len(pivots) != 1:
            domain = region.domain
        return WithTheTruth(self.locations, domain, region.span_km, share)


@dataclass(frozen=True, kw_only=True)
class PublishedPivotSampling(AddsTheTruth):
    """TP with the union of Algorithm 1."""

    name: ClassVar[str] = "tp-as-published-not-private"
    warning: ClassVar[str] = _WARNING.format(name=name)


@dataclass(frozen=True, kw_only=True)
class PublishedAnchoredPivotSampling(AddsTheTruth, AnchoredPivotSampling):
    """ATP with the union of Algorithm 1 and the whole set's diameter as its scale."""

    name: ClassVar[str] = "atp-as-published-not-private"
    warning: ClassVar[str] = _WARNING.format(name=name)

    def _disc(self, disc: Disc) -> Region:
        # No disc in the region: distances are not measured from its edge, as in the paper.
        domain = self.locations.within(disc.anchor, disc.radius_km)
        return Region(domain, self.locations.diameter_km)
