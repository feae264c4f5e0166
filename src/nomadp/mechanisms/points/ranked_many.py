"""Laws by rank, many points at once: draw a number, then find who has it.

A law by rank whose weights only fall is a mixture: with integer chances that follow from the
weights, one of the n nearest locations, each alike, for a few n. One word draws n and a number
below n exactly. In a small set the number is a rank, and a table holds who has it; in a large
one the ball tree gives out the numbers (large/nearest.py). Neither looks at every location.
"""

from fractions import Fraction
from functools import lru_cache
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nomadp.drawing import high_product
from nomadp.errors import InvalidArgument
from nomadp.laws import Ints, NearestLocations
from nomadp.locations import LocationSet
from nomadp.mechanisms.base import Reported
from nomadp.mechanisms.fast.limits import has_tables
from nomadp.mechanisms.fast.rows import point_words
from nomadp.mechanisms.large.ball_tree import sorted_places
from nomadp.mechanisms.points.ranked import RankedPoints
from nomadp.randomness import RandomSource
from nomadp.trajectory import TrajectorySet

__all__ = ["Mixture", "draw_many", "mixture_of", "nearest_table", "numbered_nearest"]

_RANKING = Lock()


def draw_many(
    mechanism: RankedPoints, trajectories: TrajectorySet, randomness: RandomSource
) -> Reported:
    word = point_words(trajectories, randomness)
    length = np.repeat(trajectories.lengths, trajectories.lengths)
    count, number = np.empty((2, len(word)), dtype=np.int64)
    for one in np.unique(trajectories.lengths).tolist():
        these = np.flatnonzero(length == one)
        mixture = _mixture(mechanism, mechanism.split(one).shares()["point"])
        count[these], number[these] = mixture.draw(word[these])
    # One of all locations: the number is the location, and nobody's neighbours matter.
    reported, some = number, np.flatnonzero(count < len(mechanism.locations))
    places = trajectories.locations[some]
    reported[some] = numbered_nearest(mechanism.locations, places, count[some], number[some])
    return Reported(reported, None)


@lru_cache(maxsize=256)
def _mixture(mechanism: RankedPoints, share: Fraction) -> "Mixture":
    # In the order of the items themselves, a law's weights are those of the ranks.
    return mixture_of(
        mechanism.law(share, lambda count: lambda secret: np.arange(count)).row(0)
    )


class Mixture(NamedTuple):
    """Uniform laws over the ``counts`` nearest, which give ``rises`` to each of them."""

    counts: Ints
    rises: Ints

    def draw(self, words: NDArray[np.uint64]) -> tuple[Ints, Ints]:
        """A count and a number below it for each word, exactly."""
        weight = self.counts * self.rises
        ends = np.cumsum(weight)
        target = high_product(words, int(ends[-1]))
        which = ends.searchsorted(target, side="right")
        number = (target - (ends - weight)[which]) // self.rises[which]
        return self.counts[which], number


def mixture_of(levels: Ints) -> Mixture:
    """The mixture that gives the location of each rank the weight it has in ``levels``."""
    ends = np.flatnonzero(np.diff(levels, append=0))
    rises = -np.diff(levels[ends], append=0)
    if rises.min() <= 0:
        raise InvalidArgument(
            "the weights of a law by rank must fall with the rank, and do not",
            code="weights_rise_with_rank",
        )
    return Mixture(ends + 1, rises)


def numbered_nearest(locations: LocationSet, places: Ints, counts: Ints, numbers: Ints) -> Ints:
    """Of the so many locations nearest to each place: the one with this number."""
    if has_tables(locations):
        return nearest_table(locations, places)[places, numbers].astype(np.int64)
    from nomadp.mechanisms.large.nearest import nearest_points, new_scratch, one_of_nearest

    place = sorted_places(locations)
    balls = place.balls(1)
    secrets = np.stack([place.rank[places], counts, numbers], axis=1)
    found = np.empty(len(places), dtype=np.int64)
    nearest_points(balls, place.order, secrets, found)
    for k in np.flatnonzero(found < 0):
        scratch = new_scratch(balls)
        one_of_nearest(balls, place.order, secrets[k], scratch)
        doubtful, _, number = scratch.doubt.tolist()
        near = NearestLocations(locations, int(counts[k]))(places[k])
        # Of those in doubt, the ones that the reference takes have the numbers that are left.
        left = np.sort(np.intersect1d(place.order[scratch.spot[:doubtful]], near))
        found[k] = place.rank[left[number]]
    reported: Ints = place.order[found]
    return reported


def nearest_table(locations: LocationSet, places: Ints) -> NDArray[np.uint16]:
    """All locations from the nearest to the farthest, (m, m): only the rows of these places.

    Rows are made when they are first asked for, so that few trajectories need few of them.
    """
    with _RANKING:
        table, is_known = _ranking(locations)
        ranked = NearestLocations(locations, len(locations))
        for place in np.unique(places[~is_known[places]]):
            table[place] = ranked(place)
            is_known[place] = True
    return table


@lru_cache(maxsize=2)
def _ranking(locations: LocationSet) -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
    size = len(locations)
    return np.empty((size, size), dtype=np.uint16), np.zeros(size, dtype=np.bool_)
