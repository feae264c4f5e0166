"""The radii of many trajectories (ATP), bit for bit as the reference program computes them.

Everything that depends on an anchor alone is public. For a small set, centres are cached in a
table. In a large set, the ball tree finds the farthest location, and the reference's arithmetic
measures its distance.
"""

from functools import lru_cache
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from nomadp.geometry import Floats
from nomadp.laws import Ints, SquareWave, heaviest
from nomadp.laws.channel import UNIT
from nomadp.locations import LocationSet
from nomadp.mechanisms.fast.arrays import Words, square_wave
from nomadp.mechanisms.fast.limits import has_tables
from nomadp.mechanisms.fast.values import Batch
from nomadp.mechanisms.large.ball_tree import sorted_places
from nomadp.mechanisms.pivot.calibration import (
    TEST_VALUES,
    calibrated_radii_km,
    calibration_sample,
    centres_km,
    plausible,
)

__all__ = ["centres_around", "farthest_from_km", "radii_km"]

_CENTRES_LOCK = Lock()
"""Held while the table of centres is filled. A known entry never changes."""
_DISTANCES_AT_ONCE = 2**20  # in memory


def radii_km(
    locations: LocationSet, channel: SquareWave, anchors: Ints, batch: Batch, words: Words
) -> Floats:
    """The released radius of each trajectory, from its anchor, its points and one word."""
    distance_km = locations.distances_between_km(
        np.repeat(anchors, np.diff(batch.offsets)), batch.locations
    )
    largest_km = np.maximum.reduceat(distance_km, batch.offsets[:-1])
    farthest_km = farthest_from_km(locations, anchors)
    relative = largest_km / np.where(farthest_km == 0, 1.0, farthest_km)
    wave = channel.resolution, channel.reach, heaviest(UNIT, channel.share)
    cells = square_wave(words, channel.cell(relative), wave)
    centre_km = centres_around(locations, channel, anchors, cells, farthest_km)
    return calibrated_radii_km(channel, cells, centre_km, farthest_km)


def farthest_from_km(locations: LocationSet, anchors: Ints) -> Floats:
    """The distance from each anchor to the farthest location, as the reference measures it."""
    if has_tables(locations):
        return _all_farthest_km(locations)[anchors]
    from nomadp.mechanisms.large.farthest import farthest_locations

    place = sorted_places(locations)
    distinct, inverse = np.unique(anchors, return_inverse=True)
    farthest = np.empty(len(distinct), dtype=np.int64)
    farthest_locations(place.balls(1), place.rank[distinct], farthest)
    km = locations.distances_between_km(distinct, place.order[farthest])
    # Where rounding could decide which location is the farthest, the reference scans the set.
    for k in np.flatnonzero(farthest < 0):
        km[k] = float(locations.distances_km(int(distinct[k])).max())
    return km[inverse]


@lru_cache(maxsize=2)
def _all_farthest_km(locations: LocationSet) -> Floats:
    return np.array([locations.distances_km(k).max() for k in range(len(locations))])


def centres_around(
    locations: LocationSet, channel: SquareWave, anchors: Ints, cells: Ints, farthest_km: Floats
) -> Floats:
    """The centre towards which each reported cell is pulled, from its anchor."""
    ends = plausible(channel, cells)
    if has_tables(locations):
        return _cached_centres(locations, channel, anchors, ends)
    sample = calibration_sample(len(locations))
    centre_km, rows = np.empty(len(anchors)), max(1, _DISTANCES_AT_ONCE // len(sample))
    for start in range(0, len(anchors), rows):
        batch = slice(start, start + rows)
        distance_km = locations.distances_between_km(anchors[batch, None], sample)
        centre_km[batch] = centres_km(channel, ends[batch], distance_km, farthest_km[batch])
    return centre_km


def _cached_centres(
    locations: LocationSet, channel: SquareWave, anchors: Ints, ends: Ints
) -> Floats:
    """Centres from a table, which is filled for an anchor and its ends when first needed."""
    sample, width = calibration_sample(len(locations)), len(TEST_VALUES)
    column = ends[:, 0] * width + ends[:, 1]
    with _CENTRES_LOCK:
        table, is_known = _table(locations, channel, len(sample))
        is_missing = ~is_known[anchors, column]
        missing = np.unique(anchors[is_missing] * width**2 + column[is_missing])
        new, start = np.unique(missing // width**2, return_index=True)
        # If nothing is missing, np.split still returns one (empty) part: hence not strict.
        for anchor, cells in zip(new.tolist(), np.split(missing, start[1:]), strict=False):
            columns, row_km = cells % width**2, locations.distances_km(anchor)
            pairs = np.stack([columns // width, columns % width], axis=1)
            farthest_km = np.full(len(columns), row_km.max())
            centre_km = centres_km(channel, pairs, row_km[None, sample], farthest_km)
            table[anchor, columns], is_known[anchor, columns] = centre_km, True
    return table[anchors, column]


@lru_cache(maxsize=4)
def _table(
    locations: LocationSet, channel: SquareWave, sample: int
) -> tuple[Floats, NDArray[np.bool_]]:
    """Centres by anchor and ends, and which of them are known."""
    shape = len(locations), len(TEST_VALUES) ** 2
    return np.empty(shape), np.zeros(shape, dtype=np.bool_)
