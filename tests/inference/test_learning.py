"""Learning where people go: the likelihood never falls, and a known truth is found."""

from fractions import Fraction

import numpy as np
import pytest
from worlds import scattered

from nomadp.inference import learning as module
from nomadp.inference.evidence import JourneyEvidence, TableEvidence
from nomadp.inference.journeys import possible_journeys
from nomadp.inference.learning import Group, Learner, learn
from nomadp.inference.prior import Features
from nomadp.laws import probabilities
from nomadp.mechanisms import make_mechanism
from nomadp.mechanisms.atlas import WholeJourney
from nomadp.randomness import SeededWords
from nomadp.trajectory import TrajectorySet

POPULARITY = np.array([0.4, 0.05, 0.25, 0.1, 0.1, 0.1])


def point_group(channel, reported):
    reports, counts = np.unique(reported, return_counts=True)
    return Group(TableEvidence(channel, reports), counts.astype(float))


def drawn(channel, draws, seed):
    """Reports of people who are where POPULARITY says."""
    rng = np.random.default_rng(seed)
    law = POPULARITY @ probabilities(channel, np.arange(6))
    return rng.choice(6, draws, p=law)


def atlas_group(mechanism, rows, seed=0):
    true = TrajectorySet.from_lists(list(rows), size=len(mechanism.locations))
    reports = mechanism.report_many(true, SeededWords(seed))
    distinct, counts = np.unique(reports, return_counts=True)
    channel = mechanism.channel(rows.shape[1])
    evidence = JourneyEvidence(channel, possible_journeys(channel), distinct)
    return Group(evidence, counts.astype(float))


def commuters(locations, count, length, seed=0):
    """Everybody starts at the first location and ends at one of its three nearest."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, len(locations), (count, length))
    rows[:, 0] = 0
    rows[:, -1] = np.argsort(locations.distances_km(0))[rng.integers(1, 4, count)]
    return rows


@pytest.mark.parametrize("epsilon", [1, 4, 10])
@pytest.mark.parametrize("pseudo", [0.0, 300.0])
def test_every_round_raises_the_likelihood(epsilon, pseudo):
    mechanism = WholeJourney(locations=scattered(40), epsilon=epsilon, size=128)
    groups = [
        atlas_group(mechanism, commuters(mechanism.locations, 300, length))
        for length in (2, 3, 5)
    ]
    history = learn(mechanism.locations, groups, pseudo).history
    assert len(history) > 2
    assert (np.diff(history) >= 0).all()


def test_a_step_that_is_too_bold_is_taken_back():
    mechanism = WholeJourney(locations=scattered(40), epsilon=10, size=512)
    group = atlas_group(mechanism, commuters(mechanism.locations, 500, 4))
    learner = Learner(mechanism.locations, [group], 0.0)
    start = np.zeros(len(learner._features))
    ascent = module._Ascent(learner._rows, 0.0, learner._safe, start)
    ascent.step = 50.0
    assert ascent.climb() > 0
    assert learner._safe <= ascent.step < 50.0


def test_the_likelihood_shown_is_that_of_the_reports():
    channel = make_mechanism("brr", scattered(6), 2).channel(Fraction(2))
    reported = drawn(channel, 500, 1)
    found = learn(scattered(6), [point_group(channel, reported)], 0.0)
    chance = found.location_weights() @ probabilities(channel, np.arange(6))
    assert found.history[-1] == pytest.approx(np.log(chance[reported]).mean(), rel=1e-9)


def test_without_made_up_journeys_it_is_the_exact_inverse_of_the_law(monkeypatch):
    monkeypatch.setattr(module, "STOP_PART", 0.0)
    monkeypatch.setattr(module, "ROUNDS_MAX", 5_000)
    channel = make_mechanism("brr", scattered(6), 4).channel(Fraction(4))
    reported = drawn(channel, 100_000, 2)
    found = learn(scattered(6), [point_group(channel, reported)], 0.0).location_weights()
    share = np.bincount(reported, minlength=6) / len(reported)
    inverse = np.linalg.solve(probabilities(channel, np.arange(6)).T, share)
    assert inverse.min() > 0  # else the likeliest popularity is not the inverse
    assert found == pytest.approx(inverse, abs=1e-5)


def test_recovers_a_known_popularity_from_shares_of_several_sizes(monkeypatch):
    monkeypatch.setattr(module, "STOP_PART", 0.0)
    monkeypatch.setattr(module, "ROUNDS_MAX", 5_000)
    draws, information, groups = 50_000, np.zeros((5, 5)), []
    for seed, share in enumerate((Fraction(2), Fraction(4))):
        channel = make_mechanism("brr", scattered(6), 4).channel(share)
        groups.append(point_group(channel, drawn(channel, draws, seed)))
        law = probabilities(channel, np.arange(6))
        slope = law[:5] - law[5]  # five shares are free, the last is what they leave
        information += draws * slope @ np.diag(1 / (POPULARITY @ law)) @ slope.T
    found = learn(scattered(6), groups, 0.0).location_weights()
    deviation = np.sqrt(np.diag(np.linalg.inv(information)))  # the Cramer-Rao bound
    assert (np.abs(found - POPULARITY)[:5] <= 5 * deviation).all()


def test_few_reports_leave_the_prior_near_flat_and_many_do_not():
    channel = make_mechanism("brr", scattered(6), 4).channel(Fraction(4))
    away = [
        np.abs(
            learn(
                scattered(6), [point_group(channel, drawn(channel, draws, 3))]
            ).location_weights()
            - 1 / 6
        ).sum()
        for draws in (10, 100_000)
    ]
    assert away[0] < 0.1 * away[1]
    assert away[1] > 0.8 * np.abs(POPULARITY - 1 / 6).sum()


def test_one_prior_serves_lengths_it_was_not_learned_from():
    locations = scattered(40)
    mechanism = WholeJourney(locations=locations, epsilon=8, size=256)
    rows = np.zeros((2_000, 2), dtype=np.int64)  # nobody ever leaves the first location
    found = learn(locations, [atlas_group(mechanism, rows)])
    weights = found.weights(np.array([[0, 0, 0], [7, 21, 30], [20, 20, 20]]))
    assert weights.argmax() == 0
    assert weights[0] > 0.9


def test_lengths_and_epsilons_are_learned_from_together():
    locations = scattered(40)
    groups = [
        atlas_group(
            WholeJourney(locations=locations, epsilon=epsilon, size=128),
            commuters(locations, 500, length),
        )
        for epsilon, length in ((2, 2), (6, 3))
    ]
    support = groups[1].evidence.support
    first = np.bincount(support[:, 0], weights=learn(locations, groups).weights(support))
    alone = np.bincount(support[:, 0], weights=learn(locations, groups[:1]).weights(support))
    flat = np.bincount(support[:, 0]) / len(support)
    assert first[0] > alone[0] > flat[0]


def test_says_whether_it_settled(monkeypatch):
    channel = make_mechanism("brr", scattered(6), 4).channel(Fraction(4))
    groups = [point_group(channel, drawn(channel, 1000, 1))]
    assert learn(scattered(6), groups).settled
    monkeypatch.setattr(module, "ROUNDS_MAX", 1)
    stopped = learn(scattered(6), groups)
    assert not stopped.settled
    assert len(stopped.history) == 2


def test_every_journey_has_each_level_at_each_point_and_each_step_once():
    features = Features(scattered(30))
    table = features.of(np.array([[0, 3, 3], [5, 6, 7]])).toarray()
    assert table.shape == (2, len(features))
    assert (table.sum(axis=1) == 3 * len(features.levels) + 2).all()
    assert table[0, features.first_step] >= 1  # staying is a step of the shortest kind
    assert table[0, features.levels[-1, 3]] == 2


def test_refuses_to_learn_from_nothing():
    channel = make_mechanism("brr", scattered(6), 4).channel(Fraction(4))
    with pytest.raises(ValueError, match="at least one report"):
        learn(scattered(6), [Group(TableEvidence(channel, np.arange(6)), np.zeros(6))])
