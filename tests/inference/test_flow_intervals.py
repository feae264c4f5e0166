"""Intervals of flows that are estimated from whole journeys hold what they say."""

import numpy as np
import pytest

from nomadp.datasets.city import synthetic_city
from nomadp.engine import perturb_set
from nomadp.inference.hotspots import flow_shares
from nomadp.inference.model import fit
from nomadp.inference.shares import relative_variance
from nomadp.mechanisms import make_mechanism
from nomadp.randomness import SeededRandom
from nomadp.zones import zones_of


def test_many_locations_together_differ_less() -> None:
    assert relative_variance(np.array([0, 1, 16, 81])) == pytest.approx([1, 1, 1 / 4, 1 / 9])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 5])
def test_of_ten_flows_between_zones_about_nine_are_held(seed: int) -> None:
    city = synthetic_city(seed, places=300, trips=4000)
    atlas = make_mechanism("atlas", city.locations, epsilon=4)
    reports = perturb_set(atlas, city.trajectories, SeededRandom(seed), keep_tids=True)
    zones = zones_of(city.locations, "grid:4")
    low, high = flow_shares(fit(atlas, reports), zones).interval(0.9)
    first, last = city.trajectories.offsets[:-1], city.trajectories.offsets[1:] - 1
    start, end = (zones.of[city.trajectories.locations[at]] for at in (first, last))
    count = np.bincount(start * len(zones) + end, minlength=len(zones) ** 2)
    true = count / count.sum()
    # They are not independent, and what reports cannot resolve is assumed: so not to the point.
    assert 0.82 <= ((low <= true) & (true <= high)).mean() <= 0.98
