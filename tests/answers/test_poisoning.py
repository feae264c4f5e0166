"""What fakes can do is said exactly, and counts that nobody honest makes give them away."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom
from worlds import scattered

from nomadp.answers import flows
from nomadp.answers.poisoning import (
    INVALID_FRACTION,
    PROOF_LEVEL,
    fit_poisoning,
    invalid_reports_at_least,
    oracle_poisoning,
)
from nomadp.engine import perturb_set
from nomadp.inference import shares as shares_module
from nomadp.inference.hotspots import visit_shares, visit_tally
from nomadp.inference.model import fit
from nomadp.inference.oracle_shares import label_places
from nomadp.inference.shares import effective_prior
from nomadp.mechanisms import make_mechanism
from nomadp.mechanisms.atlas import Atlas
from nomadp.randomness import SeededRandom
from nomadp.reports import Counts
from nomadp.trajectory import TrajectorySet
from nomadp.zones import zones_of

LOCATIONS = scattered(40)


@pytest.fixture(autouse=True)
def fewer_repeats(monkeypatch):
    monkeypatch.setattr(shares_module, "REPEATS", 3)


def people(count=400, seed=0):
    rng = np.random.default_rng(seed)
    rows = [np.argsort(LOCATIONS.distances_km(int(rng.integers(3))))[:2] for _ in range(count)]
    return TrajectorySet.from_lists(rows, size=40)


def honest(mechanism, count=400):
    return Counts.of(mechanism, perturb_set(mechanism, people(count), SeededRandom(1)))


@pytest.mark.parametrize("epsilon", ["0.5", 1, 4])
@pytest.mark.parametrize("rule", ["grid:3", "grid:1"])
def test_the_worst_of_all_fakes_moves_a_direct_answer_as_far_as_is_said(epsilon, rule):
    question = make_mechanism("visits", LOCATIONS, epsilon, zones="grid:3")
    law, zones = question.channel, zones_of(LOCATIONS, rule)
    asked = label_places(question, zones)
    values = np.linspace(1, 2, len(zones)) / np.linspace(1, 2, len(zones)).sum()
    true, other = float(law.true_chance), float(law.other_chance)
    moves = []
    for chosen in combinations(range(law.size), law.entries):  # every report there is
        support = np.isin(np.arange(law.size), chosen)
        told = np.bincount(asked, (support - other) / (true - other))
        moves.append(INVALID_FRACTION * (told - values))
    found = oracle_poisoning(question, asked, values)
    assert found["increase"] == pytest.approx(min(max(np.max(moves), 0), 1))
    assert found["decrease"] == pytest.approx(min(max(-np.min(moves), 0), 1))


@pytest.mark.parametrize("name", ["atlas", "brr"])
def test_with_what_was_learned_held_fixed_the_worst_fake_moves_as_far_as_is_said(name):
    if name == "atlas":
        mechanism = Atlas(locations=LOCATIONS, epsilon=6, size=16)
    else:
        mechanism = make_mechanism(name, LOCATIONS, 8)
    learned = fit(mechanism, honest(mechanism))
    shares, zones = visit_shares(learned, "grid:3"), zones_of(LOCATIONS, "grid:3")
    bootstrap, tally = visit_tally(learned, zones)
    ((group,), kind) = bootstrap.groups, type(bootstrap.groups[0].evidence)
    every = np.arange(len(group.evidence.channel.outputs))
    more = (group.evidence.support,) if name == "atlas" else ()
    evidence = kind(group.evidence.channel, *more, every)
    table, prior = (
        tally(evidence.support).T,
        effective_prior(bootstrap.prior, bootstrap.baseline_prior, group),
    )
    counts = np.zeros(len(every))
    counts[group.evidence.reports] = group.counts / group.total
    was = table @ evidence.expected_counts(prior, counts)
    moves = []
    for one in every:
        faked = (1 - INVALID_FRACTION) * counts
        faked[one] += INVALID_FRACTION
        told = table @ evidence.expected_counts(prior, faked)
        moves.append(shares.shrinkage_weight * (told - was) / was.sum())
    assert shares.shrinkage_weight > 0
    found = fit_poisoning(learned, (bootstrap, tally), len(zones), shares.shrinkage_weight)
    assert found["increase"] == pytest.approx(np.max(moves))
    assert found["decrease"] == pytest.approx(-np.min(moves))


def test_a_fake_of_the_longest_length_weighs_most():
    mechanism = make_mechanism("brr", LOCATIONS, 8)
    law, near = mechanism.identity, [3, 5, 7]
    cells = {(law, 1, value): 300 for value in near} | {(law, 9, value): 30 for value in near}
    alone = {(law, 1, value): 310 for value in near}
    one, both = (fit(mechanism, Counts(each)) for each in (alone, cells))
    up = []
    for learned in (one, both):
        asked = visit_tally(learned, zones_of(LOCATIONS, "grid:3"))
        up.append(
            fit_poisoning(learned, asked, len(zones_of(LOCATIONS, "grid:3")), 1.0)["increase"]
        )
    assert up[1] > 5 * up[0]


def test_fakes_of_one_time_move_it_farther_than_all_times_together():
    """At a large epsilon a report supports one label, of one time."""
    trips = make_mechanism("trips", LOCATIONS, 8, zones="grid:2", when="day-part")
    true = people()
    true = TrajectorySet(true.offsets, true.locations, true.tids, np.full(len(true), 8))
    learned = fit(trips, Counts.of(trips, perturb_set(trips, true, SeededRandom(1))))
    law = trips.channel
    assert law.entries == 1
    span = float(law.true_chance - law.other_chance)
    least = INVALID_FRACTION * (1 - float(law.other_chance)) / span
    answer = flows(learned)
    assert answer.about["poisoning_1pct"]["increase"] >= least - INVALID_FRACTION * np.min(
        answer["flow"]
    )


@pytest.mark.parametrize("name", ["atlas", "brr", "exp", "trips", "visits"])
def test_honest_reports_prove_nothing(name):
    options = {"zones": "grid:3"} if name in ("trips", "visits") else {}
    mechanism = make_mechanism(name, LOCATIONS, 2, **options)
    assert invalid_reports_at_least(fit(mechanism, honest(mechanism))) == 0


@pytest.mark.parametrize("name", ["atlas", "brr", "visits"])
def test_a_report_that_came_too_often_proves_as_many_fakes_as_chance_leaves(name):
    options = {"zones": "grid:3"} if name == "visits" else {}
    mechanism = make_mechanism(name, LOCATIONS, 1, **options)
    length = mechanism.channel.entries if name == "visits" else 1
    cells = {(mechanism.identity, length, value): 500 for value in range(length)}
    learned = fit(mechanism, Counts(cells))
    law = mechanism.report_law(length)
    most = law.channel.true_chance if name == "visits" else law.channel.extremes[1]
    trials = law.channel.size if name == "visits" else length
    least = next(
        k for k in range(501) if binom.sf(499 - k, 500, float(most)) >= PROOF_LEVEL / trials
    )
    assert least > 0
    assert invalid_reports_at_least(learned) == least * length
