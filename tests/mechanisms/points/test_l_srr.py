"""L-SRR: groups that end at the same ranks for everybody."""

from fractions import Fraction

import numpy as np
import pytest
from refusals import refused
from worlds import scattered, small_map, triangle

from nomadp.audit import measure
from nomadp.errors import DomainError
from nomadp.laws import heaviest
from nomadp.mechanisms import StaircaseResponse


def test_the_law_by_hand():
    low, high = 2**24, heaviest(2**24, Fraction(1))
    middle = low + (high - low) // 2
    weight = (
        StaircaseResponse(locations=triangle(), epsilon=1)
        .channel(Fraction(1))
        .weights([0, 1, 2])
    )
    # From a: a, b, c. From b: b, a, c. From c: c, b, a.
    assert weight.tolist() == [[high, middle, low], [middle, high, low], [low, middle, high]]


def test_probabilities_fall_in_equal_steps_from_e_to_the_share_to_one():
    channel = StaircaseResponse(locations=scattered(50), epsilon=1).channel(Fraction(2))
    levels, counts = np.unique(channel.weights(7), return_counts=True)
    assert counts.tolist() == [10] * 5
    assert levels / levels[0] == pytest.approx(1 + np.arange(5) / 4 * (np.exp(2) - 1))


def test_two_groups_are_a_subset_response_of_half():
    channel = StaircaseResponse(locations=small_map(4), epsilon=1, groups=2).channel(
        Fraction(1)
    )
    for x in range(4):
        heavy = np.flatnonzero(channel.weights(x) > 2**24)
        nearest = np.argsort(small_map(4).distances_km(x), kind="stable")[:2]
        assert set(heavy) == set(nearest)


def test_spends_all_of_epsilon_and_not_more():
    for length in (1, 2):
        found = measure(StaircaseResponse(locations=small_map(4), epsilon=2), length)
        assert found.flags == ()
        assert 1.999999 < found.transcript_loss <= 2


@pytest.mark.parametrize("groups", [1, 0, -5])
def test_refuses_fewer_than_two_groups(groups):
    with refused(DomainError, "parameter_out_of_range", parameter="groups", least=2):
        StaircaseResponse(locations=triangle(), epsilon=1, groups=groups)
