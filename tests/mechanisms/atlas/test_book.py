"""The atlas is public data: the same for everybody, and made from public values alone."""

import numpy as np
import pytest
from refusals import refused
from worlds import scattered, triangle

from nomadp.errors import DomainError
from nomadp.mechanisms.atlas import Codebook


def journeys(locations, count, length, seed=0):
    rows = np.random.default_rng(seed).integers(0, len(locations), (count, length))
    return Codebook(locations, rows.astype(np.int32))


def test_distances_add_up_over_positions():
    locations = scattered(20)
    book = journeys(locations, 50, 3)
    trajectory = np.array([4, 5, 6])
    by_hand = [
        sum(locations.distances_km(x)[y] for x, y in zip(trajectory, journey, strict=True))
        for journey in book.codewords
    ]
    assert book.distances_km(trajectory) == pytest.approx(by_hand)
    both = np.array([[4, 1], [5, 2], [6, 3]])
    assert book.distances_km(both)[0].tolist() == book.distances_km(trajectory).tolist()


@pytest.mark.parametrize(
    "rows", [np.zeros((0, 2)), np.zeros((3, 0)), np.array([[0, 3]]), np.array([[-1, 0]])]
)
def test_refuses_a_book_that_is_none(rows):
    with refused(DomainError, "codebook_invalid", size=3):
        Codebook(triangle(), rows.astype(np.int32))
