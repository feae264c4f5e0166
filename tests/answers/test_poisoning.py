"""The worst case of invalid reports is exact, and impossible counts prove invalid reports."""

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
def test_the_worst_invalid_report_moves_an_oracle_estimate_by_exactly_the_bound(epsilon, rule):
    oracle = make_mechanism("visits", LOCATIONS, epsilon, zones="grid:3")
    law, zones = oracle.channel, zones_of(LOCATIONS, rule)
    share_of = label_places(oracle, zones)
    values = np.linspace(1, 2, len(zones)) / np.linspace(1, 2, len(zones)).sum()
    true, other = float(law.true_chance), float(law.other_chance)
    moves = []
    for chosen in combinations(range(law.size), law.entries):  # every possible report
        support = np.isin(np.arange(law.size), chosen)
        estimate = np.bincount(share_of, (support - other) / (true - other))
        moves.append(INVALID_FRACTION * (estimate - values))
    bound = oracle_poisoning(oracle, share_of, values)
    assert bound["increase"] == pytest.approx(min(max(np.max(moves), 0), 1))
    assert bound["decrease"] == pytest.approx(min(max(-np.min(moves), 0), 1))


@pytest.mark.parametrize("name", ["atlas", "brr"])
def test_with_a_fixed_model_the_worst_invalid_report_moves_a_share_by_exactly_the_bound(name):
    if name == "atlas":
        mechanism = Atlas(locations=LOCATIONS, epsilon=6, size=16)
    else:
        mechanism = make_mechanism(name, LOCATIONS, 8)
    model = fit(mechanism, honest(mechanism))
    shares, zones = visit_shares(model, "grid:3"), zones_of(LOCATIONS, "grid:3")
    bootstrap, tally = visit_tally(model, zones)
    ((group,), kind) = bootstrap.groups, type(bootstrap.groups[0].evidence)
    outputs = np.arange(len(group.evidence.channel.outputs))
    support = (group.evidence.support,) if name == "atlas" else ()
    evidence = kind(group.evidence.channel, *support, outputs)
    table, prior = (
        tally(evidence.support).T,
        effective_prior(bootstrap.prior, bootstrap.baseline_prior, group),
    )
    counts = np.zeros(len(outputs))
    counts[group.evidence.reports] = group.counts / group.total
    honest_counts = table @ evidence.expected_counts(prior, counts)
    moves = []
    for output in outputs:
        poisoned = (1 - INVALID_FRACTION) * counts
        poisoned[output] += INVALID_FRACTION
        estimate = table @ evidence.expected_counts(prior, poisoned)
        moves.append(shares.shrinkage_weight * (estimate - honest_counts) / honest_counts.sum())
    assert shares.shrinkage_weight > 0
    bound = fit_poisoning(model, (bootstrap, tally), len(zones), shares.shrinkage_weight)
    assert bound["increase"] == pytest.approx(np.max(moves))
    assert bound["decrease"] == pytest.approx(-np.min(moves))


def test_an_invalid_report_of_the_longest_length_moves_shares_most():
    mechanism = make_mechanism("brr", LOCATIONS, 8)
    law, near = mechanism.identity, [3, 5, 7]
    cells = {(law, 1, value): 300 for value in near} | {(law, 9, value): 30 for value in near}
    alone = {(law, 1, value): 310 for value in near}
    one, both = (fit(mechanism, Counts(each)) for each in (alone, cells))
    increases = []
    for model in (one, both):
        survey = visit_tally(model, zones_of(LOCATIONS, "grid:3"))
        increases.append(
            fit_poisoning(model, survey, len(zones_of(LOCATIONS, "grid:3")), 1.0)["increase"]
        )
    assert increases[1] > 5 * increases[0]


def test_invalid_reports_of_one_time_of_day_move_its_share_most():
    """At a large epsilon a report supports one label, of one time."""
    trips = make_mechanism("trips", LOCATIONS, 8, zones="grid:2", when="day-part")
    true = people()
    true = TrajectorySet(true.offsets, true.locations, true.tids, np.full(len(true), 8))
    model = fit(trips, Counts.of(trips, perturb_set(trips, true, SeededRandom(1))))
    law = trips.channel
    assert law.entries == 1
    span = float(law.true_chance - law.other_chance)
    least = INVALID_FRACTION * (1 - float(law.other_chance)) / span
    estimate = flows(model)
    assert estimate.about["poisoning_1pct"]["increase"] >= least - INVALID_FRACTION * np.min(
        estimate["flow"]
    )


@pytest.mark.parametrize("name", ["atlas", "brr", "exp", "trips", "visits"])
def test_honest_reports_prove_nothing(name):
    options = {"zones": "grid:3"} if name in ("trips", "visits") else {}
    mechanism = make_mechanism(name, LOCATIONS, 2, **options)
    assert invalid_reports_at_least(fit(mechanism, honest(mechanism))) == 0


@pytest.mark.parametrize("name", ["atlas", "brr", "visits"])
def test_a_report_that_is_too_frequent_proves_as_many_invalid_reports_as_chance_allows(name):
    options = {"zones": "grid:3"} if name == "visits" else {}
    mechanism = make_mechanism(name, LOCATIONS, 1, **options)
    length = mechanism.channel.entries if name == "visits" else 1
    cells = {(mechanism.identity, length, value): 500 for value in range(length)}
    model = fit(mechanism, Counts(cells))
    law = mechanism.report_law(length)
    most = law.channel.true_chance if name == "visits" else law.channel.extremes[1]
    trials = law.channel.size if name == "visits" else length
    least = next(
        k for k in range(501) if binom.sf(499 - k, 500, float(most)) >= PROOF_LEVEL / trials
    )
    assert least > 0
    assert invalid_reports_at_least(model) == least * length
