"""Every point of the trajectory perturbed on its own, with an equal share of epsilon."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np

from nomadp.budget import Split, Step
from nomadp.drawing import Choose, Task, draw_many
from nomadp.laws import Channel, Exponential, Ints, Secret
from nomadp.mechanisms.base import Mechanism, Trajectory
from nomadp.mechanisms.bulk import ceiling, draw_rows, has_tables
from nomadp.mechanisms.nested import sorted_places
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

    def _draw_many(self, trajectories: TrajectorySet, words: Words, first: int) -> Ints:
        # Points with the same law are drawn together: each with the word it would have alone.
        lengths = trajectories.lengths
        rows = words.rows(first + np.arange(len(trajectories)), int(lengths.max(initial=0)))
        owner = np.repeat(np.arange(len(trajectories)), lengths)
        position = np.arange(len(owner)) - trajectories.offsets[owner]
        word, law = rows[owner, position], lengths[owner] * len(self.locations)
        laws, which = np.unique(law + trajectories.locations, return_inverse=True)
        ends = np.cumsum(np.bincount(which, minlength=len(laws)))
        together = np.split(np.argsort(which, kind="stable"), ends[:-1])
        reported = np.empty(len(owner), dtype=np.int64)
        for code, points in zip(laws.tolist(), together, strict=True):
            length, location = divmod(code, len(self.locations))
            channel = self.channel(self.split(length).shares()["point"])
            reported[points] = draw_many(channel, location, word[points])
        return reported

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
        if has_tables(self.locations) or not self.has_kernels:
            return super()._draw_many(trajectories, words, first)
        from nomadp.mechanisms.kernels.large import independent_points

        diameter_km, lengths = self.locations.diameter_km, trajectories.lengths
        law = np.zeros((int(lengths.max()) + 1, 2))
        for length in np.unique(lengths).tolist():
            share = self.epsilon / length
            scale = float(share) / (2 * diameter_km) if diameter_km > 0 else 0.0
            law[length] = scale, ceiling(share)
        place = sorted_places(self.locations)
        balls, nowhere = place.balls(1), np.zeros(len(trajectories), dtype=np.int64)
        drawn = draw_rows(
            lambda batch, out: independent_points(batch, balls, law, out),
            place.ranked(trajectories),
            words,
            first,
            nowhere,
        )
        reported: Ints = place.order[drawn.copies[0]]
        return reported
