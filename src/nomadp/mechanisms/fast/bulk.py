"""Many trajectories at once: tables, rows of words that suffice, and the kernels between.

The law is the reference's. How words are spent on the exponential law is not, so the same
seed gives other, equally distributed reports than one trajectory at a time does.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from nomadp.geometry import mean_lat_lng
from nomadp.laws import Ints, NearestLocations, heaviest
from nomadp.laws.channel import UNIT
from nomadp.locations import LocationSet
from nomadp.mechanisms.fast.values import Batch, Drawn, Tables
from nomadp.randomness import Words
from nomadp.trajectory import TrajectorySet

__all__ = [
    "TABLE_LIMIT",
    "ceiling",
    "draw_points",
    "draw_rows",
    "has_tables",
    "mean_locations",
    "nearest_table",
    "point_words",
    "tables_of",
]

TABLE_LIMIT = 4096
"""Locations up to which square tables are kept: 340 MB a set, and 17 MB a granularity."""
_FIRST_WIDTH = 64  # words per trajectory; a row that runs out is asked for again, longer
_WORDS_MAX = 2**22  # made at once: long rows are drawn for fewer trajectories at a time

_RANKING = Lock()


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


def point_words(trajectories: TrajectorySet, words: Words, first: int) -> NDArray[np.uint64]:
    """One word for each point: the words its trajectory would have alone, in their order."""
    lengths = trajectories.lengths
    found = np.empty(len(trajectories.locations), dtype=np.uint64)
    # Rows are as wide as the longest of them: short trajectories do not pay for long ones.
    width = 2 ** np.ceil(np.log2(lengths)).astype(np.int64)
    for one in np.unique(width):
        these = np.flatnonzero(width == one)
        rows = words.rows(first + these, int(lengths[these].max()))
        has_point = np.arange(rows.shape[1]) < lengths[these][:, None]
        found[_points_of(trajectories.offsets, these)] = rows[has_point]
    return found


def draw_rows(
    run: Callable[[Batch, Drawn], None],
    trajectories: TrajectorySet,
    words: Words,
    first: int,
    means: Ints,
) -> Drawn:
    """Run a kernel over all trajectories, again with longer rows for those that need them."""
    return _draw(run, trajectories, partial(_rows, words, first), means, _FIRST_WIDTH)


def draw_points(
    run: Callable[[Batch, Drawn], None],
    trajectories: TrajectorySet,
    words: Words,
    first: int,
    width: int,
) -> Drawn:
    """The same for a kernel without means, in rows that begin with so many words."""
    nowhere = np.zeros(len(trajectories), dtype=np.int64)
    return _draw(run, trajectories, partial(_rows, words, first), nowhere, width)


def _rows(words: Words, first: int, which: Ints, width: int) -> NDArray[np.uint64]:
    return words.rows(first + which, width)


def _draw(
    run: Callable[[Batch, Drawn], None],
    trajectories: TrajectorySet,
    ask: Callable[[Ints, int], NDArray[np.uint64]],
    means: Ints,
    width: int,
) -> Drawn:
    result = _nothing_drawn(len(trajectories.locations), len(trajectories))
    pending = np.arange(len(trajectories))
    while len(pending):
        short = []
        for these in _batches(pending, width):
            whole = len(these) == len(trajectories)
            some = trajectories if whole else trajectories.select(these)
            drawn = _nothing_drawn(len(some.locations), len(some))
            run(Batch(some.offsets, some.locations, ask(these, width), means[these]), drawn)
            where = _points_of(trajectories.offsets, these)
            result.copies[:, where], result.coins[where] = drawn.copies, drawn.coins
            short.append(these[drawn.used > width])
        pending, width = np.concatenate(short), 4 * width
    return result


def _batches(pending: Ints, width: int) -> list[Ints]:
    rows = max(1, _WORDS_MAX // width)
    return [pending[start : start + rows] for start in range(0, len(pending), rows)]


def _nothing_drawn(points: int, trajectories: int) -> Drawn:
    def zeros(*shape: int) -> Ints:
        return np.zeros(shape, dtype=np.int64)

    return Drawn(zeros(2, points), zeros(points), zeros(trajectories))


def _points_of(offsets: Ints, chosen: Ints) -> Ints:
    """Where the points of these trajectories stand."""
    lengths = np.diff(offsets)[chosen]
    before = np.cumsum(lengths) - lengths
    return np.repeat(offsets[chosen] - before, lengths) + np.arange(lengths.sum())
