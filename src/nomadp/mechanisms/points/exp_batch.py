"""The fast path of EXP: rejection sampling of many trajectories, over a set of any size.

Propose a location uniformly and accept it with probability weight / ceiling. Accepted locations
follow the exponential law, without touching every location. A proposal always takes one word.
So the k-th proposals of all trajectories are made together, each for the next point of its
trajectory.
"""

import numpy as np

from nomadp.drawing import high_product
from nomadp.geometry import Floats, distance_km, places
from nomadp.laws import Ints
from nomadp.mechanisms.base import Reported
from nomadp.mechanisms.fast.arrays import split, weights
from nomadp.mechanisms.fast.values import Batch, Drawn
from nomadp.mechanisms.fast.word_rows import ceiling, draw_rows
from nomadp.mechanisms.large.ball_tree import sorted_places
from nomadp.mechanisms.points.exp import IndependentPoints
from nomadp.randomness import RandomSource
from nomadp.trajectory import TrajectorySet

__all__ = ["draw_many"]


def draw_many(
    mechanism: IndependentPoints, trajectories: TrajectorySet, randomness: RandomSource
) -> Reported:
    law, places = _laws(mechanism, trajectories.lengths), _Places(mechanism)
    # The number of proposals that most trajectories need. It affects speed, not the law: rows
    # that need more are drawn again.
    width = int(1.25 * (trajectories.lengths.mean() + float(mechanism.epsilon) / 2)) + 4

    def run(batch: Batch, drawn: Drawn) -> None:
        _points(batch, places, law, drawn)

    no_means = np.zeros(len(trajectories), dtype=np.int64)
    drawn = draw_rows(run, trajectories, randomness, no_means, width)
    return Reported(drawn.copies[0], None)


class _Places:
    """The locations, ready for distances of pairs, in the order in which they are proposed."""

    def __init__(self, mechanism: IndependentPoints) -> None:
        self.order = sorted_places(mechanism.locations).order
        self._places = places(mechanism.locations.lat, mechanism.locations.lng)

    def distances_km(self, first: Ints, second: Ints) -> Floats:
        return distance_km(self._places.at(first), self._places.at(second))


def _laws(mechanism: IndependentPoints, lengths: Ints) -> Floats:
    """Scale and ceiling for every length that occurs."""
    diameter_km = mechanism.locations.diameter_km
    law = np.zeros((int(lengths.max()) + 1, 2))
    for length in np.unique(lengths).tolist():
        share = mechanism.split(length).shares()["point"]
        scale = float(share) / (2 * diameter_km) if diameter_km > 0 else 0.0
        law[length] = scale, ceiling(share)
    return law


def _points(batch: Batch, places: _Places, law: Floats, drawn: Drawn) -> None:
    """Draw the points of a batch; a row that runs out of words has ``used`` too many."""
    width = batch.words.shape[1]
    point, end = batch.offsets[:-1].copy(), batch.offsets[1:]
    scale, most = law[end - point, 0], law[end - point, 1].astype(np.int64)
    drawn.copies[0] = 0
    drawn.used[:] = width + 1
    pending = np.arange(len(point))
    for k in range(width):
        # One word proposes a location, and its remaining digits decide whether to accept it.
        rank, rest = split(batch.words[pending, k], len(places.order))
        proposed = places.order[rank]
        km = places.distances_km(batch.locations[point[pending]], proposed)
        threshold = high_product(rest, most[pending])
        is_accepted = threshold < weights(km, scale[pending], most[pending])
        accepted = pending[is_accepted]
        drawn.copies[0, point[accepted]] = proposed[is_accepted]
        point[accepted] += 1
        drawn.used[accepted[point[accepted] == end[accepted]]] = k + 1
        pending = pending[point[pending] < end[pending]]
        if not len(pending):
            return
