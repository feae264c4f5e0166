"""Two copies become one report by a rule that sees released values only."""

import numpy as np
from worlds import scattered

from nomadp.drawing import Drawing
from nomadp.locations import LocationSet
from nomadp.mechanisms.pivot.merge import MERGES
from nomadp.randomness import SeededRandom

FIRST, SECOND = (1, 2, 3, 4, 5), (9, 8, 7, 6, 0)


def merged(rule, first=FIRST, second=SECOND, locations=None):
    choose = Drawing(SeededRandom(1).stream(0))
    return MERGES[rule](locations or scattered(10), first, second, choose)


def test_the_coin_takes_every_position_from_one_of_the_copies():
    assert all(
        y in pair
        for y, pair in zip(merged("coin"), zip(FIRST, SECOND, strict=True), strict=True)
    )


def test_the_coin_is_fair():
    choose = Drawing(SeededRandom(3).stream(0))
    many = MERGES["coin"](scattered(2), (0,) * 10_000, (1,) * 10_000, choose)
    assert abs(sum(many) - 5_000) < 5 * 50  # five standard deviations


def test_direction_takes_the_copy_in_which_the_position_was_no_pivot():
    assert merged("direction") == (9, 2, 7, 4, 0)


def test_first_index_takes_the_lower_of_the_two_unless_a_lower_one_lies_between():
    assert merged("first-index") == (1, 2, 3, 4, 0)
    meridian = LocationSet.from_columns(["mid", "s", "n"], [0.5, 0.0, 1.0], [0.0, 0.0, 0.0])
    assert merged("first-index", (1,), (2,), meridian) == (0,)


def test_merging_arrays_merges_each_case():
    first = tuple(np.array([a, b]) for a, b in zip(FIRST, SECOND, strict=True))
    second = tuple(np.array([b, a]) for a, b in zip(FIRST, SECOND, strict=True))
    for rule in ("direction", "first-index"):
        together = merged(rule, first, second)
        assert [y[0] for y in together] == list(merged(rule))
        assert [y[1] for y in together] == list(merged(rule, SECOND, FIRST))
