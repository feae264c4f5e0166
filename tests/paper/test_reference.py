import pytest

from nomadp.paper.reference import (
    PAPER_COUNTS,
    TABLE_1,
    direction_rows,
    largest_difference,
    printed_counts,
)


def test_all_printed_values_of_table_1_come_out_to_the_last_digit() -> None:
    assert len(direction_rows()) == 36
    assert largest_difference("as_printed") == 0


def test_the_equation_gives_other_values_and_other_choices() -> None:
    assert largest_difference("by_equation") == pytest.approx(0.1515, abs=5e-5)
    chosen = {
        row["epsilon"]: (row["chosen_as_printed"], row["chosen_by_equation"])
        for row in direction_rows()
    }
    assert chosen["1"] == (2, 4)
    assert chosen["8"] == (6, 6)


def test_the_choices_are_the_papers_bold_ones() -> None:
    for epsilon, row in TABLE_1.items():
        printed = dict(zip((2, 4, 6, 12), map(float, row), strict=True))
        (chosen,) = {
            r["chosen_as_printed"] for r in direction_rows() if r["epsilon"] == epsilon
        }
        assert chosen == max(printed, key=lambda g: printed[g])


def test_printed_counts_belong_to_the_whole_of_the_papers_sets_only() -> None:
    assert printed_counts("cps", (262, 4000))["tp"] == 25.877
    assert printed_counts("cps", (262, 150)) == {}
    assert printed_counts("aarhus", (262, 4000)) == {}


def test_table_2_has_four_methods_on_four_sets() -> None:
    assert {len(row) for row in PAPER_COUNTS.values()} == {4}
    assert len(PAPER_COUNTS) == 4
