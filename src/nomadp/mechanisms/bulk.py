"""Many trajectories at once: tables, rows of words that suffice, and the kernels between.

The law is the reference's. How words are spent on the exponential law is not, so the same
seed gives other, equally distributed reports than one trajectory at a time does.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nomadp.geometry import mean_lat_lng
from nomadp.laws import Ints, heaviest
from nomadp.laws.channel import UNIT
from nomadp.locations import LocationSet
from nomadp.mechanisms.kernels.values import Batch, Drawn, Tables
from nomadp.randomness import Words
from nomadp.trajectory import TrajectorySet

__all__ = [
    "TABLE_LIMIT",
    "ceiling",
    "draw_rows",
    "has_tables",
    "mean_locations",
    "tables_of",
]

TABLE_LIMIT = 4096
"""Locations up to which square tables are kept: 340 MB a set, and 17 MB a granularity."""
_FIRST_WIDTH = 64  # words per trajectory; a row that runs out is asked for again, longer


def has_tables(locations: LocationSet) -> bool:
    """Whether the set is small enough for square tables; a larger one has balls instead."""
    return len(locations) <= TABLE_LIMIT


def tables_of(locations: LocationSet, sectors: int = 0) -> Tables:
    """Distances, their order and sums, and sectors if a number of them is given."""
    seen = _seen(locations, sectors) if sectors else np.zeros((0, 0), dtype=np.uint8)
    return _by_distance(locations)._replace(sectors=seen)


@lru_cache(maxsize=2)
def _by_distance(locations: LocationSet) -> Tables:
    size = len(locations)
    distance = np.stack([locations.distances_km(i) for i in range(size)])
    order = np.argsort(distance, axis=1, kind="stable").astype(np.int32)
    sums = np.zeros((size, size + 1))
    np.cumsum(np.take_along_axis(distance, order, axis=1), axis=1, out=sums[:, 1:])
    return Tables(distance, order, sums, np.zeros((0, 0), dtype=np.uint8))


@lru_cache(maxsize=8)
def _seen(locations: LocationSet, sectors: int) -> NDArray[np.uint8]:
    return np.stack([locations.sectors(i, sectors) for i in range(len(locations))])


def ceiling(share: Fraction) -> int:
    """The largest weight of the exponential law at this share."""
    return heaviest(UNIT, share / 2)


def mean_locations(locations: LocationSet, trajectories: TrajectorySet) -> Ints:
    """The location nearest to each trajectory's mean, from which ATP draws its anchors."""
    means = np.empty(len(trajectories), dtype=np.int64)
    lengths = trajectories.lengths
    for length in np.unique(lengths):
        these = np.flatnonzero(lengths == length)
        points = trajectories.locations[
            trajectories.offsets[these] + np.arange(length)[:, None]
        ]
        lat, lng = mean_lat_lng(locations.lat[points], locations.lng[points])
        means[these] = locations.nearest(lat, lng)
    return means


def draw_rows(
    run: Callable[[Batch, Drawn], None],
    trajectories: TrajectorySet,
    words: Words,
    first: int,
    means: Ints,
) -> Drawn:
    """Run a kernel over all trajectories, again with longer rows for those that need them."""
    result = _nothing_drawn(len(trajectories.locations), len(trajectories))
    pending, width = np.arange(len(trajectories)), _FIRST_WIDTH
    while len(pending):
        some = (
            trajectories if len(pending) == len(trajectories) else trajectories.select(pending)
        )
        drawn = _nothing_drawn(len(some.locations), len(some))
        rows = words.rows(first + pending, width)
        run(Batch(some.offsets, some.locations, rows, means[pending]), drawn)
        where = _points_of(trajectories.offsets, pending)
        result.copies[:, where], result.coins[where] = drawn.copies, drawn.coins
        pending, width = pending[drawn.used > width], 4 * width
    return result


def _nothing_drawn(points: int, trajectories: int) -> Drawn:
    def zeros(*shape: int) -> Ints:
        return np.zeros(shape, dtype=np.int64)

    return Drawn(zeros(2, points), zeros(points), zeros(trajectories))


def _points_of(offsets: Ints, chosen: Ints) -> Ints:
    """Where the points of these trajectories stand."""
    lengths = np.diff(offsets)[chosen]
    before = np.cumsum(lengths) - lengths
    return np.repeat(offsets[chosen] - before, lengths) + np.arange(lengths.sum())
