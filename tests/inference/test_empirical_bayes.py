"""Learning where people go: a known truth is found, and nothing where there is none."""

from fractions import Fraction

import numpy as np
import pytest
from many import drawn_numbers
from refusals import refused
from worlds import scattered

from nomadp.errors import DomainError, InvalidArgument
from nomadp.inference import empirical_bayes as module
from nomadp.inference import maximise, penalised_likelihood
from nomadp.inference.codebook_decoder import possible_trajectories
from nomadp.inference.empirical_bayes import Fitter, Group, fit_prior_to_groups
from nomadp.inference.evidence import TableEvidence, TrajectoryEvidence
from nomadp.inference.penalised_likelihood import Fit
from nomadp.inference.prior import Features, Prior
from nomadp.laws import probabilities
from nomadp.mechanisms import make_mechanism
from nomadp.mechanisms.atlas import Atlas
from nomadp.randomness import SeededRandom
from nomadp.trajectory import TrajectorySet

POPULARITY = np.array([0.4, 0.05, 0.25, 0.1, 0.1, 0.1])
FREE = 30.0
"""A spread so wide that nothing is held back."""


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
    reports = drawn_numbers(mechanism, true, SeededRandom(seed))
    distinct, counts = np.unique(reports, return_counts=True)
    channel = mechanism.channel(rows.shape[1])
    evidence = TrajectoryEvidence(channel, possible_trajectories(channel), distinct)
    return Group(evidence, counts.astype(float))


def commuters(locations, count, length, seed=0):
    """Everybody starts at the first location and ends at one of its three nearest."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, len(locations), (count, length))
    rows[:, 0] = 0
    rows[:, -1] = np.argsort(locations.distances_km(0))[rng.integers(1, 4, count)]
    return rows


def exactly(monkeypatch):
    """Learning that goes on for as long as anything is gained."""
    monkeypatch.setattr(maximise, "TOLERANCE", 0.0)
    monkeypatch.setattr(maximise, "ROUNDS_MAX", 5_000)


def log_chance(group, prior):
    """How well each distinct report of a group is foretold."""
    return np.log(group.evidence.marginals(prior.weights(group.evidence.support)))


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1, 4, 10])
@pytest.mark.parametrize("effect_std", [0.05, 30.0])
def test_every_round_raises_the_likelihood(epsilon, effect_std):
    mechanism = Atlas(locations=scattered(40), epsilon=epsilon, size=24)
    groups = [
        atlas_group(mechanism, commuters(mechanism.locations, 300, length)) for length in (2, 5)
    ]
    history = fit_prior_to_groups(mechanism.locations, groups, effect_std).history
    assert len(history) > 2
    assert (np.diff(history) >= 0).all()


def test_the_likelihood_shown_is_that_of_the_reports():
    channel = make_mechanism("brr", scattered(6), 2).channel(Fraction(2))
    reported = drawn(channel, 500, 1)
    found = fit_prior_to_groups(scattered(6), [point_group(channel, reported)], FREE)
    chance = found.location_weights() @ probabilities(channel, np.arange(6))
    # The penalty is what is left: scores of a few, over the square of the spread.
    assert found.history[-1] == pytest.approx(np.log(chance[reported]).mean(), abs=1e-5)


def test_with_free_scores_it_is_the_exact_inverse_of_the_law(monkeypatch):
    exactly(monkeypatch)
    channel = make_mechanism("brr", scattered(6), 4).channel(Fraction(4))
    reported = drawn(channel, 100_000, 2)
    found = fit_prior_to_groups(
        scattered(6), [point_group(channel, reported)], FREE
    ).location_weights()
    share = np.bincount(reported, minlength=6) / len(reported)
    inverse = np.linalg.solve(probabilities(channel, np.arange(6)).T, share)
    assert inverse.min() > 0  # else the likeliest popularity is not the inverse
    assert found == pytest.approx(inverse, abs=1e-5)


def test_recovers_a_known_popularity_from_shares_of_several_sizes(monkeypatch):
    exactly(monkeypatch)
    draws, information, groups = 50_000, np.zeros((5, 5)), []
    for seed, share in enumerate((Fraction(2), Fraction(4))):
        channel = make_mechanism("brr", scattered(6), 4).channel(share)
        groups.append(point_group(channel, drawn(channel, draws, seed)))
        law = probabilities(channel, np.arange(6))
        slope = law[:5] - law[5]  # five shares are free, the last is what they leave
        information += draws * slope @ np.diag(1 / (POPULARITY @ law)) @ slope.T
    found = fit_prior_to_groups(scattered(6), groups, FREE).location_weights()
    deviation = np.sqrt(np.diag(np.linalg.inv(information)))  # the Cramer-Rao bound
    assert (np.abs(found - POPULARITY)[:5] <= 5 * deviation).all()


def test_few_reports_leave_the_prior_near_flat_and_many_do_not():
    channel = make_mechanism("brr", scattered(6), 4).channel(Fraction(4))
    away = [
        np.abs(
            fit_prior_to_groups(
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
    mechanism = Atlas(locations=locations, epsilon=8, size=32)
    rows = np.zeros((2_000, 2), dtype=np.int64)  # nobody ever leaves the first location
    found = fit_prior_to_groups(locations, [atlas_group(mechanism, rows)], 0.2)
    weights = found.weights(np.array([[0, 0, 0], [7, 21, 30], [20, 20, 20]]))
    assert weights.argmax() == 0
    assert weights[0] > 0.9


def test_lengths_and_epsilons_are_learned_from_together():
    locations = scattered(40)
    groups = [
        atlas_group(
            Atlas(locations=locations, epsilon=epsilon, size=24),
            commuters(locations, 500, length),
        )
        for epsilon, length in ((2, 2), (6, 3))
    ]
    support = groups[1].evidence.support
    # Noisy reports tell of the district where everybody starts, not of the very place.
    starts = np.isin(support[:, 0], np.argsort(locations.distances_km(0))[:4])
    both, alone = (
        fit_prior_to_groups(locations, some, 0.2).weights(support)[starts].sum()
        for some in (groups, groups[:1])
    )
    assert both > alone > 2 * starts.mean()


def test_says_whether_it_settled(monkeypatch):
    channel = make_mechanism("brr", scattered(6), 4).channel(Fraction(4))
    groups = [point_group(channel, drawn(channel, 1000, 1))]
    assert fit_prior_to_groups(scattered(6), groups).converged
    assert fit_prior_to_groups(scattered(6), groups, 0.2).converged
    monkeypatch.setattr(maximise, "ROUNDS_MAX", 1)
    stopped = fit_prior_to_groups(scattered(6), groups, 0.2)
    assert not stopped.converged
    assert len(stopped.history) == 2


def test_every_journey_has_each_level_at_each_point_and_each_step_and_their_mean_once():
    features = Features(scattered(30))
    turned = features.table(np.array([[0, 3, 3], [5, 6, 7]])).T
    table = np.stack([turned @ journey for journey in np.eye(2)])
    assert table.shape == (2, len(features))
    assert (table.sum(axis=1) == 3 * len(features.levels) + 2 + 1).all()
    assert table[0, features.first_step] >= 1  # staying is a step of the shortest kind
    assert table[0, features.levels[-1, 3]] == 2


def test_refuses_to_learn_from_nothing():
    channel = make_mechanism("brr", scattered(6), 4).channel(Fraction(4))
    with refused(DomainError, "no_reports"):
        fit_prior_to_groups(
            scattered(6), [Group(TableEvidence(channel, np.arange(6)), np.zeros(6))]
        )


@pytest.mark.parametrize("effect_std", [-0.1, np.nan, np.inf, -np.inf])
def test_refuses_a_spread_that_is_none(effect_std):
    channel = make_mechanism("brr", scattered(6), 4).channel(Fraction(4))
    with refused(InvalidArgument, "spread_out_of_range"):
        fit_prior_to_groups(scattered(6), [point_group(channel, np.arange(6))], effect_std)


@pytest.mark.parametrize("effect_std", [0.0, 0.07, 1.5])
def test_a_spread_that_is_given_is_used(effect_std):
    channel = make_mechanism("brr", scattered(6), 4).channel(Fraction(4))
    group = point_group(channel, drawn(channel, 2_000, 3))
    found = fit_prior_to_groups(scattered(6), [group], effect_std)
    assert found.effect_std == effect_std
    rows = [penalised_likelihood.with_features(Features(scattered(6)), group.evidence)]
    fit = penalised_likelihood.fit_scores(rows, [group.counts], effect_std)
    assert found.location_weights() == pytest.approx(
        penalised_likelihood.softmax(rows[0].matrix @ fit.scores), rel=1e-9
    )


@pytest.mark.parametrize("epsilon", [1, 3, 8])
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(each, marks=pytest.mark.slow) for each in (1, 2))]
)
def test_people_who_go_anywhere_tell_of_no_place(epsilon, seed):
    locations = scattered(40)
    rows = np.random.default_rng(seed).integers(0, 40, (1_000, 2))
    mechanism = Atlas(locations=locations, epsilon=epsilon, size=32)
    learner = Fitter(locations, [atlas_group(mechanism, rows, seed)])
    assert learner.effect_std is None
    assert learner.fit().effect_std is None
    assert learner.points_independent


@pytest.mark.slow
def test_people_who_go_anywhere_but_to_one_place_take_no_steps_that_are_learned():
    """What steps reports of few journeys seem to tell of, they only tell of the public walk."""
    locations = scattered(200)
    rows = np.random.default_rng(0).integers(0, 200, (40_000, 2))
    rows[::8] = 7
    mechanism = Atlas(locations=locations, epsilon=4)
    learner = Fitter(locations, [atlas_group(mechanism, rows)])
    assert learner.effect_std is not None
    assert learner.points_independent
    support = possible_trajectories(mechanism.channel(2))
    apart_km = locations.distances_between_km(*support.T)
    uniform_km = locations.distances_between_km(*rows[1::8].T).mean()
    assert learner.baseline_prior().weights(support) @ apart_km == pytest.approx(
        uniform_km, rel=0.06
    )


def test_a_small_claim_that_fails_keeps_no_bolder_one_from_being_tried(monkeypatch):
    locations = scattered(20)
    tried: list[float] = []

    def foretold(self, fits):
        return np.full(1, float(len(tried) > 3))

    def by_halves(self, halves, effect_std, starts):
        tried.append(effect_std)
        return Fit(*np.zeros((2, len(self._features)))), Fit(
            *np.zeros((2, len(self._features)))
        )

    monkeypatch.setattr(Fitter, "_held_out_log_likelihoods", foretold)
    monkeypatch.setattr(Fitter, "_fit_halves", by_halves)
    monkeypatch.setattr(module, "_is_better", lambda found, before, halves: found > before)
    group = point_group(
        make_mechanism("brr", locations, 4).channel(Fraction(4)), np.full(99, 2)
    )
    assert Fitter(locations, [group]).effect_std == module.EFFECT_STDS[-1]
    assert tuple(tried) == module.EFFECT_STDS


@pytest.mark.parametrize("count", [1, 2, 3, module.REPORTS_MIN - 1])
def test_a_handful_of_reports_tells_nothing_even_if_they_agree(count):
    channel = make_mechanism("brr", scattered(6), 4).channel(Fraction(4))
    found = fit_prior_to_groups(scattered(6), [point_group(channel, np.full(count, 2))])
    assert found.effect_std is None
    assert found.location_weights() == pytest.approx(np.full(6, 1 / 6), rel=1e-12)
    given = fit_prior_to_groups(scattered(6), [point_group(channel, np.full(count, 2))], 0.1)
    assert given.location_weights().argmax() == 2


@pytest.mark.parametrize("epsilon", [2, 6])
def test_people_in_one_spot_tell_of_it(epsilon):
    locations = scattered(40)
    mechanism = Atlas(locations=locations, epsilon=epsilon, size=32)
    rows = np.full((1_000, 2), 7)
    found = fit_prior_to_groups(locations, [atlas_group(mechanism, rows)])
    assert found.effect_std == max(module.EFFECT_STDS)
    weights, away_km = found.location_weights(), locations.distances_km(7)
    assert weights @ away_km < 0.9 * away_km.mean()


def everywhere(locations, count, length, seed=0):
    return np.random.default_rng(seed).integers(0, len(locations), (count, length))


@pytest.mark.parametrize("people", [commuters, everywhere])
@pytest.mark.parametrize("epsilon", [pytest.param("0.1", marks=pytest.mark.slow), 1, 4])
def test_reports_not_learned_from_are_foretold_no_worse_than_by_the_walk(people, epsilon):
    locations = scattered(40)
    mechanism = Atlas(locations=locations, epsilon=epsilon, size=32)
    found = fit_prior_to_groups(
        locations, [atlas_group(mechanism, people(locations, 300, 3, 1), 1)]
    )
    later = atlas_group(mechanism, people(locations, 2_000, 3, 2), 2)
    walk = Prior(found.features, np.zeros(len(found.features)))
    gains = log_chance(later, found) - log_chance(later, walk)
    mean = later.counts @ gains / later.total
    deviation = np.sqrt(later.counts @ (gains - mean) ** 2)
    assert later.counts @ gains >= -3 * deviation  # all that chance may take away
    if (
        epsilon == 4
    ):  # then even people everywhere differ from the walk, and no place is made up
        assert later.counts @ gains > 5 * deviation


def test_a_bolder_claim_must_foretell_better_beyond_chance():
    halves = [np.array([40.0, 60.0])], [np.array([60.0, 40.0])]
    before = np.zeros(4)
    assert not module._is_better(before, before, halves)
    assert module._is_better(np.full(4, 1e-3), before, halves)  # a little, but every time
    mixed = np.array([1.0, -1.0, 1.0, -1.0])  # by one half's fit, then by the other's
    # The first fit foretells the second half, 60 and 40; the second the first, 40 and 60.
    assert not module._is_better(mixed, before, halves)
    assert module._is_better(mixed * [1, 1, -1, -1], before, halves)
    assert not module._is_better(-mixed * [1, 1, -1, -1], before, halves)


def test_each_report_is_in_one_half():
    counts = [np.array([0.0, 1.0, 1000.0]), np.array([5.0])]
    one, other = module._halves(counts)
    for all_, some, rest in zip(counts, one, other, strict=True):
        assert (some + rest == all_).all()
        assert ((some >= 0) & (some <= all_)).all()
    assert one[0][2] == pytest.approx(500, abs=5 * np.sqrt(250))


def test_progress_is_told_of_every_piece():
    channel = make_mechanism("brr", scattered(6), 4).channel(Fraction(4))
    group = point_group(channel, drawn(channel, 5_000, 1))
    pieces = []
    learner = Fitter(scattered(6), [group], 0.1, pieces.append)
    learner.fit()
    assert pieces == [1]
    learner.fit([group])
    assert pieces == [1, 1]
    pieces.clear()
    found = fit_prior_to_groups(scattered(6), [group], progress=pieces.append)
    chosen = module.EFFECT_STDS.index(found.effect_std)
    tried = min(chosen + 2, len(module.EFFECT_STDS))  # up to the first that was too bold
    assert pieces == [1] * (2 * tried + 1)  # by halves, then from all


def test_resampled_reports_are_learned_from_with_the_same_spread():
    channel = make_mechanism("brr", scattered(6), 4).channel(Fraction(4))
    group = point_group(channel, drawn(channel, 5_000, 1))
    learner = Fitter(scattered(6), [group])
    rolled = Group(group.evidence, np.roll(group.counts, 1))
    again = learner.fit([rolled])
    assert again.effect_std == learner.effect_std > 0
    alone = fit_prior_to_groups(scattered(6), [rolled], learner.effect_std)
    assert again.location_weights() == pytest.approx(alone.location_weights(), abs=1e-3)
    assert np.abs(again.location_weights() - learner.fit().location_weights()).max() > 0.05
