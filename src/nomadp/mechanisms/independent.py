"""EXP: every point of the trajectory perturbed on its own, with an equal share of epsilon."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np

from nomadp.budget import Split, Step
from nomadp.drawing import Choose, Task
from nomadp.laws import Exponential, Secret
from nomadp.mechanisms.base import Mechanism, Trajectory

__all__ = ["IndependentPoints"]


@dataclass(frozen=True, kw_only=True)
class IndependentPoints(Mechanism):
    """EXP: the exponential mechanism over the whole set, once for each point."""

    name: ClassVar[str] = "exp"

    def split(self, length: int) -> Split:
        return Split(self.epsilon, (Step("point", 0, length, self.epsilon / length),))

    def parts(self, trajectory: Trajectory) -> Sequence[Task[int]]:
        share = self.split(len(trajectory)).shares()["point"]
        return [(partial(self._point, share), location) for location in trajectory]

    def _point(self, share: Fraction, location: Secret, choose: Choose) -> int:
        everywhere = np.arange(len(self.locations))
        span_km = self.locations.diameter_km
        return choose(
            "point", Exponential(self.locations, everywhere, span_km, share), location
        )

    def finish(self, released: Sequence[int], choose: Choose) -> tuple[int, ...]:
        return tuple(released)
