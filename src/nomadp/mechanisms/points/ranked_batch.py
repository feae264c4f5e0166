"""The fast path of laws by rank: draw a number, then find the location with this number.

A law by rank with decreasing weights is a mixture of uniform laws over the n nearest locations,
for a few n; the integer weights of the components follow from those of the ranks. One word
draws n and a number below n, exactly. In a small set the number is a rank, and a table has the
location of each rank. In a large set the ball tree numbers the locations (large/nearest.py).
Neither way visits every location.
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
from nomadp.mechanisms.fast.word_rows import point_words
from nomadp.mechanisms.large.ball_tree import sorted_places
from nomadp.mechanisms.points.ranked import RankedPoints
from nomadp.randomness import RandomSource
from nomadp.trajectory import TrajectorySet

__all__ = ["Mixture", "draw_many", "mixture_of", "nearest_table", "numbered_nearest"]

_RANKING_LOCK = Lock()
"""Held while the table of ranks is filled. A known row never changes."""


def draw_many(
    mechanism: RankedPoints, trajectories: TrajectorySet, randomness: RandomSource
) -> Reported:
    words = point_words(trajectories, randomness)
    lengths = np.repeat(trajectories.lengths, trajectories.lengths)
    count, number = np.empty((2, len(words)), dtype=np.int64)
    for length in np.unique(trajectories.lengths).tolist():
        points = np.flatnonzero(lengths == length)
        mixture = _mixture(mechanism, mechanism.split(length).shares()["point"])
        count[points], number[points] = mixture.draw(words[points])
    # Uniform over all locations: the number is the location, without ranking anything.
    reported, near = number, np.flatnonzero(count < len(mechanism.locations))
    places = trajectories.locations[near]
    reported[near] = numbered_nearest(mechanism.locations, places, count[near], number[near])
    return Reported(reported, None)


@lru_cache(maxsize=256)
def _mixture(mechanism: RankedPoints, share: Fraction) -> "Mixture":
    # In the order of the items themselves, a law's weights are those of the ranks.
    return mixture_of(
        mechanism.law(share, lambda count: lambda secret: np.arange(count)).row(0)
    )


class Mixture(NamedTuple):
    """Uniform laws over the ``counts`` nearest items, which give ``rises`` to each item."""

    counts: Ints
    rises: Ints

    def draw(self, words: NDArray[np.uint64]) -> tuple[Ints, Ints]:
        """A count and a number below it for each word, exactly."""
        # The total is that of the law by rank, so a word picks each item with the same weight.
        weight = self.counts * self.rises
        ends = np.cumsum(weight)
        target = high_product(words, int(ends[-1]))
        component = ends.searchsorted(target, side="right")
        number = (target - (ends - weight)[component]) // self.rises[component]
        return self.counts[component], number


def mixture_of(levels: Ints) -> Mixture:
    """The mixture that gives the location of each rank the weight it has in ``levels``."""
    # A component ends where the weight drops, and gives this drop to each rank up to there. So
    # a rank's weight is the sum of the drops at and after it.
    ends = np.flatnonzero(np.diff(levels, append=0))
    rises = -np.diff(levels[ends], append=0)
    if rises.min() <= 0:
        raise InvalidArgument(
            "the weights of a law by rank must fall with the rank, but do not",
            code="weights_rise_with_rank",
        )
    return Mixture(ends + 1, rises)


def numbered_nearest(locations: LocationSet, places: Ints, counts: Ints, numbers: Ints) -> Ints:
    """For each place, the location with a number among its ``counts`` nearest locations."""
    if has_tables(locations):
        return nearest_table(locations, places)[places, numbers].astype(np.int64)
    from nomadp.mechanisms.large.nearest import nearest_points, new_scratch, one_of_nearest

    place = sorted_places(locations)
    balls = place.balls(1)
    secrets = np.stack([place.rank[places], counts, numbers], axis=1)
    ranks = np.empty(len(places), dtype=np.int64)
    nearest_points(balls, place.order, secrets, ranks)
    # Where rounding could decide which locations are near, the reference's order does.
    for k in np.flatnonzero(ranks < 0):
        scratch = new_scratch(balls)
        one_of_nearest(balls, place.order, secrets[k], scratch)
        doubtful, _, number = scratch.doubt.tolist()
        near = NearestLocations(locations, int(counts[k]))(places[k])
        # The doubtful locations that are near by the reference get the remaining numbers.
        remaining = np.sort(np.intersect1d(place.order[scratch.location[:doubtful]], near))
        ranks[k] = place.rank[remaining[number]]
    reported: Ints = place.order[ranks]
    return reported


def nearest_table(locations: LocationSet, places: Ints) -> NDArray[np.uint16]:
    """All locations from the nearest to the farthest, (m, m), with the rows of these places.

    Rows are computed when they are first needed; other rows have no meaning.
    """
    with _RANKING_LOCK:
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
