"""Which rows are significant, how large their p-values are, and that the two agree."""

from functools import partial
from math import erfc, sqrt

import numpy as np
import pytest
from asked import every_label
from hypothesis import given
from hypothesis import strategies as st

from nomadp.answers.significance import (
    adjusted_p_values,
    p_values,
    share_intervals,
    significant_rows,
    wilson_interval,
    wilson_p_values,
)
from nomadp.inference.frequencies import oracle_shares
from nomadp.inference.shares import Shares

ROWS, REPEATS = 50, 100
TRUE, OTHER, REPORTS = 0.5, 0.02, 20_000
LEVELS = [0.5, 0.8, 0.9, 0.99]


def significant(shares: Shares, level: float = 0.9) -> np.ndarray:
    return significant_rows(shares.baseline, partial(share_intervals, shares), level)


def of_errors(errors: list[float]) -> Shares:
    """Shares so many standard errors from the baseline."""
    baseline = np.full(len(errors), 0.5)
    std_error = np.full(len(errors), 0.01)
    return Shares(baseline + std_error * errors, std_error, baseline, 1.0)


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


ERRORS = st.lists(st.floats(-6, 6), min_size=1, max_size=30)


@given(ERRORS, st.sampled_from(LEVELS))
def test_the_rows_are_those_of_benjamini_and_hochberg(
    errors: list[float], level: float
) -> None:
    shares = of_errors(errors)
    found = set(np.flatnonzero(significant(shares, level)).tolist())
    assert found == by_p_values(shares, level)


def drawn(truth: np.ndarray, seed: int, reports: int = REPORTS) -> Shares:
    """The estimate from people of whom this share supports each label."""
    rng = np.random.default_rng(seed)
    support = rng.binomial(reports, OTHER + truth * (TRUE - OTHER))
    levels = every_label(len(truth), [np.arange(len(truth))])
    return oracle_shares(support, reports, TRUE, OTHER, levels)


def test_at_the_baseline_hardly_any_row_is_significant() -> None:
    truth = np.full(ROWS, 1 / ROWS)
    claimed = sum(significant(drawn(truth, seed)).any() for seed in range(REPEATS))
    assert claimed <= 0.1 * REPEATS + 5 * sqrt(REPEATS * 0.09)


def test_of_significant_rows_a_tenth_at_most_is_wrong_on_average() -> None:
    truth = np.full(ROWS, 1 / ROWS)
    truth[:10] += 0.012 * np.array([1, -1] * 5)
    wrong, power = [], []
    for seed in range(REPEATS):
        rows = significant(drawn(truth, seed))
        wrong.append(rows[10:].sum() / max(rows.sum(), 1))
        power.append(rows[:10].mean())
    assert np.mean(wrong) <= 0.1 + 5 * np.std(wrong) / sqrt(REPEATS)
    assert np.mean(power) > 0.3


@pytest.mark.parametrize("level", [0.5, 0.9, 1])
def test_neither_no_row_nor_the_baseline_itself_is_significant(level: float) -> None:
    for size in (0, 5):
        flat = np.full(size, 0.2)
        shares = Shares(flat, np.full(size, 0.01), flat, 0.0)
        rows = significant(shares, level)
        assert not rows.any()
        assert adjusted_p_values(p_values(shares), rows, level).tolist() == [1.0] * size


def test_p_values_of_known_errors_are_those_of_the_normal_distribution() -> None:
    shares = of_errors([0.0, 1.0, -1.959963984540054, 3.0])
    wanted = [1.0, 0.31731050786, 0.05, 0.0026997960632601]
    assert p_values(shares) == pytest.approx(wanted, rel=1e-9)


def test_a_share_without_error_is_certain_to_differ_or_not() -> None:
    exact = Shares(np.array([0.5, 0.6]), np.zeros(2), np.array([0.5, 0.5]), 1.0)
    assert p_values(exact).tolist() == [1.0, 0.0]


def test_p_values_are_stepped_up_by_hand() -> None:
    # 4 rows in order: .01 * 4/1, .02 * 4/2, .03 * 4/3, .5 * 4/4; each at most the next.
    p = np.array([0.5, 0.01, 0.03, 0.02])
    rows = np.array([False, True, True, True])
    assert adjusted_p_values(p, rows, 0.9).tolist() == pytest.approx([0.5, 0.04, 0.04, 0.04])
    # A row with weaker evidence pulls one with stronger evidence down.
    p, none = np.array([0.04, 0.05]), np.array([False, False])
    assert adjusted_p_values(p, none, 0.99).tolist() == pytest.approx([0.05, 0.05])


@given(ERRORS, st.sampled_from([*LEVELS, 1]))
def test_adjusted_p_values_agree_with_significance(errors: list[float], level: float) -> None:
    shares = of_errors(errors)
    rows = significant(shares, level)
    found = adjusted_p_values(p_values(shares), rows, level)
    assert ((found <= 1 - level) == rows).all()
    assert ((found >= 0) & (found <= 1)).all()
    order = np.argsort(p_values(shares), kind="stable")
    assert (np.diff(found[order]) >= -1e-12).all()


@given(st.integers(0, 10_000), st.sampled_from([50, 1000, REPORTS]), st.sampled_from(LEVELS))
def test_p_values_of_frequency_oracles_agree_with_significance_before_rounding(
    seed: int, reports: int, level: float
) -> None:
    truth = np.full(12, 1 / 12)
    truth[:2] += 0.02, -0.02
    shares = drawn(truth, seed, reports)
    rows, p = significant(shares, level), p_values(shares)
    found = adjusted_p_values(p, rows, level)
    assert ((found <= 1 - level) == rows).all()
    # Nothing but rows at the very threshold is moved there.
    neither = np.abs(found - (1 - level)) > 1e-9
    at_any_level = adjusted_p_values(p, np.ones(12, bool), 0)
    assert found[neither] == pytest.approx(at_any_level[neither], abs=0)


@given(st.integers(0, 10_000), st.sampled_from([50, 1000, REPORTS]))
def test_a_p_value_is_the_level_at_which_an_interval_leaves_out_the_baseline(
    seed: int, reports: int
) -> None:
    truth = np.full(8, 1 / 8)
    truth[0] = 0.15
    shares = drawn(truth, seed, reports)
    for row, p in enumerate(p_values(shares).tolist()):
        for factor in (0.998, 1.002):
            level = 1 - p * factor
            if not 1e-6 < level < 1 - 1e-6:
                continue
            low, high = (end[row] for end in share_intervals(shares, level))
            is_out = shares.baseline[row] < low or high < shares.baseline[row]
            assert is_out == (factor > 1)


@given(st.lists(st.integers(0, 500), min_size=2, max_size=8).filter(any))
def test_p_values_of_lengths_invert_wilson_intervals(counts: list[int]) -> None:
    total = sum(counts)
    share, baseline = np.array(counts) / total, np.full(len(counts), 1 / len(counts))
    for row, p in enumerate(wilson_p_values(share, total, baseline).tolist()):
        for factor in (0.999, 1.001):
            level = 1 - p * factor
            if not 1e-6 < level < 1 - 1e-6:
                continue
            low, high = (end[row] for end in wilson_interval(share, total, level))
            assert (baseline[row] < low or high < baseline[row]) == (factor > 1)
