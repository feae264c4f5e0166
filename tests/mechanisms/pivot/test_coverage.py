"""The bound of the paper's Theorem 3 holds against the exact law it bounds.

How probably a disc around the perturbed anchor misses the true one is at most
|outside| / |inside| * e^(-t), t = share (R - r) / (2 diameter), with r the largest distance
from the true anchor within the radius R.
"""

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from worlds import scattered

from nomadp.laws import Exponential, probabilities

WORLD = scattered(40)


def not_covered_bound(locations, anchor, radius_km, share):
    """The theorem's upper bound; it may exceed 1, where it says nothing."""
    distance = locations.distances_km(anchor)
    inside = distance <= radius_km
    slack_km = radius_km - float(distance[inside].max())
    t = float(share) * slack_km / (2 * locations.diameter_km)
    return int(np.count_nonzero(~inside)) / int(np.count_nonzero(inside)) * math.exp(-t)


def not_covered_exact(locations, anchor, radius_km, share):
    """The probability itself, from the law the mechanism draws its anchor with."""
    everywhere = np.arange(len(locations))
    law = probabilities(
        Exponential(locations, everywhere, locations.diameter_km, share), anchor
    )
    return float(law[locations.distances_km(anchor) > radius_km].sum())


@given(
    st.integers(0, 39),
    st.floats(min_value=0.0, max_value=200.0),
    st.sampled_from(["0.01", "0.1", "1", "4", "10", "20"]),
)
def test_the_bound_is_never_below_the_exact_probability(anchor, radius_km, share):
    bound = not_covered_bound(WORLD, anchor, radius_km, Fraction(share))
    exact = not_covered_exact(WORLD, anchor, radius_km, Fraction(share))
    # Integer weights differ from the real-valued law of the theorem by at most 2^-23.
    assert exact <= bound * (1 + 2**-22)


def test_a_disc_over_the_whole_map_always_covers():
    assert not_covered_exact(WORLD, 0, 1e4, Fraction(1)) == 0
    assert not_covered_bound(WORLD, 0, 1e4, Fraction(1)) == 0


def test_more_radius_and_more_budget_cover_better():
    by_radius = [not_covered_exact(WORLD, 3, r, Fraction(4)) for r in (5, 20, 60)]
    by_share = [not_covered_exact(WORLD, 3, 20, Fraction(s)) for s in (1, 4, 10)]
    assert by_radius == sorted(by_radius, reverse=True)
    assert by_share == sorted(by_share, reverse=True)
