"""The auditor itself, on programs whose laws are known by hand."""

import math
from fractions import Fraction

import numpy as np
import pytest

from nomadp.audit.certificate import StepWitness
from nomadp.audit.walk import explore
from nomadp.laws import RandomizedResponse, Uniform

THIRD = RandomizedResponse(2, Fraction(1))
LOSS = math.log(THIRD.bound)


def respond(secret, choose):
    return choose("answer", THIRD, secret)


def test_one_answer_has_the_law_of_its_channel():
    found = explore(respond, np.array([0, 1]), StepWitness())
    weight = THIRD.weights(np.arange(2))
    for y in (0, 1):
        law = weight[:, y] / weight[0].sum()
        assert np.exp(found[y].log_probability) == pytest.approx(law)
        assert found[y].log_ratio.max() == pytest.approx(LOSS)
        assert found[y].spent == {1}


def test_two_answers_in_a_row_add_their_losses():
    def twice(secret, choose):
        return respond(secret, choose), respond(secret, choose)

    found = explore(twice, np.array([0, 1]), StepWitness())
    assert len(found) == 4
    assert found[0, 0].log_ratio[0, 1] == pytest.approx(2 * LOSS)
    assert found[0, 1].log_ratio.max() == pytest.approx(0)
    assert {outcome.spent for outcome in found.values()} == {frozenset([Fraction(2)])}


def test_independent_answers_are_the_same_as_answers_in_a_row():
    secrets = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])

    def in_a_row(secret, choose):
        return respond(secret[0], choose), respond(secret[1], choose)

    def independently(secret, choose):
        return tuple(choose.each([(respond, secret[0]), (respond, secret[1])]))

    one, other = (explore(p, secrets, StepWitness()) for p in (in_a_row, independently))
    assert one.keys() == other.keys()
    for y, outcome in one.items():
        assert outcome.log_probability == pytest.approx(other[y].log_probability)
        assert outcome.log_ratio == pytest.approx(other[y].log_ratio)
        assert outcome.spent == other[y].spent


def test_forgetting_an_answer_keeps_it_in_the_transcript_but_not_in_the_law():
    def forget(secret, choose):
        respond(secret, choose)
        return choose("coin", Uniform(2), None)

    found = explore(forget, np.array([0, 1]), StepWitness())
    for outcome in found.values():
        assert np.exp(outcome.log_probability) == pytest.approx([0.5, 0.5])
        assert outcome.log_ratio.max() == pytest.approx(LOSS)


def test_later_steps_may_depend_on_released_values():
    def adaptive(secret, choose):
        if respond(secret, choose) == 0:
            return 0
        return 1 + respond(secret, choose)

    found = explore(adaptive, np.array([0, 1]), StepWitness())
    assert set(found) == {0, 1, 2}
    total = sum(np.exp(outcome.log_probability) for outcome in found.values())
    assert total == pytest.approx([1, 1])
    assert found[0].spent == {1}
    assert found[2].spent == {2}
