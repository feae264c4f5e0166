"""``nomadp granularity``: the paper's Table 1, to its last digit."""

from typing import Any

import pytest

from tests.cli.conftest import Run, as_json

TABLE_1 = {
    "0.01": (0.25035156, 0.20871446, 0.16699901, 0.09869639),
    "0.05": (0.25175778, 0.21024432, 0.16833461, 0.09954752),
    "0.1": (0.25351539, 0.21216864, 0.17001818, 0.10062269),
    "0.5": (0.26754921, 0.22803653, 0.18405465, 0.10968742),
    "1": (0.28492633, 0.24901168, 0.20304037, 0.12224172),
    "2": (0.3185154, 0.29434453, 0.24584151, 0.15185139),
    "4": (0.37745749, 0.39365306, 0.34902402, 0.23167506),
    "8": (0.45232527, 0.57649644, 0.58164843, 0.47196792),
    "10": (0.47167379, 0.63974545, 0.6787087, 0.60876684),
}
CHOSEN = {"table": [2, 2, 2, 2, 2, 2, 4, 6, 6], "formula": [4, 4, 4, 4, 4, 4, 4, 6, 6]}


def test_reproduces_all_36_entries_as_printed(run: Run) -> None:
    rows = as_json(run("granularity", "--json"))["rows"]
    printed = {row["epsilon"]: row for row in rows if row["rule"] == "table"}
    assert list(printed) == list(TABLE_1)
    for epsilon, expected in TABLE_1.items():
        assert tuple(printed[epsilon]["probabilities"].values()) == expected


@pytest.mark.parametrize("rule", CHOSEN)
def test_marks_the_chosen_number_of_sectors(rule: str, run: Run) -> None:
    rows = as_json(run("granularity", "--json"))["rows"]
    assert [row["chosen"] for row in rows if row["rule"] == rule] == CHOSEN[rule]


def test_the_table_shows_both_readings_with_eight_digits(run: Run, wording: Any) -> None:
    result = run("granularity", "--epsilon", "4")
    assert result.exit_code == 0
    assert "0.39365306*" in result.stdout  # as printed
    assert "0.42106436*" in result.stdout  # corrected
    wording("cli", "granularity", result.stdout)


def test_takes_several_epsilons_after_one_option(run: Run) -> None:
    several = run("granularity", "--epsilon", "1", "4", ".5", "--json")
    repeated = run(
        "granularity", "--epsilon", "1", "--epsilon", "4", "--json", "--epsilon", ".5"
    )
    assert [row["epsilon"] for row in as_json(several)["rows"]][:3] == ["1", "4", ".5"]
    assert several.stdout == repeated.stdout
