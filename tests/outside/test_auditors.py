"""Auditors that others wrote find what our own audit finds, and nothing beyond epsilon.

`dp_accounting` computes the loss of two laws by its own arithmetic; `privacy_estimates` bounds
the loss from below by how well an attack tells two journeys apart, from reports alone: to it a
mechanism is a black box. LDP-Auditor and dp-recorder are not run: no index we tried offers
them. None is needed to use NomaDP: `python3 dev.py outside` makes an environment for them.
"""

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from many import drawn_many
from worlds import final_law, part_laws, triangle

from nomadp.audit import GALLERY, measure
from nomadp.laws.projective import best_space
from nomadp.mechanisms import MECHANISMS, make_mechanism
from nomadp.randomness import SeededRandom
from nomadp.trajectory import TrajectorySet

REASON = "an auditor of others; python3 dev.py outside makes its environment"
accounting = pytest.importorskip(
    "dp_accounting.pld.privacy_loss_distribution", reason=REASON, exc_type=ImportError
)
estimates = pytest.importorskip("privacy_estimates", reason=REASON, exc_type=ImportError)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("default"),  # what they warn of is theirs
]
LENGTH = 2
OURS = {
    "exp": {},
    "tp": {"granularity": 4},
    "atp": {"granularity": 4, "resolution": 2},
    "brr": {},
    "l-srr": {},
    "ngram": {},
    "atlas": {},
    **{name: {"zones": "grid:30"} for name in ("trips", "starts", "ends", "visits")},
    "starts, projective": {"zones": "grid:30"},
}
"""Every mechanism, and the law of labels that only long reports get."""
STEP = 1e-4
"""To so much their accountant rounds a loss, up."""
DRAWS = 40_000
CHANCE = 1e-6
"""How rarely a mechanism that keeps epsilon may be taken for one that does not."""


def built(name, epsilon):
    kind, *law = name.split(", ")
    mechanism = make_mechanism(kind, triangle(), epsilon=epsilon, **OURS[name])
    if law:
        vars(mechanism)["channel"] = best_space(mechanism.label_count, mechanism.epsilon)
    return mechanism


def test_every_mechanism_is_looked_at():
    assert {name.split(", ")[0] for name in OURS} == MECHANISMS.keys()


def exact_laws(mechanism):
    """For every journey of two points, how probable each report is."""
    size = len(mechanism.locations)
    journeys = product(range(size), repeat=LENGTH)
    return {
        journey: final_law(mechanism, part_laws(mechanism, np.array(journey)))
        for journey in journeys
    }


def their_loss(laws):
    """The largest epsilon at which their accountant is content with a delta of nought."""
    logs = [
        {report: math.log(chance) for report, chance in law.items() if chance}
        for law in laws.values()
    ]
    return max(
        accounting.from_two_probability_mass_functions(
            lower, upper, value_discretization_interval=STEP, symmetric=False
        ).get_epsilon_for_delta(0)
        for lower, upper in combinations(logs, 2)
    )


@pytest.mark.parametrize("epsilon", ["1/2", "2"])
@pytest.mark.parametrize("name", OURS)
def test_their_accountant_finds_the_loss_that_our_audit_finds(name, epsilon):
    mechanism = built(name, epsilon)
    theirs = their_loss(exact_laws(mechanism))
    assert theirs <= Fraction(epsilon) + STEP
    assert theirs == pytest.approx(measure(mechanism, LENGTH).final_loss, abs=STEP)


def attack(first, second):
    """Which reports to take for the first journey's, as half of them teach it."""
    teaching = [Counter(map(tuple, half[::2])) for half in (first, second)]
    reports = sorted(
        set(teaching[0]) | set(teaching[1]),
        key=lambda each: (teaching[0][each] + 1) / (teaching[1][each] + 1),
        reverse=True,
    )
    # Of all thresholds the one that looks worst; the other half of the reports judges it.
    best, chosen, hits, misses = -math.inf, 1, 0, 0
    for count, report in enumerate(reports[:-1], start=1):
        hits, misses = hits + teaching[0][report], misses + teaching[1][report]
        seen = math.log((hits + 1) / (misses + 1)) - 2 / math.sqrt(misses + 1)
        if seen > best:
            best, chosen = seen, count
    return set(reports[:chosen])


def lower_bound(first, second):
    """Below which epsilon is not, but for `CHANCE`, by their interval and our attack."""
    taken = attack(first, second)
    right = sum(tuple(each) in taken for each in first[1::2])
    wrong = sum(tuple(each) in taken for each in second[1::2])
    many = len(first[1::2])
    counted = estimates.AttackResults(FN=many - right, FP=wrong, TN=many - wrong, TP=right)
    return estimates.compute_eps_lo(counted, delta=0.0, alpha=CHANCE, method="beta")


def worst_pair(laws):
    """The two journeys whose reports can differ most."""
    return max(
        permutations(laws, 2),
        key=lambda pair: max(
            chance / laws[pair[1]].get(report, 0) if laws[pair[1]].get(report) else math.inf
            for report, chance in laws[pair[0]].items()
            if chance
        ),
    )


def reported(mechanism, journey):
    """Reports of one journey, as the fast path draws many."""
    many = TrajectorySet.from_lists([list(journey)] * DRAWS, size=len(mechanism.locations))
    drawn = drawn_many(mechanism, many, SeededRandom(journey[0] * 10 + journey[1]))
    return drawn.reshape(DRAWS, -1).tolist()


@pytest.mark.parametrize("name", OURS)
def test_no_attack_tells_journeys_apart_better_than_epsilon_allows(name):
    mechanism = built(name, 1)
    pair = worst_pair(exact_laws(mechanism))
    found = lower_bound(*(reported(mechanism, journey) for journey in pair))
    assert found <= mechanism.epsilon


def test_the_attack_finds_what_is_wrong_on_purpose():
    mechanism = GALLERY["union"].build(Fraction(1, 2))
    laws = exact_laws(mechanism)
    found = lower_bound(*(sampled(laws[journey]) for journey in worst_pair(laws)))
    assert found > mechanism.epsilon


@pytest.mark.parametrize("name", ["exp", "atlas", "starts"])
def test_the_attack_finds_reports_of_which_half_are_the_truth(name):
    """As a black box: what it sees are the reports of a path that leaks."""
    mechanism = built(name, Fraction(1, 2))
    pair = worst_pair(exact_laws(mechanism))
    many = [reported(mechanism, journey) for journey in pair]
    for reports, journey in zip(many, pair, strict=True):
        law = exact_laws(mechanism)[journey]
        reports[::4] = [list(max(law, key=law.get))] * len(reports[::4])
        reports[1::4] = reports[::4]
    assert lower_bound(*many) > mechanism.epsilon


def sampled(law):
    """Reports of a mechanism that no client can reach, drawn from its exact law."""
    reports = sorted(law)
    weight = np.array([float(law[each]) for each in reports])
    drawn = np.random.default_rng(5).choice(len(reports), DRAWS, p=weight / weight.sum())
    return [reports[each] for each in drawn]
