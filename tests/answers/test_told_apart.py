"""Of many rows some leave flat out by chance: how many of those that are claimed may."""

from functools import partial
from math import erfc, sqrt

import numpy as np
import pytest
from asked import every_label
from hypothesis import given
from hypothesis import strategies as st

from nomadp.answers.estimates import interval_of, is_apart
from nomadp.inference.frequencies import oracle_shares
from nomadp.inference.shares import Shares

ROWS, REPEATS = 50, 100
TRUE, OTHER, REPORTS = 0.5, 0.02, 20_000


def apart(shares: Shares, level: float = 0.9) -> np.ndarray:
    return is_apart(shares.baseline, partial(interval_of, shares), level)


def by_p_values(shares: Shares, level: float) -> set[int]:
    """Benjamini and Hochberg's rule as they write it."""
    size = len(shares.values)
    chance = [
        erfc(abs(value - flat) / std / sqrt(2))
        for value, flat, std in zip(
            shares.values, shares.baseline, shares.std_error, strict=True
        )
    ]
    order = sorted(range(size), key=chance.__getitem__)
    last = max(
        (k for k in range(size) if chance[order[k]] <= (1 - level) * (k + 1) / size), default=-1
    )
    return set(order[: last + 1])


@given(
    st.lists(st.floats(-6, 6), min_size=1, max_size=30),
    st.sampled_from([0.5, 0.8, 0.9, 0.99]),
)
def test_the_rows_are_those_of_benjamini_and_hochberg(
    errors: list[float], level: float
) -> None:
    flat = np.full(len(errors), 0.5)
    deviation = np.full(len(errors), 0.01)
    shares = Shares(flat + deviation * errors, deviation, flat, 1.0)
    assert set(np.flatnonzero(apart(shares, level)).tolist()) == by_p_values(shares, level)


def drawn(truth: np.ndarray, seed: int) -> Shares:
    """What is told by people of whom so many support each label."""
    rng = np.random.default_rng(seed)
    support = rng.binomial(REPORTS, OTHER + truth * (TRUE - OTHER))
    levels = every_label(len(truth), [np.arange(len(truth))])
    return oracle_shares(support, REPORTS, TRUE, OTHER, levels)


def test_where_all_is_flat_hardly_anything_is_claimed() -> None:
    truth = np.full(ROWS, 1 / ROWS)
    claimed = sum(apart(drawn(truth, seed)).any() for seed in range(REPEATS))
    assert claimed <= 0.1 * REPEATS + 5 * sqrt(REPEATS * 0.09)


def test_of_what_is_claimed_a_tenth_at_most_is_wrong_on_average() -> None:
    truth = np.full(ROWS, 1 / ROWS)
    truth[:10] += 0.012 * np.array([1, -1] * 5)
    wrong, found = [], []
    for seed in range(REPEATS):
        rows = apart(drawn(truth, seed))
        wrong.append(rows[10:].sum() / max(rows.sum(), 1))
        found.append(rows[:10].mean())
    assert np.mean(wrong) <= 0.1 + 5 * np.std(wrong) / sqrt(REPEATS)
    assert np.mean(found) > 0.3


@pytest.mark.parametrize("level", [0.5, 0.9, 1])
def test_nothing_is_claimed_of_no_row_and_of_flat_itself(level: float) -> None:
    for size in (0, 5):
        flat = np.full(size, 0.2)
        assert not apart(Shares(flat, np.full(size, 0.01), flat, 0.0), level).any()
