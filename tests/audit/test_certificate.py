"""Each law is judged exactly: support, ratio, scale."""

from fractions import Fraction

import numpy as np
import pytest
from worlds import small_map

from nomadp.audit.certificate import StepWitness, worst_ratio
from nomadp.budget import exp_lower
from nomadp.laws import Exponential, RandomizedResponse, SubsetSelection, law_of_labels


def test_the_worst_ratio_is_exact():
    assert worst_ratio(np.array([[3, 1], [1, 1]])) == Fraction(2)  # 1/2 against 1/4
    assert worst_ratio(np.array([[2, 2], [1, 1]])) == 1


def test_an_output_one_input_cannot_produce_has_no_ratio():
    assert worst_ratio(np.array([[1, 0], [1, 1]])) is None
    assert worst_ratio(np.array([[1, 0], [2, 0]])) == 1  # impossible for everybody


def test_one_unit_too_much_weight_is_flagged():
    class Greedy(RandomizedResponse):
        def weights(self, secret):
            weight = super().weights(secret)
            return weight + 16 * (weight == weight.max())  # the law leaves 10.9 units to spare

    witness = StepWitness()
    witness("direction", RandomizedResponse(3, Fraction(1)), np.arange(3))
    assert witness.flags == set()
    witness("direction", Greedy(3, Fraction(1)), np.arange(3))
    assert witness.flags == {"step loss"}


def test_a_doubled_budget_hiding_in_the_slack_is_flagged_by_its_scale():
    locations = small_map(4)

    class Doubled(Exponential):
        scale_per_km = float(Fraction(1, 8)) / (2 * locations.diameter_km)  # as the paper says

        def weights(self, secret):
            honest = Exponential(self.locations, self.domain, self.span_km, 2 * self.share)
            return honest.weights(secret)

    witness = StepWitness()
    channel = Exponential(locations, np.arange(4), locations.diameter_km, Fraction(1, 8))
    witness("point", channel, np.arange(4))
    assert witness.flags == set()
    witness(
        "point",
        Doubled(locations, np.arange(4), locations.diameter_km, Fraction(1, 8)),
        np.arange(4),
    )
    assert "scale" in witness.flags


@pytest.mark.parametrize(
    ("size", "share"), [(4, Fraction(1)), (16, Fraction(1, 10)), (9, Fraction(4))]
)
def test_a_law_of_labels_costs_what_its_words_cost(size, share):
    """Its weights alone cost less: they leave out how words are rounded."""
    law, witness = law_of_labels(size, share), StepWitness()
    witness("label", law, np.arange(size))
    assert law.bound < law.word_ratio <= exp_lower(share)
    assert witness.steps["label"].worst_ratio >= law.word_ratio
    assert witness.flags == set()


def test_words_that_cost_more_than_the_weights_of_a_law_of_labels_are_flagged():
    class Stretched(SubsetSelection):
        """Of weights that keep the share, drawn by words that do not."""

        @property
        def word_ratio(self):
            return exp_lower(self.share) + Fraction(1, 2**40)

    honest, witness = SubsetSelection(5, 2, Fraction(1)), StepWitness()
    assert honest.bound < exp_lower(Fraction(1))
    witness("label", honest, np.arange(5))
    assert witness.flags == set()
    witness("label", Stretched(5, 2, Fraction(1)), np.arange(5))
    assert witness.flags == {"step loss"}


def test_every_law_is_examined_once():
    witness = StepWitness()
    for _ in range(5):
        witness("direction", RandomizedResponse(3, Fraction(1)), np.arange(3))
    assert witness.steps["direction"].laws == 1
