"""Pulling a perturbed radius towards a plausible one (Eqs. 10-12): post-processing, and free.

Differs from the paper: Eq. 11 prints 1/(1 - e^(-beta/2)), which is at least 2.5 and sends
radii negative; the text says sigmoid and "a factor in [0, 1]", which is what is done here.
The density q exceeds 1 beyond a share of 0.843 and is clipped; the result is clamped.

The centre it is pulled to is a mean over all locations; in a set above `ALL_UP_TO`, over a
fixed sample of them, so that it costs the same in a set of any size. One radius or many, these
are the only lines that compute it: each step rounds alike for any number of rows.
"""

import math

import numpy as np

from nomadp.geometry import Floats
from nomadp.laws import Ints, SquareWave

__all__ = [
    "ALL_UP_TO",
    "SAMPLE",
    "TEST_VALUES",
    "calibrated_radii_km",
    "calibrated_radius_km",
    "calibration_sample",
    "centres_km",
    "plausible",
]

TEST_VALUES = np.arange(11) / 10
ALL_UP_TO = 4096
"""Locations up to which all are looked at: part of ATP's version, whatever memory holds."""
SAMPLE = 64
"""Locations whose distances stand for all in a larger set."""


def calibration_sample(size: int) -> Ints:
    """The locations the centre is a mean over: all, or evenly spaced ones of a large set."""
    if size <= ALL_UP_TO:
        return np.arange(size)
    return np.arange(SAMPLE) * size // SAMPLE


def calibrated_radius_km(channel: SquareWave, cell: int, distances_km: Floats) -> float:
    """The region's radius, from a reported cell and all locations' distances to the anchor."""
    cells, farthest_km = np.array([cell]), distances_km.max(keepdims=True)
    some_km = distances_km[None, calibration_sample(len(distances_km))]
    centre_km = centres_km(channel, plausible(channel, cells), some_km, farthest_km)
    return float(calibrated_radii_km(channel, cells, centre_km, farthest_km)[0])


def calibrated_radii_km(
    channel: SquareWave, cells: Ints, centre_km: Floats, farthest_km: Floats
) -> Floats:
    """The radius of each reported cell, from its anchor's centre and farthest location.

    A centre that is no number pulls nothing.
    """
    reported, width = _reported(channel, cells)
    radius = (reported + width) * farthest_km / (2 * width + 1)
    is_short = radius <= centre_km
    away = np.where(is_short, centre_km - radius, radius - centre_km)
    span = np.where(is_short, centre_km, farthest_km - centre_km)
    beta = np.divide(away, span, out=np.zeros(len(away)), where=span != 0)
    # The C library's exponential, one at a time: an array's may round otherwise.
    falling = np.array([math.exp(-each / 2) for each in beta.tolist()])
    pull = 1 / (1 + falling) * math.exp(-float(channel.share))
    pulled = np.minimum(np.maximum(radius + (centre_km - radius) * pull, 0.0), farthest_km)
    found: Floats = np.where(np.isnan(centre_km), radius, pulled)
    return np.where(farthest_km == 0, 0.0, found)


def plausible(channel: SquareWave, cells: Ints) -> Ints:
    """The first and the last test value that explain each cell, or the nearest: (cells, 2)."""
    reported, width = _reported(channel, cells)
    off = np.abs(TEST_VALUES - reported[:, None])
    explains = off <= width
    first, last = explains.argmax(axis=1), explains[:, ::-1].argmax(axis=1)
    nearest = off.argmin(axis=1)
    some = explains.any(axis=1)
    ends = np.where(some, first, nearest), np.where(some, 10 - last, nearest)
    return np.stack(ends, axis=1)


def centres_km(
    channel: SquareWave, ends: Ints, distances_km: Floats, farthest_km: Floats
) -> Floats:
    """Weighted mean distances, heavier for locations that could explain a report.

    Rows of `plausible` ends, rows of distances to an anchor (or one row for all) and how far
    the farthest location is from it. No number where nothing weighs anything.
    """
    width = channel.reach / channel.resolution
    safe_km = np.where(farthest_km == 0, 1.0, farthest_km)[:, None]
    as_reported = (2 * width + 1) * distances_km / safe_km - width
    first, last = TEST_VALUES[ends[:, :1]], TEST_VALUES[ends[:, 1:]]
    candidate = (first <= as_reported) & (as_reported <= last)
    odds = math.exp(float(channel.share))
    density = min(1.0, odds / (2 * width * odds + 1))
    weight = np.where(candidate, density, 1 - density)
    total, summed_km = weight.sum(axis=1), np.vecdot(weight, distances_km)
    # With a density of 1 and no candidate nothing weighs anything: then nothing pulls.
    return np.divide(summed_km, total, out=np.full(len(total), np.nan), where=total > 0)


def _reported(channel: SquareWave, cells: Ints) -> tuple[Floats, float]:
    """The value each cell stands for, and the width b it may be off."""
    width = channel.reach / channel.resolution
    return (cells + 0.5) / channel.resolution - width, width
