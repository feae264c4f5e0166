"""Laws by rank: constant totals, so that the loss is the ratio of two weights."""

from fractions import Fraction

import numpy as np
import pytest
from refusals import refused
from worlds import exactly_worst, scattered, triangle

from nomadp.budget import as_epsilon, exp_lower
from nomadp.errors import BudgetError, InvalidArgument
from nomadp.laws import NearestLocations, Staircase, Subset, heaviest
from nomadp.laws.channel import words_ratio

SHARES = [as_epsilon(text) for text in ("0.01", "0.1", "1", "4", "10")]


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("near", [1, 3, 10])
def test_the_subset_law_spends_its_share_and_not_more(share, near):
    locations = scattered(10)

    def nearest(x):
        return np.argsort(locations.distances_km(int(x)), kind="stable")[:near]

    channel = Subset(10, near, nearest, share)
    ratio = exactly_worst(channel, range(10))
    assert ratio == (channel.bound if near < 10 else 1)
    assert channel.bound <= exp_lower(share)


def test_the_subset_law_refuses_a_rule_that_names_too_few():
    with refused(InvalidArgument, "nearest_not_distinct", near_count=2):
        Subset(5, 2, lambda x: np.array([1, 1]), Fraction(1)).weights(0)


def test_the_nearest_come_first_and_ties_go_by_index():
    nearest = NearestLocations(triangle(), 2)
    assert [nearest(x).tolist() for x in range(3)] == [[0, 1], [1, 0], [2, 1]]
    assert nearest == NearestLocations(triangle(), 2)


def from_the_left(x):
    return (np.arange(10) + int(x)) % 10


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("groups", [2, 3, 5, 10, 99])
def test_the_staircase_spends_its_share_and_not_more(share, groups):
    channel = Staircase(10, groups, from_the_left, share)
    assert exactly_worst(channel, range(10)) == channel.bound <= exp_lower(share)
    assert len(set(channel.weights(np.arange(10)).sum(axis=1).tolist())) == 1


def test_the_steps_of_a_staircase_are_equally_high_and_equally_wide():
    low, high = 2**24, heaviest(2**24, Fraction(1))
    middle = low + (high - low) // 2
    levels = Staircase(9, 3, from_the_left, Fraction(1)).levels.tolist()
    assert levels == [high] * 3 + [middle] * 3 + [low] * 3
    widths = np.unique(Staircase(262, 5, from_the_left, Fraction(1)).levels, return_counts=True)
    assert sorted(widths[1].tolist()) == [52, 52, 52, 53, 53]


def test_with_few_items_each_is_a_step_from_the_highest_to_the_lowest():
    levels = Staircase(3, 5, from_the_left, Fraction(2)).levels.tolist()
    assert levels[0] == heaviest(2**24, Fraction(2))
    assert levels[2] == 2**24
    assert levels[0] - levels[1] == pytest.approx(levels[1] - levels[2], abs=1)


def test_a_staircase_gives_the_nearest_the_heaviest_weight():
    locations = scattered(20)
    channel = Staircase(20, 5, NearestLocations(locations, 20), Fraction(3))
    for x in range(20):
        order = np.argsort(locations.distances_km(x), kind="stable")
        assert channel.weights(x)[order].tolist() == channel.levels.tolist()


def test_the_staircase_refuses_an_order_that_leaves_items_out():
    with refused(InvalidArgument, "order_not_a_permutation", size=4):
        Staircase(4, 2, lambda x: np.array([0, 1, 1, 2]), Fraction(1)).weights(0)


@pytest.mark.parametrize(("size", "groups"), [(1, 2), (5, 1)])
def test_refuses_a_staircase_of_one_step(size, groups):
    with refused(InvalidArgument, "staircase_too_small", groups=groups, size=size):
        Staircase(size, groups, np.arange, Fraction(1))


def widest(kind, size, share):
    """Half of the items near, or half as many groups as there are items."""
    rule = {Subset: lambda x: np.arange(size // 2), Staircase: lambda x: np.arange(size)}
    return kind(size, size // 2, rule[kind], share)


@pytest.mark.parametrize("kind", [Subset, Staircase])
@pytest.mark.parametrize(("size", "share"), [(32, 20), (1000, 16), (100_000, 12), (2**20, 9)])
def test_the_largest_shares_add_up_in_63_bits_and_keep_their_loss_in_words(kind, size, share):
    channel = widest(kind, size, Fraction(share))
    weight = channel.weights(0)
    exact = sum(weight.tolist())
    assert exact == int(weight.sum()) == channel.total < 2**63
    assert exp_lower(Fraction(share)) * (1 - Fraction(1, 10**6)) < channel.bound
    least, most = channel.extremes
    assert (least, most) == (Fraction(weight.min(), exact), Fraction(weight.max(), exact))
    assert channel.bound <= words_ratio(least, most) <= exp_lower(Fraction(share))


@pytest.mark.parametrize("kind", [Subset, Staircase])
@pytest.mark.parametrize(("size", "share"), [(36, 20), (1000, 17), (4000, 20), (10**6, 10)])
def test_refuses_a_share_that_words_cannot_keep_apart(kind, size, share):
    with refused(BudgetError, "word_precision_exceeded"):
        widest(kind, size, Fraction(share))


@pytest.mark.parametrize(("size", "excess"), [(4000, 3.4e-8), (10**6, 1.9e-6)])
def test_what_is_refused_would_have_lost_a_hair_more_than_its_share(size, excess, monkeypatch):
    monkeypatch.setattr("nomadp.laws.subset.check_words", lambda lightest, total: None)
    share = Fraction(20)
    lost = words_ratio(*Staircase(size, 5, np.arange, share).extremes) / exp_lower(share) - 1
    assert excess / 4 < lost < 4 * excess


@pytest.mark.parametrize("kind", [Subset, Staircase])
@pytest.mark.parametrize("size", [4, 40, 997])
def test_no_cell_of_a_law_owns_more_or_fewer_words_than_its_extremes_say(kind, size):
    channel = widest(kind, size, Fraction(15))
    ends = np.cumsum(np.append(0, channel.weights(0))).tolist()
    owned = np.diff([-(-end * 2**64 // ends[-1]) for end in ends])
    least, most = channel.extremes
    assert least * 2**64 - 1 < min(owned) <= max(owned) < most * 2**64 + 1
