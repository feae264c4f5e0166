"""Shares of labels asked for directly: unbiased, of known error, and drawn towards flat."""

from itertools import combinations
from math import comb, sqrt

import numpy as np
import pytest
from asked import chances, every_label, supports
from refusals import refused

from nomadp.analysis.hotspots import jensen_shannon
from nomadp.errors import DomainError, InvalidArgument
from nomadp.inference.frequencies import Levels, nearest_shares, oracle_shares, pair_levels

HALVES = [np.arange(16) // 8, np.arange(16) // 4, np.arange(16) // 2]
CITY = np.array([40, 1, 1, 1, 20, 10, 0, 0, 0, 0, 0, 0, 12, 12, 2, 1]) / 100
"""Shares of sixteen zones in a row: a centre, a suburb, and fields where nobody is."""


def asked_of(city, total, epsilon, seed, levels=HALVES):
    """What people with these shares (counted in whole people) are estimated to have."""
    rng = np.random.default_rng(seed)
    people = rng.multinomial(total, city)
    count, p, q = chances(len(city), epsilon)
    support = supports(people, count, p, rng)
    found = oracle_shares(support, total, p, q, every_label(len(city), levels))
    return found, people / total


def exact_moments(groups, true):
    """Mean and variance of each group's estimate from one report, by enumeration."""
    size, count = len(groups), 2
    _, p, q = chances(size, 1.0, count)
    values, weights = [], []
    for chosen in combinations(range(size), count):
        inside = true in chosen
        outcomes = comb(size - 1, count - 1) if inside else comb(size - 1, count)
        support = np.isin(np.arange(size), chosen).astype(np.int64)
        levels = Levels((), np.full(size, 1 / size), groups)
        values.append(oracle_shares(support, 1, p, q, levels).unbiased)
        weights.append((p if inside else 1 - p) / outcomes)
    mean = np.average(values, axis=0, weights=weights)
    return mean, np.average((values - mean) ** 2, axis=0, weights=weights)


@pytest.mark.parametrize("groups", [np.arange(5), np.array([0, 0, 1, 1, 1]), np.zeros(5, int)])
@pytest.mark.parametrize("true", range(5))
def test_the_estimate_is_unbiased_and_its_variance_is_the_stated_one(groups, true):
    mean, variance = exact_moments(groups, true)
    share = np.bincount(groups, np.arange(5) == true)
    _, p, q = chances(5, 1.0, 2)
    support = np.ones(5, dtype=np.int64)
    levels = Levels((), np.full(5, 0.2), groups)
    stated = oracle_shares(support, 1, p, q, levels)
    assert mean == pytest.approx(share)
    assert stated.variance_at_zero + stated.variance_slope * share == pytest.approx(
        variance, abs=1e-12
    )


def test_the_variance_of_a_label_is_that_of_the_specification():
    _, p, q = chances(16, 2.0)
    found = oracle_shares(np.full(16, 40), 100, p, q, every_label(16))
    share = 0.3
    stated = (q * (1 - q) + share * (1 - p - q) * (p - q)) / (100 * (p - q) ** 2)
    assert found.variance_at_zero + found.variance_slope * share == pytest.approx(
        np.full(16, stated)
    )


def test_a_deviation_counts_who_happened_to_report():
    found = oracle_shares(np.array([60, 20, 20, 0]), 100, 1.0, 0.0, every_label(4))
    by_chance = found.values * (1 - found.values) / 100
    assert found.std_error == pytest.approx(np.sqrt(by_chance))


def test_the_variance_is_met_by_reports():
    """A sample variance of n normal values strays by sqrt(2 / n): three of that is 1 %."""
    rng, (_, p, q) = np.random.default_rng(1), chances(16, 2.0)
    people, draws = (CITY * 2000).astype(np.int64), 180_000
    hits = rng.binomial(people, p, (draws, 16)) + rng.binomial(2000 - people, q, (draws, 16))
    found = (hits / 2000 - q) / (p - q)
    stated = oracle_shares(hits[0], 2000, p, q, every_label(len(hits[0])))
    wanted = stated.variance_at_zero + stated.variance_slope * CITY
    assert np.abs(found.var(axis=0) / wanted - 1).max() < 0.01
    assert 3 * sqrt(2 / draws) < 0.0101


def test_values_add_up_and_none_is_below_zero():
    for epsilon in (0.5, 2, 6):
        found, _ = asked_of(CITY, 500, epsilon, seed=1)
        assert found.values.sum() == pytest.approx(1)
        assert (found.values >= 0).all()
        assert found.unbiased.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("values", "nearest"),
    [
        ([0.2, 0.8], [0.2, 0.8]),
        ([0.7, 0.5, -0.2], [0.6, 0.4, 0.0]),
        ([1.5, -0.5, 0.0], [1.0, 0.0, 0.0]),
        ([0.0, 0.0], [0.5, 0.5]),
    ],
)
def test_the_nearest_shares_are_less_by_the_same(values, nearest):
    assert nearest_shares(np.array(values)) == pytest.approx(nearest)


def test_zones_that_were_counted_empty_are_nearly_so():
    """Half of what splitting leaves in them, when nearly all of it is kept."""
    found, true = asked_of(CITY, 20_000, 6, seed=1)
    counted = nearest_shares(found.unbiased)
    errors = [np.abs(each - true).sum() for each in (found.values, counted)]
    assert found.shrinkage_weight > 0.99
    assert errors[0] < 1.1 * errors[1]


def test_one_label_has_everything():
    found = oracle_shares(np.array([7]), 7, 1.0, 0.0, every_label(1))
    assert found.values.tolist() == [1.0]
    low, high = found.interval()
    assert (low[0], high[0]) == (pytest.approx(1), pytest.approx(1))


def test_reports_that_tell_nothing_leave_what_is_public():
    _, p, q = chances(4, 0.1)
    public = np.array([0.4, 0.3, 0.2, 0.1])
    levels = Levels((np.array([0, 0, 1, 1]),), public, np.arange(4))
    support = np.round(100 * (q + public * (p - q))).astype(np.int64)
    found = oracle_shares(support, 100, p, q, levels)
    assert found.values == pytest.approx(public, rel=0.02)
    assert (found.shrinkage_weight, found.baseline) == (
        pytest.approx(0, abs=0.05),
        pytest.approx(public),
    )


@pytest.mark.slow
def test_many_reports_are_taken_as_they_are():
    found, true = asked_of(CITY, 1_000_000, 8, seed=1)
    assert np.abs(found.values - true).max() < 4 * found.std_error.max()
    assert found.shrinkage_weight > 0.99
    assert found.values[6:12].sum() < 1e-3  # the fields


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
def test_few_reports_are_on_average_not_worse_than_flat(epsilon):
    """Beyond three standard errors of the mean difference, over fixed seeds."""
    city = np.full(16, 1 / 16) + np.tile([0.01, -0.01], 8)
    worse = []
    for seed in range(60):
        found, true = asked_of(city, 200, epsilon, seed)
        errors = [((each - true) ** 2).sum() for each in (found.values, found.baseline)]
        worse.append(errors[0] - errors[1])
    assert np.mean(worse) <= 3 * np.std(worse) / sqrt(60)


@pytest.mark.parametrize("epsilon", [1, 2, 4, 8])
def test_few_people_of_a_nearly_flat_city_are_not_told_worse_than_flat(epsilon):
    """Where people go, not where those went who reported; by relative errors, too."""
    city = np.full(64, 1 / 64) * np.tile([1.2, 0.8, 1.0, 1.0], 16)
    levels = [np.arange(64) // 2**k for k in range(5, 0, -1)]
    worse = []
    for seed in range(60):
        found, _ = asked_of(city, 1000, epsilon, seed, levels)
        worse.append(jensen_shannon(city, found.values) - jensen_shannon(city, found.baseline))
    assert np.mean(worse) <= 3 * np.std(worse, ddof=1) / sqrt(60)


def test_chance_in_who_reports_is_not_taken_for_where_people_go():
    """Reports without any noise, of people who go everywhere alike."""
    seen, people = np.random.default_rng(1), every_label(16, HALVES)
    claims = [
        oracle_shares(
            seen.multinomial(1000, np.full(16, 1 / 16)), 1000, 1.0, 0.0, people
        ).shrinkage_weight
        for _ in range(100)
    ]
    assert np.count_nonzero(claims) <= 10


def test_what_is_told_hardly_beyond_chance_is_hardly_believed():
    """One label is supported ever more: first nothing is said of it, then little, then more."""
    _, p, q = chances(16, 2.0)
    kept = []
    for more in range(0, 240, 8):
        support = np.full(16, round(1000 * q + (p - q) * 1000 / 16))
        support[5] += more
        kept.append(
            oracle_shares(support, 1000, p, q, every_label(16, HALVES)).shrinkage_weight
        )
    assert kept[0] == 0
    assert 0 < min(each for each in kept if each) < 0.5
    assert kept[-1] > 0.9


def test_nothing_is_claimed_that_may_be_chance():
    """One report in sixteen is from each label; a claim is twenty to one by chance at most."""
    found = [asked_of(np.full(16, 1 / 16), 300, 1, seed)[0] for seed in range(60)]
    claimed = sum(not np.array_equal(each.values, each.baseline) for each in found)
    assert claimed <= 3 + 3 * sqrt(3)  # of 60, three of them expected


def test_resolutions_help_against_labels_alone():
    errors = []
    for levels in (HALVES, []):
        found = [asked_of(CITY, 3000, 1, seed, levels) for seed in range(30)]
        errors.append(np.mean([np.abs(each.values - true).sum() for each, true in found]))
    assert errors[0] < 0.95 * errors[1]


def test_an_asked_group_is_answered_as_one():
    _, p, q = chances(4, 3.0)
    support = np.array([60, 30, 20, 10])
    levels = Levels((), np.full(4, 0.25), np.array([0, 0, 1, 1]))
    found = oracle_shares(support, 100, p, q, levels)
    alone = oracle_shares(support, 100, p, q, every_label(4))
    assert found.unbiased == pytest.approx([alone.unbiased[:2].sum(), alone.unbiased[2:].sum()])
    assert len(found.values) == len(found.baseline) == 2


def test_pairs_are_grouped_by_how_far_apart_they_are_and_then_ever_finer():
    apart = np.array([[0, 1, 2, 2], [1, 0, 1, 2], [2, 1, 0, 1], [2, 2, 1, 0]])
    levels = pair_levels([np.array([0, 0, 1, 1])], apart)
    assert levels[0].tolist() == apart.reshape(-1).tolist()
    counts = [len(np.unique(level)) for level in levels]
    assert counts == [3, 6, 8, 14, 16]
    nested = every_label(16, levels)  # or it is refused
    found = oracle_shares(np.full(16, 5), 10, 0.6, 0.4, nested)
    assert len(found.values) == 16


@pytest.mark.parametrize(
    ("support", "total", "code"),
    [
        ([1, 2], 0, "no_reports"),
        ([1, 12], 10, "support_out_of_range"),
        ([-1, 2], 10, "support_out_of_range"),
    ],
)
def test_impossible_counts_are_refused(support, total, code):
    with refused(DomainError, code):
        oracle_shares(np.array(support), total, 0.6, 0.4, every_label(len(support)))


def test_levels_that_are_not_nested_are_refused():
    levels = every_label(3, [np.array([0, 0, 1]), np.array([0, 1, 1])])
    with refused(InvalidArgument, "levels_not_nested"):
        oracle_shares(np.array([1, 2, 3]), 5, 0.6, 0.4, levels)


@pytest.mark.parametrize("short", ["groups", "baseline", "target"])
def test_levels_of_other_labels_are_refused(short):
    parts = {"groups": (np.array([0, 1, 1]),), "baseline": np.ones(3), "target": np.arange(3)}
    parts[short] = (np.array([0, 1]),) if short == "groups" else parts[short][:2]
    with refused(InvalidArgument, "incomplete_levels"):
        oracle_shares(np.array([1, 2, 3]), 5, 0.6, 0.4, Levels(**parts))


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "total"), [(1, 3000), (4, 3000), (4, 30_000), (8, 3000)])
def test_intervals_of_all_zones_hold_the_truth_as_often_as_they_say(epsilon, total):
    """Of where people go, whoever of them reports."""
    held = []
    for seed in range(200):
        low, high = asked_of(CITY, total, epsilon, seed)[0].interval(0.9)
        held.append((low <= CITY) & (high >= CITY))
    assert 0.88 <= np.mean(held) <= 0.92
