"""Shares with uncertainty, drawn towards what somebody without reports would say."""

import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from many import drawn_many
from refusals import refused
from reported import lists, reported
from worlds import scattered

from nomadp.analysis.populations import simulated_reports
from nomadp.errors import DomainError
from nomadp.inference import shares as module
from nomadp.inference.codebook_decoder import possible_trajectories
from nomadp.inference.decode import groups_of
from nomadp.inference.evidence import TrajectoryEvidence
from nomadp.inference.hotspots import cell_shares, location_shares, trip_shares
from nomadp.inference.penalised_likelihood import Group
from nomadp.inference.points import point_evidence
from nomadp.inference.prior import table_of
from nomadp.inference.shares import bootstrap_fit, estimated_shares
from nomadp.mechanisms import make_mechanism
from nomadp.mechanisms.atlas import Atlas
from nomadp.randomness import SeededRandom
from nomadp.trajectory import TrajectorySet
from nomadp.unit_square import UnitSquare

LOCATIONS = scattered(40)
SIZE = 64
"""Of an atlas; all 1600 journeys of two points are possible ones."""


@pytest.fixture(autouse=True)
def fewer_repeats(monkeypatch):
    """Enough to tell noise from signal, in less time."""
    monkeypatch.setattr(module, "REPEATS", 4)


def fixed_rng():
    return np.random.default_rng(0)


def made(name, epsilon):
    if name == "atlas":
        return Atlas(locations=LOCATIONS, epsilon=epsilon, size=SIZE)
    return make_mechanism(name, LOCATIONS, epsilon)


def trips(count, seed=0):
    """From around one location to around another."""
    rng = np.random.default_rng(seed)
    home, work = (np.argsort(LOCATIONS.distances_km(k))[:4] for k in (3, 30))
    rows = np.stack([rng.choice(home, count), rng.choice(work, count)], axis=1)
    return TrajectorySet.from_lists(list(rows), size=40)


def groups(name, epsilon, true, seed=1):
    mechanism = made(name, epsilon)
    drawn = drawn_many(mechanism, true, SeededRandom(seed))
    rows = TrajectorySet(true.offsets, drawn, true.tids)
    return groups_of(mechanism, reported(mechanism, lists(rows)))


def squared_error(values, true):
    return float(((values - true) ** 2).sum())


def visit_errors(name, epsilon, seed=1):
    true = trips(2000)
    some = groups(name, epsilon, true, seed)
    found = location_shares(bootstrap_fit(LOCATIONS, some, np.random.default_rng(0)))
    visits = np.bincount(true.locations, minlength=40) / len(true.locations)
    assert found.values.sum() == pytest.approx(1)
    return squared_error(found.values, visits), squared_error(found.baseline, visits)


@pytest.mark.parametrize("name", ["atlas", "brr", "exp"])
@pytest.mark.parametrize(
    "epsilon", [1, *(pytest.param(each, marks=pytest.mark.slow) for each in ("0.1", 2))]
)
def test_visits_are_on_average_never_estimated_worse_than_flat(name, epsilon):
    errors = [visit_errors(name, epsilon, seed) for seed in range(3)]
    assert np.mean([estimated for estimated, _ in errors]) <= errors[0][1]


def test_visits_are_not_estimated_worse_than_flat_on_a_coarse_atlas(monkeypatch):
    """All visits once went to the few journeys of the atlas."""
    monkeypatch.setattr(sys.modules[__name__], "SIZE", 16)
    estimated, flat = visit_errors("atlas", 1)
    assert estimated <= flat


@pytest.mark.slow
@pytest.mark.parametrize(("name", "epsilon"), [("brr", 4), ("exp", 10)])
def test_visits_are_on_average_estimated_much_better_from_good_reports(name, epsilon):
    errors = [visit_errors(name, epsilon, seed) for seed in range(5)]
    assert np.mean([estimated for estimated, _ in errors]) < 0.9 * errors[0][1]


def test_visits_are_estimated_better_than_counted():
    true = trips(2000)
    mechanism = made("atlas", 2)
    reported = drawn_many(mechanism, true, SeededRandom(1))
    found = location_shares(
        bootstrap_fit(LOCATIONS, groups("atlas", 2, true), np.random.default_rng(0))
    )
    visits, counted = (
        np.bincount(each, minlength=40) / len(each) for each in (true.locations, reported)
    )
    assert squared_error(found.values, visits) < squared_error(counted, visits)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(each, marks=pytest.mark.slow) for each in (1, 2))]
)
@pytest.mark.parametrize(("name", "epsilon"), [("atlas", 1), ("atlas", 6), ("brr", 1)])
def test_people_who_go_anywhere_are_found_anywhere(name, epsilon, seed):
    everywhere = np.random.default_rng(seed).integers(0, 40, (2000, 2))
    true = TrajectorySet.from_lists(list(everywhere), size=40)
    asked = bootstrap_fit(LOCATIONS, groups(name, epsilon, true, seed), fixed_rng())
    assert asked.prior.effect_std is None
    found = location_shares(asked)
    assert found.shrinkage_weight == 0.0
    assert (found.values == found.baseline).all()


@pytest.mark.parametrize("epsilon", [4, pytest.param(8, marks=pytest.mark.slow)])
def test_trips_of_people_who_go_nearly_anywhere_are_not_estimated_worse_than_flat(epsilon):
    """They were made out to take steps that nobody takes: six times as wrong as flat.

    Possible truths are a sample, so that the hundredth part of all trips may be misplaced.
    """
    places = scattered(300)
    rows = np.random.default_rng(1).integers(0, 300, (60_000, 2))
    rows[::10, 1] = np.arange(6000) % 30
    mechanism = make_mechanism("atlas", places, epsilon)
    counts = simulated_reports(mechanism.channel(2), rows, np.ones(len(rows), int), fixed_rng())
    evidence = TrajectoryEvidence(
        mechanism.channel(2),
        possible_trajectories(mechanism.channel(2)),
        np.arange(len(counts)),
    )
    asked = bootstrap_fit(places, [Group(evidence, counts.astype(float))], fixed_rng())
    assert asked.prior.effect_std is not None
    cell = UnitSquare(places).cells(3)[rows]
    true = np.bincount(9 * cell[:, 0] + cell[:, 1], minlength=81) / len(rows)
    found = trip_shares(asked, 3)
    assert np.abs(found.values - true).sum() < np.abs(found.baseline - true).sum() + 0.02


def test_two_journeys_tell_of_no_steps_however_many_report():
    """One number was taken to prove the public walk, and trips were five times as wrong."""
    places = scattered(300)
    channel = make_mechanism("atlas", places, 1).channel(2)
    assert channel.size == 2
    rows = np.random.default_rng(1).integers(0, 300, (20_000, 2))
    away = np.argsort(places.distances_km(int(channel.atlas.codewords[0, 0])))[-30:]
    rows[::10, 1] = np.tile(away, 67)[:2000]
    counts = simulated_reports(channel, rows, np.full(len(rows), 150), fixed_rng())
    evidence = TrajectoryEvidence(channel, possible_trajectories(channel), np.arange(2))
    asked = bootstrap_fit(places, [Group(evidence, counts.astype(float))], fixed_rng())
    assert asked.prior.effect_std is not None
    assert asked.points_independent
    cell = UnitSquare(places).cells(3)[rows]
    true = np.bincount(9 * cell[:, 0] + cell[:, 1], minlength=81) / len(rows)
    found = trip_shares(asked, 3)
    assert np.abs(found.values - true).sum() < np.abs(found.baseline - true).sum() + 0.02


def test_people_in_one_spot_are_found_there():
    true = TrajectorySet.from_lists([[7, 7]] * 1000, size=40)
    asked = bootstrap_fit(LOCATIONS, groups("brr", 4, true), fixed_rng())
    assert asked.prior.effect_std is not None
    found = location_shares(asked)
    assert found.shrinkage_weight > 0.5
    assert found.values.argmax() == 7


def test_trips_and_cells_are_estimated_better_than_flat():
    true, rng = trips(2000), np.random.default_rng(0)
    cell = UnitSquare(LOCATIONS).cells(3)
    ends = cell[true.locations.reshape(-1, 2)]
    flow = np.bincount(9 * ends[:, 0] + ends[:, 1], minlength=81) / len(true)
    some = groups("atlas", 4, true)
    found = trip_shares(bootstrap_fit(LOCATIONS, some, rng), 3)
    assert found.baseline.sum() == pytest.approx(1)
    assert squared_error(found.values, flow) < 0.8 * squared_error(found.baseline, flow)
    density = np.bincount(cell[true.locations], minlength=9) / len(true.locations)
    found = cell_shares(bootstrap_fit(LOCATIONS, some, rng), 3)
    assert squared_error(found.values, density) < 0.8 * squared_error(found.baseline, density)


def test_more_reports_mean_less_uncertainty():
    few, many = (
        location_shares(bootstrap_fit(LOCATIONS, groups("brr", 8, trips(count)), fixed_rng()))
        for count in (1000, 20_000)
    )
    assert np.linalg.norm(many.std_error) < 0.9 * np.linalg.norm(few.std_error)
    assert many.shrinkage_weight > few.shrinkage_weight > 0


def test_what_reports_cannot_resolve_is_left_open():
    blind, seeing = (
        location_shares(
            bootstrap_fit(LOCATIONS, groups("brr", epsilon, trips(2000)), fixed_rng())
        )
        for epsilon in ("0.1", 20)
    )
    assert blind.std_error == pytest.approx(blind.baseline, rel=0.1)  # as large as the share
    hot = seeing.values > 0.05
    assert (seeing.std_error[hot] < 0.5 * seeing.values[hot]).all()


@pytest.mark.parametrize("epsilon", [2, pytest.param(6, marks=pytest.mark.slow)])
def test_intervals_hold_the_truth_about_as_often_as_they_say(epsilon):
    true = trips(2000)
    cell = UnitSquare(LOCATIONS).cells(3)
    density = np.bincount(cell[true.locations], minlength=9) / len(true.locations)
    held = []
    for seed in range(3):
        asked = bootstrap_fit(LOCATIONS, groups("atlas", epsilon, true, seed), fixed_rng())
        found = cell_shares(asked, 3)
        held += (np.abs(found.values - density) <= 2 * found.std_error).tolist()
    assert np.mean(held) > 0.75


def test_shares_of_a_report_are_its_posterior():
    mechanism = made("brr", 4)
    evidence = point_evidence(mechanism.report_law(1), np.arange(40))
    prior = np.random.default_rng(1).dirichlet(np.ones(40))
    label = np.arange(40) % 7
    table = table_of(label[:, None], 7).T.tocsr()
    mass = evidence.posterior(prior, np.arange(40), 40, slice(3, 9))
    expected = np.stack([np.bincount(label, row, 7) for row in mass])
    assert evidence.label_shares(prior, table, slice(3, 9)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("epsilon", [1, 8])
def test_shares_of_a_journey_are_its_posterior(epsilon):
    (group,) = groups("atlas", epsilon, trips(300))
    evidence = group.evidence
    prior = np.random.default_rng(1).dirichlet(np.ones(len(evidence.support)))
    table = table_of(evidence.support[:, :1], 40).T.tocsr()
    mass = evidence.posterior(prior, evidence.support[:, 0], 40, slice(0, 20))
    assert evidence.label_shares(prior, table, slice(0, 20)) == pytest.approx(mass, abs=1e-6)


def test_the_variance_is_that_of_learning_of_chance_and_of_what_is_left_open(monkeypatch):
    true = trips(400)
    learned = bootstrap_fit(LOCATIONS, groups("brr", 6, true), fixed_rng())
    tally, places = partial(table_of, size=40), np.ones(40, dtype=np.int64)

    def variance(bootstrap):
        return estimated_shares(bootstrap, tally, places).std_error ** 2

    whole = variance(learned)
    monkeypatch.setattr(
        module, "_unresolved_variance", lambda values, *_: np.zeros(len(values))
    )
    resolved = variance(learned)
    assert (whole > resolved).all()
    always = replace(learned, resamples=((learned.groups, learned.prior),) * 4)
    found = estimated_shares(always, tally, places)
    assert np.allclose(found.std_error**2, found.values / 800)
    again = [replace(learned, groups=g, prior=p) for g, p in learned.resamples]
    tables = [tally(group.evidence.support).T.tocsr() for group in learned.groups]
    counts = [module._expected_counts(one.prior, learned, one.groups, tables) for one in again]
    effect_std = np.var([each / each.sum() for each in counts], axis=0, ddof=1)
    values = estimated_shares(learned, tally, places).values
    assert np.allclose(resolved, effect_std + values / 800)
    assert effect_std.min() > 0


@pytest.mark.parametrize(
    ("variance", "kept"), [(0.0, 1.0), (9.0, 0.64), (12.5, 0.0), (100.0, 0.0)]
)
def test_keeps_what_chance_does_not_explain(variance, kept):
    assert module._james_stein_weight(np.array([3.0, 4.0]), variance) == pytest.approx(kept)


def test_keeps_nothing_where_nothing_differs():
    assert module._james_stein_weight(np.zeros(3), 0.0) == 0.0


def test_a_tally_counts_what_each_row_names():
    assert table_of(np.array([[0, 2, 2], [1, 1, 1]]), 3).toarray().tolist() == [
        [1, 0, 2],
        [0, 3, 0],
    ]


def test_points_perturbed_on_their_own_tell_of_no_trips():
    with refused(DomainError, "reports_of_points"):
        trip_shares(
            bootstrap_fit(LOCATIONS, groups("brr", 4, trips(50)), np.random.default_rng(0)),
            3,
        )


def test_a_share_of_everything_is_certain():
    found = cell_shares(bootstrap_fit(LOCATIONS, groups("brr", 4, trips(200)), fixed_rng()), 1)
    assert found.values.tolist() == [1.0]
    assert np.isfinite(found.std_error).all()
