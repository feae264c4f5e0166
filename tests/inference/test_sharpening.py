"""Weights for every possible truth: as reports say where there are many, else as the base."""

from fractions import Fraction

import numpy as np
import pytest
from worlds import scattered

from nomadp.inference.evidence import JourneyEvidence, TableEvidence
from nomadp.inference.fitting import prepared
from nomadp.inference.learning import Group, learn
from nomadp.inference.prior import Features
from nomadp.inference.sharpening import pools
from nomadp.laws import probabilities
from nomadp.mechanisms import make_mechanism
from nomadp.mechanisms.atlas import WholeJourney

PLACES = scattered(6)
EVERY = np.arange(6)
TRUE = np.array([0.4, 0.05, 0.25, 0.1, 0.1, 0.1])
FLAT = np.full(6, 1 / 6)


def point_channel(epsilon):
    return make_mechanism("brr", PLACES, epsilon).channel(Fraction(epsilon))


def pool_of(*channels):
    evidence = [TableEvidence(channel, EVERY) for channel in channels]
    return pools([prepared(Features(PLACES), each) for each in evidence])[0]


def expected(channel, people):
    return people * TRUE @ probabilities(channel, EVERY)


def journeys(epsilon=4):
    """All 36 journeys of two points as truths and as reports; the law can be inverted."""
    channel = WholeJourney(locations=PLACES, epsilon=epsilon, size=36, near_count=1).channel(2)
    support = np.indices((6, 6)).reshape(2, -1).T
    evidence = JourneyEvidence(channel, support, np.arange(channel.atlas.size))
    return evidence, probabilities(channel, support.T)


def there_and_there(support):
    """Half of all people go from 0 to 1, the others from 2 to 3."""
    return 0.5 * ((support == [0, 1]).all(axis=1) | (support == [2, 3]).all(axis=1))


@pytest.mark.parametrize("epsilon", [2, 4])
def test_of_expected_reports_the_truth_is_found_when_a_base_is_worth_nothing(epsilon):
    channel = point_channel(epsilon)
    found = pool_of(channel).sharpened([expected(channel, 1e6)], FLAT, 1e-3)
    assert found == pytest.approx(TRUE, abs=1e-3)


def test_several_laws_with_the_same_truths_are_heard_together():
    channels = [point_channel(2), point_channel(4)]
    counts = [expected(channel, 50_000) for channel in channels]
    pool = pool_of(*channels)
    assert pool.members == (0, 1)
    assert pool.sharpened(counts, FLAT, 1.0) == pytest.approx(TRUE, abs=0.01)


def test_truths_of_other_lengths_are_another_pool():
    evidence = [journeys()[0], TableEvidence(point_channel(4), EVERY), journeys(2)[0]]
    found = pools([prepared(Features(PLACES), each) for each in evidence])
    assert [pool.members for pool in found] == [(0, 2), (1,)]


@pytest.mark.parametrize("worth", [500.0, 4e4, 4e7])
def test_reports_that_cannot_err_and_a_base_are_added_up(worth):
    counts = 1000 * np.array([7.0, 0.0, 1.0, 30.0, 2.0, 0.0])
    found = pool_of(point_channel(20)).sharpened([counts], TRUE, worth)
    assert found == pytest.approx((counts + worth * TRUE) / (40_000 + worth), rel=1e-2)


@pytest.mark.parametrize("worth", [3.0, 300.0])
def test_no_other_weights_are_likelier(worth):
    rng = np.random.default_rng(0)
    pool, counts = pool_of(point_channel(3)), rng.integers(1, 90, 6).astype(float)
    found = pool.sharpened([counts], FLAT, worth)

    def value(weights):
        return counts @ pool.log_chances(weights) + worth * FLAT @ np.log(weights)

    others = rng.dirichlet(np.full(6, 50.0), 200) * 0.02 + found * 0.98
    assert value(found) >= max(map(value, others)) - 1e-6


def test_where_people_go_from_where_is_learned_from_many_reports():
    """Cells and steps alone took two trips for the four between their ends."""
    evidence, law = journeys()
    true = there_and_there(evidence.support)
    reports = Group(evidence, np.rint(50_000 * true @ law))
    found = learn(PLACES, [reports])
    assert found.weights(evidence.support)[true > 0].sum() > 0.9
    fitted = learn(PLACES, [reports], 0.1)
    assert fitted.weights(evidence.support)[true > 0].sum() < 0.6


def test_the_error_falls_with_the_number_of_people():
    evidence, law = journeys(2)
    true = np.random.default_rng(3).dirichlet(np.full(36, 0.3))
    away = []
    for people in (3_000, 300_000):
        reports = Group(evidence, np.rint(people * true @ law))
        away.append(np.abs(learn(PLACES, [reports]).weights(evidence.support) - true).sum())
    assert away[1] < away[0] / 4


def test_a_length_of_which_hardly_anybody_reports_keeps_the_weights_of_all():
    evidence, law = journeys()
    many = Group(evidence, np.rint(50_000 * there_and_there(evidence.support) @ law))
    few = Group(TableEvidence(point_channel(4), EVERY), np.array([0, 0, 0, 9.0, 0, 0]))
    found = learn(PLACES, [many, few])
    assert [len(support) for support, _ in found.sharpened] == [36]


def test_where_nothing_is_learned_a_prior_is_public():
    channel = point_channel("0.1")
    found = learn(PLACES, [Group(TableEvidence(channel, EVERY), expected(channel, 100))])
    assert found.is_public
    assert not learn(PLACES, [Group(TableEvidence(channel, EVERY), np.ones(6))], 1.0).is_public
