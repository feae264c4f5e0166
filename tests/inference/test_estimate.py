"""The best answer and its radius, against plain sums over small worlds."""

import numpy as np
import pytest
from refusals import refused
from worlds import scattered, triangle

from nomadp.errors import InvalidArgument
from nomadp.inference import estimate
from nomadp.inference.estimate import Answers, DecodedPoints

RNG = np.random.default_rng(3)


def masses(rows, places):
    mass = RNG.dirichlet(np.full(places, 0.3), rows)
    return mass.astype(np.float32)


def test_the_best_answer_has_the_smallest_expected_distance():
    locations, mass = scattered(30), masses(50, 30)
    best = Answers(locations, np.arange(30)).best(mass)
    for row, answer in zip(mass.astype(float), best.tolist(), strict=True):
        expected = [float(row @ locations.distances_km(c)) for c in range(30)]
        assert expected[answer] <= min(expected) + 1e-4  # km, in single precision


def test_an_answer_may_be_a_place_where_the_truth_cannot_be():
    # Locations on a line, the truth at either end and a little beside: the middle is best.
    locations = triangle().subset([0, 1, 2])
    answers = Answers(locations, np.array([0, 2]))
    mass = np.array([[0.5, 0.5]], dtype=np.float32)
    every = answers.expected_km(mass)[0]
    assert every.shape == (3,)
    assert every[answers.best(mass)[0]] == every.min()


def test_a_certain_place_is_the_answer_with_radius_zero():
    locations = scattered(9)
    answers = Answers(locations, np.array([2, 5]))
    mass = np.array([[0.0, 1.0]], dtype=np.float32)
    best = answers.best(mass)
    assert best.tolist() == [5]
    assert answers.radius_km(mass, best, 1.0).tolist() == [0.0]


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9, 1.0])
def test_the_radius_holds_its_level_and_no_smaller_one_does(level):
    locations, mass = scattered(30), masses(50, 30)
    answers = Answers(locations, np.arange(30))
    best = answers.best(mass)
    radius = answers.radius_km(mass, best, level)
    for row, answer, km in zip(mass.astype(float), best.tolist(), radius, strict=True):
        distance = locations.distances_km(answer)
        assert row[distance <= km].sum() >= level - 1e-5
        assert row[distance < km].sum() < level


def test_a_large_set_answers_with_one_of_the_places_that_may_be_true(monkeypatch):
    monkeypatch.setattr(estimate, "CANDIDATES_MAX", 10)
    answers = Answers(scattered(30), np.arange(3, 25))
    assert len(answers.candidates) == 10
    assert set(answers.candidates.tolist()) <= set(range(3, 25))
    assert set(answers.best(masses(5, 22)).tolist()) <= set(answers.candidates.tolist())


@pytest.mark.parametrize("level", [0, -1, 1.1, float("nan")])
def test_refuses_a_level_that_is_no_share(level):
    with refused(InvalidArgument, "level_out_of_range", level=level):
        DecodedPoints(np.arange(2), np.zeros(2), level)


def test_refuses_an_estimate_without_a_radius_for_each_location():
    with refused(InvalidArgument, "array_sizes_differ"):
        DecodedPoints(np.arange(2), np.zeros(3), 0.9)


@pytest.mark.parametrize(("noise", "left"), [(1e-6, True), (1.0, False)])
def test_a_given_answer_is_left_only_for_one_that_is_nearer_beyond_chance(noise, left):
    locations = scattered(20)
    answers = Answers(locations, np.arange(20))
    mass = np.full((1, 20), 0.01, dtype=np.float32)
    mass[0, 3] = 0.81
    far = np.array([int(locations.distances_km(3).argmax())])
    found = answers.improved(far, mass, np.full((1, 20), noise, dtype=np.float32))
    assert found.tolist() == ([3] if left else far.tolist())
