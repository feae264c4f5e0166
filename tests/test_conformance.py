"""What every registered mechanism must satisfy: registering one is what gets it tested here."""

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from math import prod

import numpy as np
import pytest
from exact_laws import assert_bulk_follows
from many import drawn_many
from scipy import stats
from worlds import final_law, part_laws, scattered, small_map, triangle

from nomadp.audit import measure
from nomadp.budget import exp_lower
from nomadp.errors import BudgetError, DomainError
from nomadp.mechanisms import MECHANISMS, make_mechanism, perturb_one
from nomadp.randomness import SeededWords, WordStream
from nomadp.trajectory import TrajectorySet

EPSILONS = [Fraction(1, 10), Fraction(1), Fraction(4)]
pytestmark = pytest.mark.parametrize("name", sorted(MECHANISMS))


def coarse(name, locations, epsilon):
    """The mechanism with as few cells as an exact law can be walked with."""
    few = {"resolution": 2, "grid": 2}
    options = {option: n for option, n in few.items() if hasattr(MECHANISMS[name], option)}
    return make_mechanism(name, locations, epsilon, **options)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("length", [1, 2, 3])
def test_the_audited_loss_is_within_epsilon(name, epsilon, length):
    found = measure(coarse(name, small_map(), epsilon), length)
    assert found.flags == ()
    assert found.spent == {epsilon}
    assert found.transcript_loss <= epsilon
    assert found.final_loss <= found.transcript_loss + 1e-9  # floats of the same exact numbers


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


@pytest.mark.parametrize("length", [1, 2, 3, 8])
def test_the_split_is_what_the_program_spends(name, length):
    mechanism = make_mechanism(name, scattered(30), 2)
    spent: Counter = Counter()

    class Listening:
        def __call__(self, step, channel, secret):
            if channel.share:
                spent[step, channel.share] += 1
            return int(channel.outputs[0])

        def each(self, tasks):
            return [program(secret, self) for program, secret in tasks]

    mechanism.perturb(np.arange(length), Listening())
    told: Counter = Counter()
    for step in mechanism.split(length).steps:
        told[step.name, step.share] += step.count
    assert spent == told


def test_samples_follow_the_exact_law(name):
    mechanism = coarse(name, triangle(), 4)
    law = final_law(mechanism, part_laws(mechanism, (0, 2)))
    draws = 4_000
    words = SeededWords(7).bound_to(mechanism.identity)
    seen = Counter(perturb_one(mechanism, [0, 2], words.stream(k)) for k in range(draws))
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
    alone = [perturb_one(mechanism, some[k], SeededWords(3).stream(k)) for k in range(40)]
    assert drawn_many(mechanism, some, SeededWords(3)).tolist() == [y for t in alone for y in t]


def test_nobody_gives_no_reports(name):
    nobody = TrajectorySet.from_lists([], size=30)
    assert len(drawn_many(make_mechanism(name, scattered(30), 3), nobody, SeededWords(2))) == 0


def test_bulk_work_refuses_locations_outside_the_set_without_showing_them(name):
    beyond = TrajectorySet.from_lists([[0, 37]], size=99)
    with pytest.raises(DomainError, match="public set of 30") as refusal:
        drawn_many(make_mechanism(name, scattered(30), 3), beyond, SeededWords(2))
    assert "37" not in str(refusal.value)


def test_bulk_work_can_be_cut_anywhere(name):
    mechanism = make_mechanism(name, scattered(30), 3)
    rng = np.random.default_rng(1)
    some = TrajectorySet.from_lists(
        [rng.integers(0, 30, n % 5 + 1) for n in range(20)], size=30
    )
    words = SeededWords(2)
    pieces = [
        drawn_many(mechanism, piece, words.named(piece.tids)).tolist()
        for piece in (some, some.select(range(7)), some.select(range(7, 20)))
    ]
    assert pieces[1] + pieces[2] == pieces[0]


@pytest.mark.parametrize("length", [1, 2, 5])
def test_the_number_of_words_does_not_depend_on_the_trajectory(name, length):
    class Counting(WordStream):
        def __init__(self, seed):
            super().__init__()
            self.inner, self.used = SeededWords(seed).stream(0), 0

        def _more(self, count):
            raise AssertionError

        def next(self):
            self.used += 1
            return self.inner.next()

    mechanism = make_mechanism(name, scattered(25), 2)
    counts = set()
    for seed in range(20):
        words = Counting(seed)
        perturb_one(mechanism, np.random.default_rng(seed).integers(0, 25, length), words)
        counts.add(words.used)
    words = Counting(0)
    perturb_one(mechanism, [3] * length, words)  # all points coincide
    assert counts | {words.used} == {words.used}


@pytest.mark.parametrize("length", [1, 2, 3, 7])
def test_reports_as_many_locations_as_came_in_all_of_them_public(name, length):
    mechanism = make_mechanism(name, scattered(40), 3)
    reported = perturb_one(mechanism, np.arange(length), SeededWords(1).stream(0))
    assert len(reported) == length
    assert all(isinstance(y, int) and 0 <= y < 40 for y in reported)


def test_the_same_words_give_the_same_report(name):
    mechanism = make_mechanism(name, scattered(40), 3)
    first, again = (perturb_one(mechanism, [1, 2, 3], SeededWords(4).stream(2)) for _ in "ab")
    assert first == again


def test_is_a_value_that_can_be_compared_shown_and_varied(name):
    locations = scattered(9)
    mechanism = make_mechanism(name, locations, "0.5")
    assert mechanism == make_mechanism(name, locations, 0.5)
    assert mechanism != mechanism.with_params(epsilon=1)
    assert mechanism.get_params()["epsilon"] == "1/2"
    assert str(locations.lat[0]) not in repr(mechanism)
    with pytest.raises(AttributeError):
        mechanism.epsilon = Fraction(9)


def test_its_identity_names_everything_that_fixes_the_law(name):
    one = make_mechanism(name, scattered(9), 1)
    others = [one.with_params(epsilon=2), make_mechanism(name, scattered(9, seed=1), 1)]
    assert len({mechanism.identity for mechanism in (one, *others)}) == 3


@pytest.mark.parametrize("trajectory", [[], [99], [-1], [0, 40], [[0, 1], [1, 0]]])
def test_refuses_a_trajectory_outside_the_public_set_without_showing_it(name, trajectory):
    mechanism = make_mechanism(name, scattered(40), 3)
    with pytest.raises(DomainError) as refusal:
        perturb_one(mechanism, trajectory, SeededWords(0).stream(0))
    assert "99" not in str(refusal.value)
    assert "-1" not in str(refusal.value)


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, 1e6])
def test_refuses_an_epsilon_out_of_range(name, epsilon):
    with pytest.raises(BudgetError):
        make_mechanism(name, scattered(5), epsilon)


def test_a_large_epsilon_says_more_than_a_small_one(name):
    locations = scattered(20)

    def mean_error_km(epsilon):
        mechanism = make_mechanism(name, locations, epsilon)
        words = SeededWords(1)
        reported = [perturb_one(mechanism, [k % 20], words.stream(k))[0] for k in range(400)]
        return np.mean([locations.distances_km(k % 20)[y] for k, y in enumerate(reported)])

    assert mean_error_km(20) < 0.8 * mean_error_km("0.001")
