"""Pulling a perturbed radius towards a plausible one (Eqs. 10-12): post-processing, and free.

Differs from the paper: Eq. 11 prints 1/(1 - e^(-beta/2)), which is at least 2.5 and sends
radii negative; the text says sigmoid and "a factor in [0, 1]", which is what is done here.
The density q exceeds 1 beyond a share of 0.843 and is clipped; the result is clamped.

The centre it is pulled to is a mean over all locations; in a set above `ALL_UP_TO`, over a
fixed sample of them, so that it costs the same in a set of any size.
"""

import math

import numpy as np

from nomadp.geometry import Floats
from nomadp.laws import Ints, SquareWave

__all__ = ["ALL_UP_TO", "SAMPLE", "calibrated_radius_km", "calibration_sample", "centre_km"]

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
    farthest = float(distances_km.max())
    if farthest == 0:
        return 0.0
    width = channel.reach / channel.resolution  # b
    reported = (cell + 0.5) / channel.resolution - width
    radius = (reported + width) * farthest / (2 * width + 1)
    some_km = distances_km[calibration_sample(len(distances_km))]
    centre = centre_km((reported, width), float(channel.share), some_km, farthest)
    if centre is None:
        return radius
    if radius <= centre:
        beta = (centre - radius) / centre if centre else 0.0
    else:
        beta = (radius - centre) / (farthest - centre)
    pull = 1 / (1 + math.exp(-beta / 2)) * math.exp(-float(channel.share))
    return min(max(radius + (centre - radius) * pull, 0.0), farthest)


def centre_km(
    report: tuple[float, float], share: float, distances_km: Floats, farthest_km: float
) -> float | None:
    """The weighted mean distance, heavier for locations that could explain the report.

    ``report`` is the value of the reported cell and the width it may be off.
    """
    reported, width = report
    plausible = TEST_VALUES[np.abs(TEST_VALUES - reported) <= width]
    if not len(plausible):
        plausible = TEST_VALUES[[np.abs(TEST_VALUES - reported).argmin()]]
    as_reported = (2 * width + 1) * distances_km / farthest_km - width
    candidate = (plausible[0] <= as_reported) & (as_reported <= plausible[-1])
    odds = math.exp(share)
    density = min(1.0, odds / (2 * width * odds + 1))
    weight = np.where(candidate, density, 1 - density)
    total = weight.sum()
    # With a density of 1 and no candidate nothing weighs anything: then nothing pulls.
    return float(weight @ distances_km / total) if total > 0 else None
