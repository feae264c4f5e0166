"""Calibration: pull a perturbed radius towards a plausible one (section 5.2, Eqs. 10-12).

This is post-processing of released values, at no privacy cost.

Differs from the paper: Eq. 11 prints 1/(1 - e^(-beta/2)), which is at least 2.5 and makes radii
negative. The text says sigmoid and "a factor in [0, 1]", which is what is computed here. The
density q exceeds 1 beyond a share of 0.843 and is clipped. The result is clamped.

The radius is pulled towards a mean over all locations. In a set above `ALL_UP_TO`, the mean is
over a fixed sample, so that it takes the same time in a set of any size. One radius and many
radii are computed by the same lines: each operation rounds alike for any number of rows.
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

TEST_VALUES = np.arange(11) / 10  # the set V of section 5.2
ALL_UP_TO = 4096
"""Largest set of which all locations are used: part of ATP's law, not a limit of memory."""
SAMPLE = 64
"""Number of locations that represent a larger set."""


def calibration_sample(size: int) -> Ints:
    """The locations whose mean is the centre: all, or evenly spaced ones of a large set."""
    if size <= ALL_UP_TO:
        return np.arange(size)
    return np.arange(SAMPLE) * size // SAMPLE


def calibrated_radius_km(channel: SquareWave, cell: int, distances_km: Floats) -> float:
    """The region's radius, from a reported cell and all locations' distances to the anchor."""
    cells, farthest_km = np.array([cell]), distances_km.max(keepdims=True)
    sample_km = distances_km[None, calibration_sample(len(distances_km))]
    centre_km = centres_km(channel, plausible(channel, cells), sample_km, farthest_km)
    return float(calibrated_radii_km(channel, cells, centre_km, farthest_km)[0])


def calibrated_radii_km(
    channel: SquareWave, cells: Ints, centre_km: Floats, farthest_km: Floats
) -> Floats:
    """The radius of each reported cell, from its anchor's centre and farthest location.

    Where the centre is NaN, the radius is not calibrated.
    """
    reported, width = _reported(channel, cells)
    # The reported value, in [-b, 1 + b], as a distance (section 5.1).
    radius = (reported + width) * farthest_km / (2 * width + 1)
    # Eq. 12: beta is the gap to the centre, relative to the largest gap on that side.
    is_short = radius <= centre_km
    gap = np.where(is_short, centre_km - radius, radius - centre_km)
    largest_gap = np.where(is_short, centre_km, farthest_km - centre_km)
    beta = np.divide(gap, largest_gap, out=np.zeros(len(gap)), where=largest_gap != 0)
    # The C library's exponential, one at a time: numpy's for arrays may round differently, and
    # a radius must not depend on how many are computed together.
    decay = np.array([math.exp(-value / 2) for value in beta.tolist()])
    # Eqs. 10 and 11, with the sigmoid of the text.
    pull = 1 / (1 + decay) * math.exp(-float(channel.share))
    pulled = np.minimum(np.maximum(radius + (centre_km - radius) * pull, 0.0), farthest_km)
    calibrated: Floats = np.where(np.isnan(centre_km), radius, pulled)
    return np.where(farthest_km == 0, 0.0, calibrated)


def plausible(channel: SquareWave, cells: Ints) -> Ints:
    """The first and the last test value that could explain each cell: (cells, 2).

    They are l and u of section 5.2, as indices into `TEST_VALUES`. Where no test value could,
    both are the nearest one.
    """
    reported, width = _reported(channel, cells)
    error = np.abs(TEST_VALUES - reported[:, None])
    explains = error <= width
    first, last = explains.argmax(axis=1), explains[:, ::-1].argmax(axis=1)
    nearest = error.argmin(axis=1)
    is_explained = explains.any(axis=1)
    ends = np.where(is_explained, first, nearest), np.where(is_explained, 10 - last, nearest)
    return np.stack(ends, axis=1)


def centres_km(
    channel: SquareWave, ends: Ints, distances_km: Floats, farthest_km: Floats
) -> Floats:
    """The centre of each report: the mean distance, with more weight for candidates.

    Candidates are locations at distances between the `plausible` ends (P^R and eta in section
    5.2). There is a row of ends for each report, and a row of distances to its anchor (or one
    row for all). NaN where all weights are 0.
    """
    width = channel.reach / channel.resolution
    safe_km = np.where(farthest_km == 0, 1.0, farthest_km)[:, None]
    # Distances on the scale of reported values, [-b, 1 + b].
    as_reported = (2 * width + 1) * distances_km / safe_km - width
    first, last = TEST_VALUES[ends[:, :1]], TEST_VALUES[ends[:, 1:]]
    candidate = (first <= as_reported) & (as_reported <= last)
    odds = math.exp(float(channel.share))
    density = min(1.0, odds / (2 * width * odds + 1))
    weight = np.where(candidate, density, 1 - density)
    total, summed_km = weight.sum(axis=1), np.vecdot(weight, distances_km)
    # With a density of 1 and no candidate, all weights are 0: there is no centre.
    return np.divide(summed_km, total, out=np.full(len(total), np.nan), where=total > 0)


def _reported(channel: SquareWave, cells: Ints) -> tuple[Floats, float]:
    """The value that each cell represents, and the width b of the near cells."""
    width = channel.reach / channel.resolution
    return (cells + 0.5) / channel.resolution - width, width
