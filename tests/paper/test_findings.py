"""The answers to the paper's questions, from results made up to have known ones."""

import pytest
from made_up_results import GAIN

from nomadp.paper.findings import (
    PAPER_METHODS,
    Tally,
    all_hold,
    beaten_from,
    best_at,
    chosen_granularity,
    count_rows,
    decoding_gains,
    largest_spread,
    losing_to_the_constant,
    lowest,
    printed_above_equal_counts,
    worst_claims,
)
from nomadp.paper.lines import BOTH_DIRECTIONS, ONE_DIRECTION, Series
from nomadp.paper.results import Results
from nomadp.paper.specs import EXPERIMENTS


def test_counts_the_settings_that_lose_to_the_constant(made_up: Results) -> None:
    everything = losing_to_the_constant(made_up, PAPER_METHODS)
    assert everything == Tally(2 * 3 * len(PAPER_METHODS), 2 * 3 * len(PAPER_METHODS))
    # BRR is at .188, .152 and .08 on both sets.
    assert losing_to_the_constant(made_up, ("brr",)) == Tally(4, 6)


def test_names_the_epsilon_from_which_a_baseline_is_beaten(made_up: Results) -> None:
    assert beaten_from(made_up, "north", Series("brr")) == "10"
    assert beaten_from(made_up, "north", Series("brr", decoded=True)) == "4"
    assert beaten_from(made_up, "north", Series("tp")) is None


def test_the_best_is_judged_in_the_sense_of_the_score(made_up: Results) -> None:
    best = best_at(made_up, "north", "10", "ne", decoded=False)
    assert (best.mechanism, best.baseline) == ("brr", 0.15)
    assert best.score == pytest.approx(0.08)
    within = best_at(made_up, "north", "10", "prq_2km", decoded=False)
    assert (within.mechanism, within.baseline) == ("brr", 30.0)


def test_the_best_report_and_the_best_decoded_one_are_told_apart(made_up: Results) -> None:
    best = best_at(made_up, "north", "10", "ne", decoded=True)
    assert (best.mechanism, best.score) == ("brr", pytest.approx(0.08 - GAIN))


def test_tells_what_decoding_takes_off_an_error(made_up: Results) -> None:
    brr, atlas = decoding_gains(made_up, "north")
    assert (brr.mechanism, atlas.mechanism) == ("brr", "atlas")
    assert (brr.reported, brr.decoded) == pytest.approx((0.08, 0.08 - GAIN))
    assert brr.lower == atlas.lower == Tally(2, 3)


def test_counts_where_a_line_is_the_lowest(made_up: Results) -> None:
    assert lowest(made_up, EXPERIMENTS["directions"], BOTH_DIRECTIONS) == Tally(6, 6)
    assert lowest(made_up, EXPERIMENTS["directions"], ONE_DIRECTION) == Tally(0, 6)


def test_the_spread_of_lines_is_the_largest_anywhere(made_up: Results) -> None:
    curves = made_up.curves(EXPERIMENTS["directions"], "north", "ne")
    assert largest_spread(curves) == pytest.approx(0.001)


def test_judges_the_rule_of_table_1_by_the_errors(made_up: Results) -> None:
    # The fewer sectors the better here; the rule picks 2, 4 and 6 at epsilon 1, 4 and 10.
    tally, loss = chosen_granularity(made_up)
    assert tally == Tally(2, 6)
    assert loss == pytest.approx(0.0004)


def test_counts_come_with_every_mechanism(made_up: Results) -> None:
    rows = count_rows(made_up, "north")
    assert rows["atp"] == pytest.approx(40 * (0.21 - 0.008))
    assert rows.keys() >= {"exp", "cgm", "tp-as-published-not-private"}


def test_printed_counts_are_only_compared_on_the_papers_sets(made_up: Results) -> None:
    assert printed_above_equal_counts(made_up) == Tally(0, 0)


def test_the_worst_claim_is_the_one_exceeded_most(made_up: Results) -> None:
    found = worst_claims(made_up)
    epsilon, losses = found["tp-as-published-not-private"]
    assert (epsilon, losses["transcript_loss"]) == ("1", "infinite")
    assert found["tp"][1]["final_loss"] == 0.5


def test_a_claim_is_kept_if_no_loss_is_above_its_epsilon() -> None:
    kept = {"tp": ("1", {"transcript_loss": 1.0, "final_loss": 0.5})}
    assert all_hold(kept)
    assert not all_hold(kept | {"atp": ("1", {"transcript_loss": 1.1, "final_loss": 0.5})})
    assert not all_hold(kept | {"atp": ("1", {"transcript_loss": "infinite"})})
