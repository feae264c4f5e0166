"""Radii of many trajectories are the reference's to the bit, also on test values."""

from fractions import Fraction

import numpy as np
import pytest
from odd_worlds import ODD_WORLDS, world
from worlds import scattered

from nomadp.drawing import draw
from nomadp.laws import SquareWave
from nomadp.mechanisms.fast.values import Batch
from nomadp.mechanisms.pivot.calibration import calibrated_radii_km, calibrated_radius_km
from nomadp.mechanisms.pivot.radii import centres_around, farthest_from_km, radii_km


def ruler(size):
    """Every location lies exactly on a tenth of the way to the farthest."""
    return world(np.arange(size) % 11 * 0.125, np.zeros(size))


def square(size):
    return world(np.arange(size) % 11 * 0.125, np.arange(size) // 11 * 0.125)


WORLDS = [*ODD_WORLDS, ruler, square]
each_world = pytest.mark.parametrize("make", WORLDS, ids=lambda make: make.__name__)
# A width of one half, of a tenth of the cells, and of none: test values are met by all.
CHANNELS = [SquareWave(r, Fraction(s)) for r, s in ((64, "1/100"), (10, "1"), (40, "15/8"))]


def all_radii(locations, channel, anchors):
    """Of every anchor and reported cell, by the fast path."""
    cells = np.tile(channel.outputs, len(anchors))
    each = np.repeat(anchors, len(channel.outputs))
    farthest_km = farthest_from_km(locations, each)
    centre_km = centres_around(locations, channel, each, cells, farthest_km)
    return calibrated_radii_km(channel, cells, centre_km, farthest_km).tolist()


def assert_the_references(locations):
    anchors = np.arange(0, len(locations), 7)
    for channel in CHANNELS:
        found = all_radii(locations, channel, anchors)
        assert found == all_radii(locations, channel, anchors)  # what is known stays so
        assert found == [
            calibrated_radius_km(channel, cell, locations.distances_km(anchor))
            for anchor in anchors.tolist()
            for cell in channel.outputs.tolist()
        ]


@each_world
def test_radii_in_a_small_set_are_the_references_to_the_bit(make):
    assert_the_references(make(121))


@pytest.mark.slow
@each_world
def test_radii_in_a_large_set_are_the_references_to_the_bit(make, small_is_large):
    assert_the_references(make(121))


def drawn_like_the_reference(locations, seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 6, 300)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    places = rng.integers(0, len(locations), offsets[-1])
    anchors, words = (
        rng.integers(0, len(locations), 300),
        rng.integers(0, 2**63, 300, np.uint64),
    )
    channel = SquareWave(16, Fraction(1))
    batch = Batch(offsets, places, words[:, None], anchors)
    found = radii_km(locations, channel, anchors, batch, words)
    for k, (anchor, word) in enumerate(zip(anchors.tolist(), words.tolist(), strict=True)):
        distances_km = locations.distances_km(anchor)
        reach_km = distances_km[places[offsets[k] : offsets[k + 1]]].max()
        cell = draw(channel, channel.cell(reach_km / (distances_km.max() or 1.0)), word)
        assert found[k] == calibrated_radius_km(channel, cell, distances_km)


@each_world
def test_a_word_gives_the_radius_that_it_gives_the_reference(make):
    drawn_like_the_reference(make(60), 0)


@each_world
def test_a_word_gives_the_same_radius_in_a_large_set(make, small_is_large):
    drawn_like_the_reference(make(60), 1)


def test_a_really_large_set_has_the_references_radii():
    drawn_like_the_reference(scattered(5_000), 2)
