"""Every point of the trajectory perturbed on its own, with an equal share of epsilon."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np

from nomadp.budget import Split, Step
from nomadp.drawing import Choose, Task
from nomadp.geometry import Floats
from nomadp.laws import Channel, Exponential, Ints, Secret
from nomadp.mechanisms.base import Mechanism, Trajectory
from nomadp.mechanisms.fast.bulk import ceiling, draw_points
from nomadp.mechanisms.fast.compiling import is_compiled
from nomadp.mechanisms.large.ball_tree import sorted_places
from nomadp.randomness import Words
from nomadp.trajectory import TrajectorySet

__all__ = ["IndependentPoints", "PointByPoint"]


@dataclass(frozen=True, kw_only=True)
class PointByPoint(Mechanism):
    """A mechanism that is one channel over the whole set, used once for each point."""

    @abstractmethod
    def channel(self, share: Fraction) -> Channel:
        """How one point is perturbed."""

    def split(self, length: int) -> Split:
        return Split(self.epsilon, (Step("point", 0, length, self.epsilon / length),))

    def parts(self, trajectory: Trajectory) -> Sequence[Task[int]]:
        share = self.split(len(trajectory)).shares()["point"]
        return [(partial(self._point, share), location) for location in trajectory]

    def _point(self, share: Fraction, location: Secret, choose: Choose) -> int:
        return choose("point", self.channel(share), location)

    def finish(self, released: Sequence[int], choose: Choose) -> tuple[int, ...]:
        return tuple(released)


@dataclass(frozen=True, kw_only=True)
class IndependentPoints(PointByPoint):
    """EXP: the exponential mechanism over the whole set."""

    name: ClassVar[str] = "exp"
    vectorised: ClassVar[bool] = True

    def channel(self, share: Fraction) -> Channel:
        everywhere = np.arange(len(self.locations))
        return Exponential(self.locations, everywhere, self.locations.diameter_km, share)

    def _draw_many(self, trajectories: TrajectorySet, words: Words, first: int) -> Ints:
        if not self.has_kernels:
            return super()._draw_many(trajectories, words, first)
        if is_compiled():
            from nomadp.mechanisms.pivot.kernel_large import independent_points
        else:
            from nomadp.mechanisms.points.exp_many import independent_points

        law = self._laws(trajectories.lengths)
        place = sorted_places(self.locations)
        balls = place.balls(1)
        drawn = draw_points(
            lambda batch, out: independent_points(batch, balls, law, out),
            place.ranked(trajectories),
            words,
            first,
            self._words_likely(trajectories.lengths),
        )
        reported: Ints = place.order[drawn.copies[0]]
        return reported

    def _laws(self, lengths: Ints) -> Floats:
        """Scale and ceiling for every length that occurs."""
        diameter_km = self.locations.diameter_km
        law = np.zeros((int(lengths.max()) + 1, 2))
        for length in np.unique(lengths).tolist():
            share = self.epsilon / length
            scale = float(share) / (2 * diameter_km) if diameter_km > 0 else 0.0
            law[length] = scale, ceiling(share)
        return law

    def _words_likely(self, lengths: Ints) -> int:
        """How many proposals, one word each, most trajectories need: only speed is at stake."""
        return int(1.25 * (lengths.mean() + float(self.epsilon) / 2)) + 4
