"""Labels that stand out are found, and none does by chance."""

import numpy as np
import pytest
from asked import chances, every_label, supports

from nomadp.inference.frequencies import oracle_shares
from nomadp.inference.heavy_hitters import with_heavy_hitters

FLAT = np.full(64, 1 / 64)
STATION = 37


def noisy(shares, deviation, seed):
    rng = np.random.default_rng(seed)
    return shares + rng.normal(0, deviation, len(shares))


def known(deviation):
    return np.full(64, deviation**2), np.zeros(64)


def test_one_busy_label_in_a_quiet_region_is_told_of():
    """A split alone would say an eighth of it: its whole region is hardly above flat."""
    city = np.full(256, 0.9 / 256)
    city[STATION] += 0.1
    (count, p, q), rng = chances(256, 2.0), np.random.default_rng(1)
    levels = every_label(256, [np.arange(256) // 2**k for k in range(7, 0, -1)])
    found = []
    for _ in range(20):
        support = supports(rng.multinomial(4000, city), count, p, rng)
        found.append(oracle_shares(support, 4000, p, q, levels).values)
    values = np.mean(found, axis=0)
    assert values[STATION] > 0.5 * city[STATION]
    assert values[STATION - 1] < 2 * city[STATION - 1]


def test_nothing_stands_out_by_chance():
    deviation = 0.02
    moved = [
        with_heavy_hitters(FLAT, noisy(FLAT, deviation, seed), known(deviation)) is not FLAT
        for seed in range(200)
    ]
    assert sum(moved) <= 4


def test_the_further_a_label_is_above_the_more_of_it_is_believed():
    deviation, believed = 0.01, []
    for above in np.arange(0, 0.3, 0.02):
        found = FLAT.copy()
        found[STATION] += above
        shares = with_heavy_hitters(FLAT, found, known(deviation))
        believed.append(shares[STATION] - FLAT[STATION])
        assert shares.sum() == pytest.approx(1)
    assert believed[:2] == [0, 0]
    assert np.all(np.diff(believed) >= 0)
    assert believed[-1] > 0.7 * 0.28


def test_labels_below_are_left_to_their_groups():
    found = FLAT.copy()
    found[STATION] = -0.3
    assert with_heavy_hitters(FLAT, found, known(0.01)) is FLAT
