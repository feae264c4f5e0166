"""Which characters public text must not hold, whatever Unicode a reader knows."""

import sys
from itertools import pairwise

import pytest

from nomadp.characters import (
    BLANKS,
    FORBIDDEN,
    has_blanks,
    has_forbidden,
    printable,
    spreadsheet_safe,
)

HIDDEN = [0x00, 0x1B, 0x7F, 0x85, 0xAD, 0x61C, 0x200B, 0x200D, 0x202E, 0x2066, 0xD800, 0xE000]
HIDDEN += [0xFDD0, 0xFEFF, 0xFFFB, 0xFFFE, 0x2FFFF, 0xE0001, 0xE007F, 0xF0000, 0x10FFFF]
SEEN = [0x20, 0x7E, 0xA0, 0x378, 0x600, 0x2010, 0x202F, 0x3000, 0xD7FF, 0xF900, 0xFFFC, 0xFFFD]
SEEN += [0x1F68C, 0x1FAE9, 0xE0002, 0xEFFFD]


@pytest.mark.parametrize("code_point", HIDDEN)
def test_a_character_that_hides_text_is_forbidden(code_point):
    assert has_forbidden(f"a{chr(code_point)}b")


@pytest.mark.parametrize("code_point", SEEN)
def test_a_character_that_is_seen_or_unassigned_is_not(code_point):
    assert not has_forbidden(f"a{chr(code_point)}b")


def test_spaces_other_than_the_usual_one_are_blanks():
    assert has_blanks("a\u00a0b")
    assert has_blanks("a\u200ab")
    assert not has_blanks("a b")


def test_ranges_are_in_order_and_disjoint():
    both = sorted([*FORBIDDEN, *BLANKS])
    assert list(FORBIDDEN) == sorted(FORBIDDEN)
    assert all(low <= high for low, high in both)
    assert all(one[1] < other[0] for one, other in pairwise(both))
    assert both[-1][1] == sys.maxunicode


def test_text_for_a_terminal_shows_what_it_hides():
    said = "caf\u00e9 \x1b]0;title\x07\u202e\ud800\U000e0041\r"
    assert printable(said) == "caf\u00e9 \\x1b]0;title\\x07\\u202e\\ud800\\U000e0041\\r"
    assert printable("lines\n\tstay") == "lines\n\tstay"


@pytest.mark.parametrize("first", "=+-@\t\r")
def test_a_cell_that_could_be_a_formula_begins_with_an_apostrophe(first):
    assert spreadsheet_safe(f"{first}1") == f"'{first}1"
    assert spreadsheet_safe(f"1{first}") == f"1{first}"
    assert spreadsheet_safe("") == ""


def test_there_are_as_many_as_in_the_client_for_browsers():
    """web/client/tests/characters.test.ts counts the same."""
    every = [chr(code_point) for code_point in range(sys.maxunicode + 1)]
    assert sum(map(has_forbidden, every)) == 139_779
    assert sum(map(has_blanks, every)) == 16
