"""What follows the releases: every path, with its probability in every case."""

import numpy as np
import pytest

from nomadp.audit.walk import possible_reports
from nomadp.laws import Uniform


def test_a_coin_is_walked_for_all_cases_at_once():
    def finish(released, choose):
        return (released[choose("merge", Uniform(2), None)],)

    first, second = np.array([7, 8, 9]), np.array([1, 2, 3])
    found = [
        (value.tolist(), probability.tolist())
        for (value,), probability in possible_reports(finish, [first, second])
    ]
    assert found == [([7, 8, 9], [0.5]), ([1, 2, 3], [0.5])]


def test_a_draw_may_depend_on_what_was_released():
    def finish(released, choose):
        return (choose("location", Uniform(3), released[0]),)

    counts = np.array([1, 2, 3])
    law = {value: probability for (value,), probability in possible_reports(finish, [counts])}
    assert law[0] == pytest.approx([1, 1 / 2, 1 / 3])
    assert law[1] == pytest.approx([0, 1 / 2, 1 / 3])
    assert law[2] == pytest.approx([0, 0, 1 / 3])


def test_draws_in_a_row_multiply_their_chances():
    def toss(count, choose):
        return choose("location", Uniform(2), count)

    def finish(released, choose):
        return tuple(choose.each([(toss, count) for count in released]))

    cases = [np.array([1, 2]), np.array([2, 2])]
    law = dict(possible_reports(finish, cases))
    assert sum(law.values()) == pytest.approx([1, 1])
    assert law[0, 1] == pytest.approx([1 / 2, 1 / 4])
    assert law[1, 0] == pytest.approx([0, 1 / 4])
