"""Two calls never share their words, unless somebody asked to repeat the draws."""

import os

import numpy as np
import pytest
from refusals import refused
from worlds import scattered

from nomadp.engine import perturb_set
from nomadp.errors import RandomnessUnavailable, SchemaError
from nomadp.mechanisms import make_mechanism
from nomadp.randomness import KeyedRandom, SeededRandom, SystemRandom
from nomadp.trajectory import TrajectorySet

LOCATIONS = scattered(40)
TRIPS = TrajectorySet.from_lists(np.arange(60).reshape(20, 3) % 40, size=40)
TWICE = TrajectorySet.from_lists([[1, 2], [3], [4, 5]], ["anna", "home", "anna"], size=40)


def both_days(randomness):
    """The same trips reported on two days at so small an epsilon that answers are noise."""
    mechanism = make_mechanism("brr", LOCATIONS, "0.001")
    return [perturb_set(mechanism, TRIPS, randomness) for _ in range(2)]


@pytest.mark.parametrize("randomness", [None, SystemRandom()])
def test_two_calls_with_one_system_source_share_no_words(randomness):
    one, other = both_days(randomness)
    # 60 answers that are uniform over 40 places agree in 1.5 places; in 20 once in 10^17 runs.
    assert np.count_nonzero(one.locations == other.locations) < 20


@pytest.mark.parametrize("randomness", [KeyedRandom(bytes(32)), SeededRandom(1)])
def test_whoever_holds_the_key_or_the_seed_repeats_the_draws(randomness):
    one, other = both_days(randomness)
    assert one == other


def test_a_key_gives_every_job_that_it_is_bound_to_words_of_its_own():
    key = KeyedRandom(bytes(32))
    mechanism = make_mechanism("brr", LOCATIONS, "0.001")
    days = [perturb_set(mechanism, TRIPS, key.bound_to(day)) for day in ("day 1", "day 2")]
    assert np.count_nonzero(days[0].locations == days[1].locations) < 20


class Untouched(SeededRandom):
    def bound_to(self, purpose):
        raise AssertionError("words were asked for")


def test_two_trajectories_of_one_tid_are_refused_before_anything_is_drawn():
    mechanism = make_mechanism("exp", LOCATIONS, 1)
    with refused(SchemaError, "tid_repeated", repeated=1) as refusal:
        perturb_set(mechanism, TWICE, Untouched(1))
    assert "anna" not in str(refusal.value)


def test_two_trajectories_of_one_tid_are_refused_however_far_apart_they_are():
    count = 200  # more than one piece of work
    tids = [str(k % (count - 1)) for k in range(count)]
    far = TrajectorySet.from_lists([[1]] * count, tids, size=40)
    with refused(SchemaError, "tid_repeated", repeated=1, rows=200):
        perturb_set(make_mechanism("atlas", LOCATIONS, 1), far)


def test_without_randomness_nothing_is_released(monkeypatch):
    monkeypatch.setattr(os, "urandom", lambda count: b"")
    with refused(RandomnessUnavailable, "randomness_incomplete", length=0):
        perturb_set(make_mechanism("exp", LOCATIONS, 1), TRIPS)
