"""How probably a disc around the perturbed anchor misses the true one (the paper's Theorem 3).

The theorem bounds it by |outside| / |inside| * e^(-t), t = share (R - r) / (2 diameter), with r
the largest distance from the true anchor within the radius R. The exact probability follows
from the anchor's law.
"""

import math
from fractions import Fraction

import numpy as np

from nomadp.laws import Exponential, probabilities
from nomadp.locations import LocationSet

__all__ = ["not_covered_bound", "not_covered_exact"]


def not_covered_bound(
    locations: LocationSet, anchor: int, radius_km: float, share: Fraction
) -> float:
    """The theorem's upper bound; it may exceed 1, where it says nothing."""
    distance = locations.distances_km(anchor)
    inside = distance <= radius_km
    slack_km = radius_km - float(distance[inside].max())
    t = float(share) * slack_km / (2 * locations.diameter_km)
    return int(np.count_nonzero(~inside)) / int(np.count_nonzero(inside)) * math.exp(-t)


def not_covered_exact(
    locations: LocationSet, anchor: int, radius_km: float, share: Fraction
) -> float:
    """The probability itself, from the law the mechanism draws its anchor with."""
    everywhere = np.arange(len(locations))
    law = probabilities(
        Exponential(locations, everywhere, locations.diameter_km, share), anchor
    )
    return float(law[locations.distances_km(anchor) > radius_km].sum())
