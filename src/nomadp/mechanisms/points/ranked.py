"""Laws by rank, many points at once: draw a number, then find who has it.

A law by rank whose weights only fall is a mixture: with integer chances that follow from the
weights, one of the n nearest locations, each alike, for a few n. One word draws n and a number
below n exactly. In a small set the number is a rank, and a table holds who has it; in a large
one the tree gives out the numbers (see kernels/nearest.py). Neither looks at every location.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nomadp.drawing import high_product
from nomadp.laws import Channel, Ints, NearestLocations, Secret, Staircase, Subset
from nomadp.locations import LocationSet
from nomadp.mechanisms.fast.bulk import has_tables, nearest_table, point_words
from nomadp.mechanisms.fast.compiling import is_compiled
from nomadp.mechanisms.large.ball_tree import sorted_places
from nomadp.mechanisms.points.exp import PointByPoint
from nomadp.randomness import Words
from nomadp.trajectory import TrajectorySet

__all__ = ["Mixture", "RankedPoints", "mixture_of", "numbered_nearest"]

Order = Callable[[int], Callable[[Secret], Ints]]
"""For a number of items: the rule that names so many, nearest to the secret first."""


@dataclass(frozen=True, kw_only=True)
class RankedPoints(PointByPoint):
    """A mechanism that is one law by rank, used once for each point."""

    @abstractmethod
    def law(self, share: Fraction, order: Order) -> Subset | Staircase:
        """How one point is perturbed, whatever the order."""

    def channel(self, share: Fraction) -> Channel:
        return self.law(share, partial(NearestLocations, self.locations))

    def mixture(self, share: Fraction) -> "Mixture":
        if share not in self._mixtures:
            # In the order of the items themselves, a law's weights are those of the ranks.
            levels = self.law(share, lambda count: lambda secret: np.arange(count)).row(0)
            self._mixtures[share] = mixture_of(levels)
        return self._mixtures[share]

    @cached_property
    def _mixtures(self) -> "dict[Fraction, Mixture]":
        return {}

    def _draw_many(self, trajectories: TrajectorySet, words: Words, first: int) -> Ints:
        if not self.has_kernels:
            return super()._draw_many(trajectories, words, first)
        word = point_words(trajectories, words, first)
        length = np.repeat(trajectories.lengths, trajectories.lengths)
        count, number = np.empty((2, len(word)), dtype=np.int64)
        for one in np.unique(trajectories.lengths).tolist():
            these = np.flatnonzero(length == one)
            mixture = self.mixture(self.split(one).shares()["point"])
            count[these], number[these] = mixture.draw(word[these])
        # One of all locations: the number is the location, and nobody's neighbours matter.
        reported, some = number, np.flatnonzero(count < len(self.locations))
        places = trajectories.locations[some]
        reported[some] = numbered_nearest(self.locations, places, count[some], number[some])
        return reported


class Mixture(NamedTuple):
    """Uniform laws over the ``counts`` nearest, which give ``rises`` to each of them."""

    counts: Ints
    rises: Ints

    def draw(self, words: NDArray[np.uint64]) -> tuple[Ints, Ints]:
        """A count and a number below it for each word, exactly."""
        weight = self.counts * self.rises
        ends = np.cumsum(weight)
        target = high_product(words, int(ends[-1])).astype(np.int64)
        which = ends.searchsorted(target, side="right")
        number = (target - (ends - weight)[which]) // self.rises[which]
        return self.counts[which], number


def mixture_of(levels: Ints) -> Mixture:
    """The mixture that gives the location of each rank the weight it has in ``levels``."""
    ends = np.flatnonzero(np.diff(levels, append=0))
    rises = -np.diff(levels[ends], append=0)
    if rises.min() <= 0:
        raise ValueError("the weights of a law by rank must fall with the rank, and do not")
    return Mixture(ends + 1, rises)


def numbered_nearest(locations: LocationSet, places: Ints, counts: Ints, numbers: Ints) -> Ints:
    """Of the so many locations nearest to each place: the one with this number."""
    if has_tables(locations):
        return nearest_table(locations, places)[places, numbers].astype(np.int64)
    from nomadp.mechanisms.large.nearest import new_room, one_of_nearest

    if is_compiled():
        from nomadp.mechanisms.large.nearest import nearest_points
    else:
        from nomadp.mechanisms.plain.nearest import nearest_points

    place = sorted_places(locations)
    balls = place.balls(1)
    secrets = np.stack([place.rank[places], counts, numbers], axis=1)
    found = np.empty(len(places), dtype=np.int64)
    nearest_points(balls, place.order, secrets, found)
    for k in np.flatnonzero(found < 0):
        room = new_room(balls)
        one_of_nearest(balls, place.order, secrets[k], room)
        doubtful, _, number = room.doubt.tolist()
        near = NearestLocations(locations, int(counts[k]))(places[k])
        # Of those in doubt, the ones that the reference takes have the numbers that are left.
        left = np.sort(np.intersect1d(place.order[room.spot[:doubtful]], near))
        found[k] = place.rank[left[number]]
    reported: Ints = place.order[found]
    return reported
