"""Counts on worlds small enough for a sheet of paper, floors against brute force."""

from itertools import product

import numpy as np
import pytest
from refusals import refused

from nomadp.analysis.hotspots import (
    count_difference,
    equal_counts_difference,
    expected_deviation,
    hotspot_recall,
    uniform_count_difference,
    uniform_hotspot_recall,
    visit_counts,
)
from nomadp.errors import DomainError, InvalidArgument
from nomadp.locations import LocationSet
from nomadp.trajectory import TrajectorySet

A, B, C, D = range(4)
TRUE = [[A, A, A], [B, B], [C]]  # 3, 2, 1 and 0 visits
REPORTED = [[A, B, D], [B, B], [D]]  # 1, 3, 0 and 2


@pytest.fixture
def square() -> LocationSet:
    return LocationSet.from_columns("abcd", [0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0])


def journeys(*lists: list[int]) -> TrajectorySet:
    return TrajectorySet.from_lists(list(lists), size=4)


def test_counts_every_point_and_every_location(square: LocationSet) -> None:
    assert visit_counts(square, journeys(*TRUE)).tolist() == [3, 2, 1, 0]


@pytest.mark.parametrize(("share", "difference"), [(0.5, (2 + 1) / 2), (1.0, 6 / 4)])
def test_counts_differ_over_the_most_visited_locations(
    square: LocationSet, share: float, difference: float
) -> None:
    found = count_difference(square, journeys(*TRUE), journeys(*REPORTED), share)
    assert found == difference


def test_a_share_is_rounded_up_to_whole_locations(square: LocationSet) -> None:
    # Half a location is one: only A, which is off by 2.
    assert count_difference(square, journeys(*TRUE), journeys(*REPORTED), 0.1) == 2


def test_a_share_is_not_misled_by_binary_fractions() -> None:
    hundred = LocationSet.from_columns(map(str, range(100)), np.zeros(100), np.arange(100) / 9)
    true = TrajectorySet.from_lists([list(range(100))], size=100)
    shifted = TrajectorySet.from_lists([[*range(7), *[99] * 93]], size=100)
    # Seven of a hundred, all reported right; the eighth is not.
    assert count_difference(hundred, true, shifted, 0.07) == 0


@pytest.mark.parametrize("share", [0.0, -0.5, 1.5, float("nan")])
def test_refuses_a_share_that_is_none(square: LocationSet, share: float) -> None:
    with refused(InvalidArgument, "share_out_of_range", share=share):
        count_difference(square, journeys(*TRUE), journeys(*TRUE), share)


def test_the_flat_estimate_gives_every_location_the_same(square: LocationSet) -> None:
    # Six points over four places: 1.5 each, off by 1.5 and 0.5.
    assert equal_counts_difference(square, journeys(*TRUE), 0.5) == (1.5 + 0.5) / 2


def test_uniform_counts_agree_with_every_possible_answer(square: LocationSet) -> None:
    true = journeys([A, A], [B])
    every = [
        count_difference(square, true, journeys(list(answer[:2]), [answer[2]]), 0.75)
        for answer in product(range(4), repeat=3)
    ]
    assert uniform_count_difference(square, true, 0.75) == pytest.approx(np.mean(every))


@pytest.mark.parametrize("chance", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("draws", [1, 2, 5])
def test_the_expected_deviation_is_that_of_a_binomial(draws: int, chance: float) -> None:
    from scipy.stats import binom

    x = np.arange(draws + 1)
    count = np.arange(draws + 3)
    direct = [(binom.pmf(x, draws, chance) * np.abs(x - c)).sum() for c in count]
    found = expected_deviation(count, draws, np.array(chance))
    assert found == pytest.approx(direct, abs=1e-12)


def test_recall_is_the_share_of_hotspots_found(square: LocationSet) -> None:
    # Truly A and B; reported B and D.
    assert hotspot_recall(square, journeys(*TRUE), journeys(*REPORTED), 2) == 0.5
    assert hotspot_recall(square, journeys(*TRUE), journeys(*REPORTED), 1) == 0.0


def test_a_perfect_report_finds_every_hotspot_even_if_they_tie(square: LocationSet) -> None:
    true = journeys([A, B, C])  # any two of three are the two busiest
    assert hotspot_recall(square, true, true, 2) == 1.0


def test_equally_reported_locations_are_drawn_at_random(square: LocationSet) -> None:
    # Nothing but D is reported, so the second place is A, B or C with equal chance.
    everything_at_d = journeys([D, D, D], [D, D], [D])
    found = hotspot_recall(square, journeys(*TRUE), everything_at_d, 2)
    assert found == pytest.approx((0 + 2 / 3) / 2)


def test_uniform_recall_is_the_share_of_locations_that_are_hotspots(
    square: LocationSet,
) -> None:
    assert uniform_hotspot_recall(square, journeys(*TRUE), 2) == 2 / 4
    assert uniform_hotspot_recall(square, journeys([A, B, C]), 1) == 3 / 4


def test_more_hotspots_than_locations_are_all_of_them(square: LocationSet) -> None:
    assert hotspot_recall(square, journeys(*TRUE), journeys(*REPORTED), 9) == 1.0
    assert uniform_hotspot_recall(square, journeys(*TRUE), 9) == 1.0


def test_refuses_reports_of_other_trajectories(square: LocationSet) -> None:
    with refused(DomainError, "lengths_differ"):
        count_difference(square, journeys([A, B]), journeys([A]), 1.0)
