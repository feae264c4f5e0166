"""The calibrated radius stays inside the map and is pulled the right way."""

import math
from fractions import Fraction

import numpy as np
import pytest

from nomadp.laws import SquareWave
from nomadp.mechanisms.pivot.calibration import calibrated_radius_km

DISTANCES = np.array([0.0, 1.0, 2.0, 2.5, 4.0, 10.0])


def uncalibrated(channel, cell):
    return (cell + 0.5) / len(channel.outputs) * DISTANCES.max()


@pytest.mark.parametrize("share", ["0.001", "0.1", "0.843", "2", "15"])
def test_every_reported_cell_gives_a_radius_on_the_map(share):
    channel = SquareWave(64, Fraction(share))
    radii = [calibrated_radius_km(channel, int(cell), DISTANCES) for cell in channel.outputs]
    assert all(0 <= radius <= 10 for radius in radii)


def test_a_tiny_budget_pulls_at_least_half_way_and_a_large_one_hardly():
    timid, bold = SquareWave(64, Fraction(1, 1000)), SquareWave(64, Fraction(8))
    smallest = calibrated_radius_km(timid, 0, DISTANCES)
    centre = (
        DISTANCES.mean()
    )  # with next to no budget q is one half: every location weighs the same
    assert 0.5 * centre < smallest < 0.7 * centre
    for cell in (0, 30, 63):
        moved = calibrated_radius_km(bold, cell, DISTANCES) - uncalibrated(bold, cell)
        assert abs(moved) < 10 * math.exp(-8)


def test_small_radii_grow_and_large_ones_shrink():
    channel = SquareWave(64, Fraction(1, 10))
    first, last = 0, int(channel.outputs[-1])
    assert calibrated_radius_km(channel, first, DISTANCES) > uncalibrated(channel, first)
    assert calibrated_radius_km(channel, last, DISTANCES) < uncalibrated(channel, last)


def test_by_hand_on_three_locations():
    channel = SquareWave(4, Fraction(1))
    assert channel.reach == 1
    distances = np.array([0.0, 1.0, 2.0])
    # Cell 3 of 6 stands for 0.625: R = 3.5/6 * 2. Test values within 1/4 of it: 0.4 .. 0.8.
    # As reports the distances are -0.25, 0.5, 1.25: only the second explains the report.
    radius, e = 3.5 / 6 * 2, math.e
    q = min(1.0, e / (0.5 * e + 1))
    centre = (q * 1 + (1 - q) * 2) / (q + 2 * (1 - q))
    beta = (centre - radius) / centre if radius <= centre else (radius - centre) / (2 - centre)
    expected = radius + (centre - radius) / (1 + math.exp(-beta / 2)) * math.exp(-1)
    assert calibrated_radius_km(channel, 3, distances) == pytest.approx(expected, rel=1e-12)


def test_a_map_without_width_has_no_radius():
    assert calibrated_radius_km(SquareWave(8, Fraction(1)), 3, np.zeros(4)) == 0.0


def test_a_full_density_without_a_candidate_pulls_nowhere():
    channel = SquareWave(64, Fraction(12))
    distances = np.array([0.0, 10.0])
    cell = 32
    assert calibrated_radius_km(channel, cell, distances) == pytest.approx(
        (cell + 0.5) / len(channel.outputs) * 10
    )
