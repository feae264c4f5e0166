"""What every registered mechanism must satisfy: registering one is what gets it tested here."""

import math
from collections import Counter
from fractions import Fraction
from functools import partial
from itertools import permutations, product
from math import prod

import numpy as np
import pytest
from exact_laws import assert_bulk_follows
from many import drawn_many
from refusals import refused
from scipy import stats
from worlds import final_law, part_laws, scattered, triangle

from nomadp.audit import measure
from nomadp.budget import exp_lower
from nomadp.conformance import CHECKS, EPSILONS, keeps_epsilon
from nomadp.errors import DomainError
from nomadp.mechanisms import MECHANISMS, make_mechanism, perturb_one
from nomadp.randomness import SeededRandom
from nomadp.trajectory import TrajectorySet

pytestmark = pytest.mark.parametrize("name", sorted(MECHANISMS))


def coarse(name, locations, epsilon):
    """The mechanism with as few cells as an exact law can be walked with."""
    few = {"resolution": 2, "grid": 2, "zones": "grid:2"}
    options = {option: n for option, n in few.items() if hasattr(MECHANISMS[name], option)}
    return make_mechanism(name, locations, epsilon, **options)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_conforms(name, check):
    check(partial(coarse if check is keeps_epsilon else make_mechanism, name))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_exact_rational_law_keeps_epsilon_without_tolerance(name, epsilon):
    mechanism = coarse(name, triangle(), epsilon)
    laws = [part_laws(mechanism, inputs) for inputs in product(range(3), repeat=2)]
    transcripts = [[transcript for transcript, _ in parts] for parts in laws]
    finals = [final_law(mechanism, parts) for parts in laws]
    assert all(sum(law.values()) == 1 for law in finals)
    found = measure(mechanism, 2)
    worst_transcript = max(
        prod(worst(a, b) for a, b in zip(one, other, strict=True))
        for one, other in permutations(transcripts, 2)
    )
    worst_final = max(worst(a, b) for a, b in permutations(finals, 2))
    assert worst_final <= worst_transcript <= exp_lower(epsilon)
    assert math.log(worst_transcript) == pytest.approx(found.transcript_loss, abs=2e-9)
    assert math.log(worst_final) == pytest.approx(found.final_loss, abs=2e-9)


def worst(law: dict, other: dict) -> Fraction:
    """The largest ratio of two laws, which must be possible in the same places."""
    assert law.keys() == other.keys(), "the support tells inputs apart"
    return max(law[y] / other[y] for y in law)


def test_samples_follow_the_exact_law(name):
    mechanism = coarse(name, triangle(), 4)
    law = final_law(mechanism, part_laws(mechanism, (0, 2)))
    draws = 2_000
    randomness = SeededRandom(7).bound_to(mechanism.identity)
    seen = Counter(perturb_one(mechanism, [0, 2], randomness.stream(k)) for k in range(draws))
    expected = {y: draws * float(p) for y, p in law.items()}
    assert set(seen) <= set(expected)
    statistic = sum((seen[y] - e) ** 2 / e for y, e in expected.items())
    assert statistic <= stats.chi2.isf(1e-6, len(expected) - 1)


@pytest.mark.parametrize("trajectory", [(0, 2), (1,)])
def test_bulk_samples_follow_the_exact_law(name, trajectory):
    mechanism = coarse(name, triangle(), 4)
    assert_bulk_follows(mechanism, trajectory, 4_000)


@pytest.mark.parametrize("length", [1, 2, 4])
def test_bulk_reports_are_single_reports_where_words_are_spent_alike(name, length):
    mechanism = make_mechanism(name, scattered(30), 3)
    if name in ("exp", "tp", "atp"):
        pytest.skip("these kernels accept and reject: other words, the same law")
    if name in ("brr", "l-srr"):
        pytest.skip("a word draws a number among the nearest: the same law in another order")
    rng = np.random.default_rng(4)
    some = TrajectorySet.from_lists(rng.integers(0, 30, (40, length)), size=30)
    alone = [perturb_one(mechanism, some[k], SeededRandom(3).stream(k)) for k in range(40)]
    assert drawn_many(mechanism, some, SeededRandom(3)).tolist() == [
        y for t in alone for y in t
    ]


def test_nobody_gives_no_reports(name):
    nobody = TrajectorySet.from_lists([], size=30)
    assert len(drawn_many(make_mechanism(name, scattered(30), 3), nobody, SeededRandom(2))) == 0


def test_bulk_work_refuses_locations_outside_the_set_without_showing_them(name):
    beyond = TrajectorySet.from_lists([[0, 37]], size=99)
    with refused(DomainError, "unknown_locations", size=30) as refusal:
        drawn_many(make_mechanism(name, scattered(30), 3), beyond, SeededRandom(2))
    assert "37" not in str(refusal.value)


def test_bulk_work_can_be_cut_anywhere(name):
    mechanism = make_mechanism(name, scattered(30), 3)
    rng = np.random.default_rng(1)
    some = TrajectorySet.from_lists(
        [rng.integers(0, 30, n % 5 + 1) for n in range(20)], size=30
    )
    randomness = SeededRandom(2)
    pieces = [
        drawn_many(mechanism, piece, randomness.named(piece.tids)).tolist()
        for piece in (some, some.select(range(7)), some.select(range(7, 20)))
    ]
    assert pieces[1] + pieces[2] == pieces[0]


def test_a_large_epsilon_says_more_than_a_small_one(name):
    locations = scattered(20)
    if MECHANISMS[name].is_oracle:
        pytest.skip("its reports are labels and no locations: their chances are exact")

    def mean_error_km(epsilon):
        mechanism = make_mechanism(name, locations, epsilon)
        randomness = SeededRandom(1)
        reported = [
            perturb_one(mechanism, [k % 20], randomness.stream(k))[0] for k in range(400)
        ]
        return np.mean([locations.distances_km(k % 20)[y] for k, y in enumerate(reported)])

    assert mean_error_km(20) < 0.8 * mean_error_km("0.001")
