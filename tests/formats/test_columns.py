"""Values of columns: read exactly, refused by rule and row."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nomadp.formats.columns import BadValue, Moments, TextCoder, decimals, whole_numbers


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_decimals_survive_being_written_and_read(values):
    assert decimals([repr(v) for v in values]).tolist() == values


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_whole_numbers_survive_being_written_and_read(values):
    assert whole_numbers([str(v) for v in values]).tolist() == values


@given(st.lists(st.lists(st.text(min_size=1))))
def test_texts_are_numbered_in_order_of_appearance_across_pieces(pieces):
    coder = TextCoder()
    codes = [code for piece in pieces for code in coder.add(piece).tolist()]
    texts = [text for piece in pieces for text in piece]
    assert [coder.values[code] for code in codes] == texts
    assert coder.values == tuple(dict.fromkeys(texts))


@pytest.mark.parametrize("bad", ["north", "", "1,5", "1_5", "nan", "NaN", "inf", "-Infinity"])
def test_a_value_that_is_no_finite_number_is_known_by_its_row_only(bad):
    with pytest.raises(BadValue) as refusal:
        decimals(["1.5", "2", bad, bad])
    assert refusal.value.row == 2
    assert refusal.value.facts in ({"code": "not_a_number"}, {"code": "not_finite"})
    if bad:
        assert bad not in str(refusal.value)


@pytest.mark.parametrize("bad", ["1.0", "first", "", "1_5", str(2**63)])
def test_a_value_that_is_no_whole_number_is_known_by_its_row_only(bad):
    with pytest.raises(BadValue) as refusal:
        whole_numbers(["1", bad])
    assert (refusal.value.row, refusal.value.facts) == (1, {"code": "not_a_whole_number"})


def test_an_empty_text_is_known_by_its_row():
    with pytest.raises(BadValue) as refusal:
        TextCoder().add(("a", "", "b"))
    assert (refusal.value.row, refusal.value.facts) == (1, {"code": "value_empty"})


def test_moments_are_put_on_one_clock():
    same = [
        "2012-04-03T18:00:09Z",
        "2012-04-03T20:00:09+02:00",
        "2012-04-03 18:00:09.000+00:00",
    ]
    assert len(set(Moments().add(same).tolist())) == 1
    assert Moments().add(["1970-01-01T00:00:01.000002Z"]).tolist() == [1_000_002]


def test_integers_are_positions():
    assert Moments().add(["3", "-1", "+2"]).tolist() == [3, -1, 2]


def test_a_moment_without_a_time_zone_names_the_fix():
    with pytest.raises(BadValue) as refusal:
        Moments().add(["2012-04-03T18:00:09Z", "2012-04-03T18:00:09"])
    assert (refusal.value.row, refusal.value.facts) == (1, {"code": "time_zone_missing"})
    assert "--time-zone" in str(refusal.value)


@pytest.mark.parametrize(
    "values",
    [
        ["2012-04-03T18:00:09Z", "Tue Apr 03"],
        ["2012-04-03T18:00:09Z", "7"],
        ["2012-04-03T18:00:09Z", ""],
        ["7", "2012-04-03T18:00:09Z"],
    ],
)
def test_moments_and_positions_do_not_mix(values):
    with pytest.raises(BadValue) as refusal:
        Moments().add(values)
    assert refusal.value.row == 1


def test_the_first_piece_decides_what_the_column_holds():
    moments = Moments()
    moments.add(["1", "2"])
    with pytest.raises(BadValue) as refusal:
        moments.add(["2012-04-03T18:00:09Z"])
    assert refusal.value.facts == {"code": "not_a_whole_number"}


@pytest.mark.parametrize("bad", ["41.87x", "nan", "4187_1", ""])
def test_the_chain_of_exceptions_holds_no_value(bad):
    """Python's own refusal quotes the value; it must not hang on ours."""
    for read in (decimals, whole_numbers, Moments().add):
        with pytest.raises(BadValue) as refusal:
            read((bad,))
        assert refusal.value.__context__ is None
        assert refusal.value.__cause__ is None


def test_the_earliest_moment_still_has_a_place_on_the_clock():
    earliest = Moments().add(["0001-01-01T00:00:00Z"])
    assert math.isclose(earliest[0], -62135596800e6)
    assert earliest.dtype == np.int64
