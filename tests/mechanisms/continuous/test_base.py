"""What every mechanism that draws real numbers must satisfy, and what it must not claim."""

import numpy as np
import pytest
from refusals import refused
from worlds import Replay, scattered, small_map

from nomadp.audit import AuditRequest, measure, run_audit
from nomadp.errors import DomainError
from nomadp.mechanisms import EXPERIMENTAL, MECHANISMS, PUBLISHED, make_mechanism, perturb_one
from nomadp.randomness import SeededRandom, WordStream

pytestmark = pytest.mark.parametrize("name", EXPERIMENTAL)


def test_is_fenced_off_and_says_why(name):
    assert name not in {**MECHANISMS, **PUBLISHED}
    assert not EXPERIMENTAL[name].private
    assert EXPERIMENTAL[name].warning


def test_the_auditor_refuses_it_with_the_reason(name):
    mechanism = make_mechanism(name, small_map(), 1)
    with refused(DomainError, "no_finite_laws", mechanism=name):
        measure(mechanism, 2)
    with refused(DomainError, "no_finite_laws", mechanism=name):
        mechanism.perturb(np.array([0, 1]), Replay(()))
    with refused(DomainError, "no_finite_laws", mechanism=name):
        mechanism.finish([], Replay(()))


def test_an_audit_refuses_it_before_anything_is_walked(name):
    def walked(done, total):
        raise AssertionError("something was audited")

    with refused(DomainError, "no_finite_laws", mechanism=name):
        run_audit(AuditRequest(mechanisms=("exp", name)), walked)


@pytest.mark.parametrize("length", [1, 2, 5])
def test_draws_two_words_for_every_point(name, length):
    class Counting(WordStream):
        def __init__(self, seed):
            super().__init__()
            self.inner, self.used = SeededRandom(seed).stream(0), 0

        def _more(self, count):
            raise AssertionError

        def next(self):
            self.used += 1
            return self.inner.next()

    mechanism = make_mechanism(name, scattered(25), 2)
    for trajectory in (np.arange(length), [3] * length):
        words = Counting(1)
        perturb_one(mechanism, trajectory, words)
        assert words.used == 2 * length


@pytest.mark.parametrize("word", [0, 2**64 - 1])
def test_the_smallest_and_the_largest_word_give_a_location(name, word):
    class Constant(WordStream):
        def _more(self, count):
            return word.to_bytes(8, "little") * (count // 8)

    reported = perturb_one(make_mechanism(name, scattered(9), "0.01"), [1, 8], Constant())
    assert all(0 <= y < 9 for y in reported)


@pytest.mark.parametrize("length", [1, 2, 3, 7])
def test_reports_as_many_locations_as_came_in(name, length):
    mechanism = make_mechanism(name, scattered(40), 3)
    first, again = (
        perturb_one(mechanism, np.arange(length), SeededRandom(1).stream(4)) for _ in "ab"
    )
    assert first == again
    assert len(first) == length
    assert all(isinstance(y, int) and 0 <= y < 40 for y in first)


@pytest.mark.parametrize("length", [1, 2, 5, 100])
def test_the_split_adds_up(name, length):
    split = make_mechanism(name, scattered(5), "1/3").split(length)
    assert sum(step.total for step in split.steps) == split.epsilon


def test_a_large_epsilon_says_more_than_a_small_one(name):
    locations = scattered(20)

    def mean_error_km(epsilon):
        mechanism = make_mechanism(name, locations, epsilon)
        randomness = SeededRandom(1)
        reported = [
            perturb_one(mechanism, [k % 20], randomness.stream(k))[0] for k in range(400)
        ]
        return np.mean([locations.distances_km(k % 20)[y] for k, y in enumerate(reported)])

    assert mean_error_km(20) < 0.8 * mean_error_km("0.001")


def test_is_a_value_like_every_mechanism(name):
    locations = scattered(9)
    mechanism = make_mechanism(name, locations, "0.5")
    assert mechanism == make_mechanism(name, locations, 0.5)
    assert mechanism.identity != mechanism.with_params(epsilon=1).identity
    assert str(locations.lat[0]) not in repr(mechanism)
