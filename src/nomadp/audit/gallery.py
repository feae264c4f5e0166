"""Mechanisms that are broken on purpose: the auditor must flag every one of them.

Each differs from a sound mechanism by a single mistake, which was seen in public code or is
easy to make. None is registered, so no client can use one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from nomadp.audit.leaky_laws import (
    AlwaysContainsTruth,
    LiesTooRarely,
    NeighboursOfTheTruth,
    OneWordForTwo,
    SkipsWhenCoincident,
    Unclamped,
)
from nomadp.audit.maps import family_map
from nomadp.drawing import Choose, Part
from nomadp.geometry import Floats, bearing_rad
from nomadp.laws import Exponential, Ints, RandomizedResponse, Secret
from nomadp.mechanisms.base import Mechanism, Trajectory
from nomadp.mechanisms.oracles import Starts
from nomadp.mechanisms.pivot.published import PublishedPivotSampling
from nomadp.mechanisms.pivot.tp import PivotSampling, Region, Shares
from nomadp.mechanisms.points.exp import IndependentPoints

__all__ = ["GALLERY", "Exhibit"]


@dataclass(frozen=True, kw_only=True)
class CentredSectors(PivotSampling):
    """Sectors are centred on the true direction, so the true sector is always number 0."""

    def _target(
        self,
        region: Region,
        shares: Shares,
        pivots: list[int],
        location: Secret,
        choose: Choose,
    ) -> int:
        response = RandomizedResponse(self.sectors, shares["direction"])
        always_first = np.zeros_like(location)
        reported = [choose("direction", response, always_first) for _ in pivots]

        def possible(truth: int) -> Ints:
            inside = np.ones(len(self.locations), dtype=bool)
            for pivot, sector in zip(pivots, reported, strict=True):
                inside &= self._sectors_around(pivot, truth) == sector
            return np.flatnonzero(inside) if inside.any() else region.domain

        channel = _limited(self, region.domain, shares["point"], possible)
        return choose("point", channel, location)

    def _sectors_around(self, pivot: int, truth: int) -> Ints:
        lat, lng = self.locations.lat, self.locations.lng
        bearing = bearing_rad(lat[pivot], lng[pivot], lat, lng)
        width = 2 * np.pi / self.sectors
        turned = np.mod(bearing - bearing[truth] + width / 2, 2 * np.pi)
        sector: Ints = np.floor(turned / width).astype(np.int64) % self.sectors
        return sector


@dataclass(frozen=True, kw_only=True)
class SkippedDirection(PivotSampling):
    """No direction is reported when the target coincides with its pivot."""

    def _direction(self, pivot: int, shares: Shares, location: Secret, choose: Choose) -> int:
        channel = SkipsWhenCoincident(self.locations, pivot, self.sectors, shares["direction"])
        return choose("direction", channel, location)

    def _inside(self, region: Region, pivots: list[int], reported: list[int]) -> Ints:
        directed = [
            (pivot, sector)
            for pivot, sector in zip(pivots, reported, strict=True)
            if sector < self.sectors
        ]
        return super()._inside(region, [p for p, _ in directed], [s for _, s in directed])


@dataclass(frozen=True, kw_only=True)
class OwnLocationOnlyIfTarget(PivotSampling):
    """The pivot's own location is a candidate only when it is the truth."""

    def _point(
        self, region: Region, pivots: list[int], reported: list[int], share: Fraction
    ) -> Unclamped:
        domain = self._inside(region, pivots, reported)
        domain = domain if len(domain) else region.domain

        def possible(truth: int) -> Ints:
            others = np.setdiff1d(domain, pivots)
            return np.union1d(others, [truth]) if truth in pivots or not len(others) else others

        return _limited(self, region.domain, share, possible)


@dataclass(frozen=True, kw_only=True)
class LyingTooRarely(PivotSampling):
    """k-RR lies with the total probability that each single lie should have."""

    def _direction(self, pivot: int, shares: Shares, location: Secret, choose: Choose) -> int:
        sector = self.locations.sector_between(pivot, location, self.sectors)
        return choose("direction", LiesTooRarely(self.sectors, shares["direction"]), sector)


@dataclass(frozen=True, kw_only=True)
class OverspentSplit(PivotSampling):
    """The first copy uses all of epsilon, the second one half of it."""

    def parts(self, trajectory: Trajectory) -> Sequence[Part[tuple[int, ...]]]:
        doubled = self.with_params(epsilon=2 * self.epsilon)
        return [(partial(doubled._copy, 1), trajectory), (partial(self._copy, 2), trajectory)]


@dataclass(frozen=True, kw_only=True)
class SharedRandomness(PivotSampling):
    """The pivots of both copies are drawn with the same random word (trajectories of two)."""

    def parts(self, trajectory: Trajectory) -> Sequence[Part[tuple[int, ...]]]:
        return [(self._both, trajectory)]

    def _both(self, trajectory: Trajectory, choose: Choose) -> tuple[int, ...]:
        shares = self.split(len(trajectory)).shares(1)
        region = self._region(shares, trajectory, choose)
        size = len(self.locations)
        pivot = Exponential(self.locations, region.domain, region.span_km, shares["pivot"])
        pair = choose("pivot", OneWordForTwo(pivot), trajectory[0] * size + trajectory[1])
        first, second = divmod(pair, size)
        end = self._target(region, shares, [first], trajectory[1], choose)
        start = self._target(region, shares, [second], trajectory[0], choose)
        return (first, end, start, second)

    def finish(self, released: Sequence[tuple[int, ...]], choose: Choose) -> tuple[int, ...]:
        first, end, start, second = released[0]
        return super().finish([(first, end), (start, second)], choose)


@dataclass(frozen=True, kw_only=True)
class BrokenPoints(IndependentPoints):
    """EXP with a broken law for each point."""

    def _point(self, share: Fraction, location: Secret, choose: Choose) -> int:
        everywhere = np.arange(len(self.locations))
        scale = float(share) / (2 * self.locations.diameter_km)
        law = partial(self._weights, share)
        return choose(
            "point", Unclamped(self.locations, everywhere, share, law, scale), location
        )

    def _weights(self, share: Fraction, truth: int) -> Floats:
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class DomainAroundTheTruth(BrokenPoints):
    """Candidates are the locations within half the diameter of the true one."""

    def _weights(self, share: Fraction, truth: int) -> Floats:
        return (self.locations.distances_km(truth) <= self.locations.diameter_km / 2).astype(
            float
        )


@dataclass(frozen=True, kw_only=True)
class SensitivityFromThePrivateRow(BrokenPoints):
    """The scale is the spread of distances seen from the true location."""

    def _weights(self, share: Fraction, truth: int) -> Floats:
        row = self.locations.distances_km(truth)
        return np.exp(-float(share) * row / (2 * np.ptp(row)))


@dataclass(frozen=True, kw_only=True)
class SquaredScore(BrokenPoints):
    """Squared distances, with the scale of plain ones."""

    def _weights(self, share: Fraction, truth: int) -> Floats:
        row = self.locations.distances_km(truth)
        return np.exp(-float(share) * row**2 / (2 * self.locations.diameter_km))


@dataclass(frozen=True, kw_only=True)
class StaleScale(BrokenPoints):
    """The scale of a single point was cached, and is used for a longer trajectory."""

    def _weights(self, share: Fraction, truth: int) -> Floats:
        row = self.locations.distances_km(truth)
        return np.exp(-float(self.epsilon) * row / (2 * self.locations.diameter_km))


@dataclass(frozen=True, kw_only=True)
class ExtraDraw(IndependentPoints):
    """The last of several locations is drawn twice, and its share is counted once."""

    def parts(self, trajectory: Trajectory) -> Sequence[Part[int]]:
        parts = list(super().parts(trajectory))
        return parts + parts[-1:] if len(trajectory) > 1 else parts

    def finish(self, released: Sequence[Any], choose: Choose) -> tuple[int, ...]:
        return tuple(released[:-1]) if len(released) > 1 else tuple(released)


@dataclass(frozen=True, kw_only=True)
class TruthAlwaysHeld(Starts):
    """The reported set always contains the true label."""

    def _report(self, label: Secret, choose: Choose) -> int:
        return choose("label", AlwaysContainsTruth(self.channel, self.epsilon), label)


@dataclass(frozen=True, kw_only=True)
class OthersByTheTruth(Starts):
    """The true label determines the other labels of the reported set."""

    def _report(self, label: Secret, choose: Choose) -> int:
        return choose("label", NeighboursOfTheTruth(self.channel, self.epsilon), label)


def _limited(
    mechanism: PivotSampling, domain: Ints, share: Fraction, possible: Callable[[int], Ints]
) -> Unclamped:
    """The exponential law over a set of candidates that depends on the truth."""
    scale = float(share) / (2 * mechanism.locations.diameter_km)

    def law(truth: int) -> Floats:
        weight = np.exp(-scale * mechanism.locations.distances_km(truth)[domain])
        return np.where(np.isin(domain, possible(truth)), weight, 0.0)

    return Unclamped(mechanism.locations, domain, share, law, scale)


@dataclass(frozen=True)
class Exhibit:
    """A broken mechanism, its mistake, and the length and options that reveal it."""

    mechanism: type[Mechanism]
    explanation: str
    length: int = 2
    options: dict[str, Any] = field(default_factory=dict)

    def build(self, epsilon: Fraction) -> Mechanism:
        return self.mechanism(
            locations=family_map("random", 4), epsilon=epsilon, **self.options
        )


GALLERY: dict[str, Exhibit] = {
    "union": Exhibit(
        PublishedPivotSampling, "the true location is added to its own candidates (Algorithm 1)"
    ),
    "centred-sectors": Exhibit(CentredSectors, "sectors are laid around the true direction"),
    "skipped-direction": Exhibit(
        SkippedDirection, "no direction is reported when target and pivot coincide"
    ),
    "own-location-only-if-target": Exhibit(
        OwnLocationOnlyIfTarget, "the pivot's location is possible only if it is the truth"
    ),
    "domain-around-the-truth": Exhibit(
        DomainAroundTheTruth, "candidates are a disc around the true location"
    ),
    "sensitivity-from-the-private-row": Exhibit(
        SensitivityFromThePrivateRow, "the scale is computed from the secret's distances"
    ),
    "squared-score": Exhibit(
        SquaredScore, "squared distances break the triangle inequality the proof needs"
    ),
    "lying-too-rarely": Exhibit(
        LyingTooRarely,
        "randomised response lies g - 1 times too rarely",
        options={"granularity": 6},
    ),
    "overspent-split": Exhibit(OverspentSplit, "the copies are given epsilon and epsilon / 2"),
    "shared-words": Exhibit(
        SharedRandomness, "both copies draw their pivots with the same random word"
    ),
    "stale-scale": Exhibit(StaleScale, "a scale cached for another length is used again", 3),
    "truth-always-held": Exhibit(
        TruthAlwaysHeld, "the set of labels that is reported always holds the true one"
    ),
    "others-by-the-truth": Exhibit(
        OthersByTheTruth, "the other labels of a set are drawn by the place of the true one"
    ),
    "extra-draw": Exhibit(
        ExtraDraw, "longer trajectories make one more draw than the split pays for"
    ),
}
