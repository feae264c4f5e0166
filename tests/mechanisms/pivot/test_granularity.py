"""The success probabilities of the paper's Table 1, and which granularity they choose."""

import pytest
from refusals import refused

from nomadp.errors import InvalidArgument
from nomadp.mechanisms.pivot.granularity import (
    CANDIDATES,
    choose_granularity,
    success_probability,
)

TABLE_1 = {
    0.01: (0.25035156, 0.20871446, 0.16699901, 0.09869639),
    0.05: (0.25175778, 0.21024432, 0.16833461, 0.09954752),
    0.1: (0.25351539, 0.21216864, 0.17001818, 0.10062269),
    0.5: (0.26754921, 0.22803653, 0.18405465, 0.10968742),
    1: (0.28492633, 0.24901168, 0.20304037, 0.12224172),
    2: (0.3185154, 0.29434453, 0.24584151, 0.15185139),
    4: (0.37745749, 0.39365306, 0.34902402, 0.23167506),
    8: (0.45232527, 0.57649644, 0.58164843, 0.47196792),
    10: (0.47167379, 0.63974545, 0.6787087, 0.60876684),
}


@pytest.mark.parametrize("epsilon", TABLE_1)
def test_all_entries_of_table_1_come_out_to_eight_digits(epsilon):
    found = tuple(round(success_probability(epsilon, g, "table"), 8) for g in CANDIDATES)
    assert found == TABLE_1[epsilon]


def test_the_rules_agree_only_for_two_sectors():
    assert success_probability(3, 2, "table") == success_probability(3, 2, "formula")
    for g in CANDIDATES[1:]:
        assert success_probability(3, g, "table") < success_probability(3, g, "formula")


@pytest.mark.parametrize(
    ("rule", "below", "granularities"),
    [("table", (3.31, 7.69), (2, 4, 6)), ("formula", (5.73, 11.45), (4, 6, 12))],
)
def test_the_choice_changes_where_it_should(rule, below, granularities):
    edges = (0.01, *below, 12)
    for start, end, granularity in zip(edges, edges[1:], granularities, strict=False):
        assert choose_granularity(start + 0.01, rule) == granularity
        assert choose_granularity(end - 0.01, rule) == granularity


def test_refuses_a_rule_nobody_knows():
    with refused(
        InvalidArgument, "unknown_choice", parameter="rule", choices=("table", "formula")
    ):
        success_probability(1, 4, "best")
