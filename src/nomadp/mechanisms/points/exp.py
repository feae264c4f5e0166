"""Each point of the trajectory is perturbed separately, with an equal share of epsilon."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np

from nomadp.budget import Split, Step
from nomadp.drawing import Choose, Part
from nomadp.laws import Channel, Exponential, Secret
from nomadp.mechanisms.base import Mechanism, Trajectory
from nomadp.mechanisms.report_law import PointLaw

__all__ = ["IndependentPoints", "PointByPoint"]


@dataclass(frozen=True, kw_only=True)
class PointByPoint(Mechanism):
    """A mechanism that is one channel over the whole set, used once for each point."""

    @abstractmethod
    def channel(self, share: Fraction) -> Channel:
        """The law of one point, at the cost of ``share``."""

    def split(self, length: int) -> Split:
        self.check_length(length)
        return Split(self.epsilon, (Step("point", 0, length, self.epsilon / length),))

    def parts(self, trajectory: Trajectory) -> Sequence[Part[int]]:
        share = self.split(len(trajectory)).shares()["point"]
        return [(partial(self._point, share), location) for location in trajectory]

    def _point(self, share: Fraction, location: Secret, choose: Choose) -> int:
        return choose("point", self.channel(share), location)

    def finish(self, released: Sequence[int], choose: Choose) -> tuple[int, ...]:
        return tuple(released)

    def report_law(self, length: int) -> PointLaw:
        return PointLaw(self.locations, self.channel(self.split(length).shares()["point"]))


@dataclass(frozen=True, kw_only=True)
class IndependentPoints(PointByPoint):
    """EXP: the exponential mechanism over the whole set."""

    name: ClassVar[str] = "exp"

    def channel(self, share: Fraction) -> Channel:
        # Eq. 5 of the paper: the diameter of the public set bounds the sensitivity.
        everywhere = np.arange(len(self.locations))
        return Exponential(self.locations, everywhere, self.locations.diameter_km, share)
