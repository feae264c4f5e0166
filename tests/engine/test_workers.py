import operator
from functools import partial

import pytest

from nomadp.engine.workers import run_all


def test_every_result_comes_with_its_position() -> None:
    calls = [partial(operator.add, k) for k in range(5)]
    assert list(run_all(10, calls, 1)) == [(k, 10 + k) for k in range(5)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_in_one_piece_is_raised(jobs: int) -> None:
    calls = [partial(operator.truediv, 1), partial(operator.truediv, 2)]
    with pytest.raises(ZeroDivisionError):
        list(run_all(0, calls, jobs))
