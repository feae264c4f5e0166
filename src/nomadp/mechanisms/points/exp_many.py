"""EXP: many trajectories at once, over a set of any size (rejection sampling).

Propose a location uniformly and accept it with probability weight / ceiling: the exponential
law, without touching every location. A proposal takes one word, whoever makes it. So the k-th
proposals of all trajectories are made together, each for the point at which its trajectory has
arrived.
"""

import numpy as np

from nomadp.drawing import high_product
from nomadp.geometry import Floats, distance_km, places
from nomadp.laws import Ints
from nomadp.mechanisms.base import Reported
from nomadp.mechanisms.fast.arrays import split, weights
from nomadp.mechanisms.fast.rows import ceiling, draw_rows
from nomadp.mechanisms.fast.values import Batch, Drawn
from nomadp.mechanisms.large.ball_tree import sorted_places
from nomadp.mechanisms.points.exp import IndependentPoints
from nomadp.randomness import RandomSource
from nomadp.trajectory import TrajectorySet

__all__ = ["draw_many"]


def draw_many(
    mechanism: IndependentPoints, trajectories: TrajectorySet, randomness: RandomSource
) -> Reported:
    law, there = _laws(mechanism, trajectories.lengths), _Places(mechanism)
    # How many proposals most trajectories need: only speed is at stake.
    likely = int(1.25 * (trajectories.lengths.mean() + float(mechanism.epsilon) / 2)) + 4

    def run(batch: Batch, drawn: Drawn) -> None:
        _points(batch, there, law, drawn)

    nowhere = np.zeros(len(trajectories), dtype=np.int64)
    drawn = draw_rows(run, trajectories, randomness, nowhere, likely)
    return Reported(drawn.copies[0], None)


class _Places:
    """The locations, ready for distances of pairs, in the order in which they are proposed."""

    def __init__(self, mechanism: IndependentPoints) -> None:
        self.order = sorted_places(mechanism.locations).order
        self._places = places(mechanism.locations.lat, mechanism.locations.lng)

    def apart_km(self, here: Ints, there: Ints) -> Floats:
        return distance_km(self._places.at(here), self._places.at(there))


def _laws(mechanism: IndependentPoints, lengths: Ints) -> Floats:
    """Scale and ceiling for every length that occurs."""
    diameter_km = mechanism.locations.diameter_km
    law = np.zeros((int(lengths.max()) + 1, 2))
    for length in np.unique(lengths).tolist():
        share = mechanism.split(length).shares()["point"]
        scale = float(share) / (2 * diameter_km) if diameter_km > 0 else 0.0
        law[length] = scale, ceiling(share)
    return law


def _points(batch: Batch, there: _Places, law: Floats, drawn: Drawn) -> None:
    width = batch.words.shape[1]
    point, end = batch.offsets[:-1].copy(), batch.offsets[1:]
    scale, most = law[end - point, 0], law[end - point, 1].astype(np.int64)
    drawn.copies[0] = 0
    drawn.used[:] = width + 1
    pending = np.arange(len(point))
    for k in range(width):
        rank, rest = split(batch.words[pending, k], len(there.order))
        proposed = there.order[rank]
        apart_km = there.apart_km(batch.locations[point[pending]], proposed)
        threshold = high_product(rest, most[pending])
        accepted = threshold < weights(apart_km, scale[pending], most[pending])
        arrived = pending[accepted]
        drawn.copies[0, point[arrived]] = proposed[accepted]
        point[arrived] += 1
        drawn.used[arrived[point[arrived] == end[arrived]]] = k + 1
        pending = pending[point[pending] < end[pending]]
        if not len(pending):
            return
