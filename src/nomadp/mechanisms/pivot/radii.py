"""ATP's radii of many trajectories, by the reference's own arithmetic: to the bit.

What depends on an anchor alone is public. A small set keeps its centres in a table; in a large
set the farthest location is found by the ball tree and measured by the reference.
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

_MEASURING = Lock()
_AT_ONCE = 2**20  # distances held at a time


def radii_km(
    locations: LocationSet, channel: SquareWave, anchors: Ints, batch: Batch, words: Words
) -> Floats:
    """The released radius of each trajectory, from its anchor, its points and one word."""
    away_km = locations.distances_between_km(
        np.repeat(anchors, np.diff(batch.offsets)), batch.locations
    )
    reach_km = np.maximum.reduceat(away_km, batch.offsets[:-1])
    farthest_km = farthest_from_km(locations, anchors)
    relative = reach_km / np.where(farthest_km == 0, 1.0, farthest_km)
    wave = channel.resolution, channel.reach, heaviest(UNIT, channel.share)
    cells = square_wave(words, channel.cell(relative), wave)
    centre_km = centres_around(locations, channel, anchors, cells, farthest_km)
    return calibrated_radii_km(channel, cells, centre_km, farthest_km)


def farthest_from_km(locations: LocationSet, anchors: Ints) -> Floats:
    """How far the farthest location is from each anchor, as the reference measures it."""
    if has_tables(locations):
        return _small(locations)[anchors]
    from nomadp.mechanisms.large.farthest import farthest_locations

    place = sorted_places(locations)
    some, back = np.unique(anchors, return_inverse=True)
    found = np.empty(len(some), dtype=np.int64)
    farthest_locations(place.balls(1), place.rank[some], found)
    km = locations.distances_between_km(some, place.order[found])
    for k in np.flatnonzero(found < 0):  # where rounding decides, the reference does
        km[k] = float(locations.distances_km(int(some[k])).max())
    return km[back]


@lru_cache(maxsize=2)
def _small(locations: LocationSet) -> Floats:
    return np.array([locations.distances_km(k).max() for k in range(len(locations))])


def centres_around(
    locations: LocationSet, channel: SquareWave, anchors: Ints, cells: Ints, farthest_km: Floats
) -> Floats:
    """The centre that each anchor's reported cell is pulled to."""
    ends = plausible(channel, cells)
    if has_tables(locations):
        return _known_centres(locations, channel, anchors, ends)
    sample = calibration_sample(len(locations))
    found, rows = np.empty(len(anchors)), max(1, _AT_ONCE // len(sample))
    for start in range(0, len(anchors), rows):
        some = slice(start, start + rows)
        away_km = locations.distances_between_km(anchors[some, None], sample)
        found[some] = centres_km(channel, ends[some], away_km, farthest_km[some])
    return found


def _known_centres(
    locations: LocationSet, channel: SquareWave, anchors: Ints, ends: Ints
) -> Floats:
    """From a table that is filled for an anchor and its ends when they are first drawn."""
    sample, width = calibration_sample(len(locations)), len(TEST_VALUES)
    which = ends[:, 0] * width + ends[:, 1]
    with _MEASURING:
        table, is_known = _table(locations, channel, len(sample))
        missing = ~is_known[anchors, which]
        wanted = np.unique(anchors[missing] * width**2 + which[missing])
        new, start = np.unique(wanted // width**2, return_index=True)
        # Where nothing is missing there still is one part, an empty one.
        for anchor, some in zip(new.tolist(), np.split(wanted, start[1:]), strict=False):
            columns, row_km = some % width**2, locations.distances_km(anchor)
            pairs = np.stack([columns // width, columns % width], axis=1)
            farthest_km = np.full(len(columns), row_km.max())
            found_km = centres_km(channel, pairs, row_km[None, sample], farthest_km)
            table[anchor, columns], is_known[anchor, columns] = found_km, True
    return table[anchors, which]


@lru_cache(maxsize=4)
def _table(
    locations: LocationSet, channel: SquareWave, sample: int
) -> tuple[Floats, NDArray[np.bool_]]:
    """Centres by anchor and ends, and which of them are known."""
    shape = len(locations), len(TEST_VALUES) ** 2
    return np.empty(shape), np.zeros(shape, dtype=np.bool_)
