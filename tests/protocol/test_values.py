"""Values of one size for every journey, and none that cannot have been released."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from nomadp.errors import ReportRefused
from nomadp.laws import law_of_labels
from nomadp.mechanisms import make_mechanism
from nomadp.protocol import ValueCode
from tests.protocol.conftest import ATLAS, NINE


def of_labels(size, epsilon) -> ValueCode:
    law = law_of_labels(size, Fraction(epsilon))
    made = make_mechanism("starts", NINE, 1, zones="grid:1")
    object.__setattr__(made, "channel", law)
    return ValueCode.of(made, 1)


SHAPES = {
    "one number": ValueCode(1, 9),
    "one number of two bytes": ValueCode(1, 300),
    "only one": ValueCode(1, 1),
    "a set as bits": of_labels(81, 1),
    "a set as a list": of_labels(5000, 4),
    "a set of one": of_labels(49, 4),
    "a point of a space": of_labels(40_000, 1),
    "nearly all": of_labels(12, "1/10"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_every_value_has_one_size_and_is_read_again(name):
    code = SHAPES[name]
    law = code.law
    words = np.random.default_rng(1).integers(
        0, 2**64, (50, law.word_count if law else 1), "u8"
    )
    if law is None:
        rows = [(k,) for k in range(code.size)]
    else:
        labels = np.arange(50) * law.size // 50
        rows = [tuple(row) for row in law.drawn(labels, words).tolist()]
    texts = [code.text(row) for row in rows]
    assert {len(text) for text in texts} == {code.characters}
    assert [code.parse(text) for text in texts] == rows
    found, good = code.numbers([code.parse_text(text) for text in texts])
    assert good.all()
    assert found.tolist() == [list(row) for row in rows]


def test_what_each_is_written_as():
    assert SHAPES["one number"].text((5,)) == "BQ"
    assert SHAPES["one number of two bytes"].text((258,)) == "AQI"
    assert SHAPES["a set as bits"].bits
    assert not SHAPES["a set as a list"].bits
    assert SHAPES["a set as a list"].byte_count == 2 * SHAPES["a set as a list"].entries
    assert SHAPES["a point of a space"].entries == 1
    assert ValueCode(2, 9, bits=True).text((0, 8)) == "AQE"


@given(text=st.text(max_size=6))
def test_whatever_is_sent_is_read_or_refused(text):
    code = ValueCode(1, 9)
    try:
        (number,) = code.parse(text)
    except ReportRefused:
        return
    assert code.text((number,)) == text


@pytest.mark.parametrize(
    "text", ["", "B", "BQA", "BQ=", "BQ==", "BR", "B+", "B/", "\u00fcQ", " BQ", "BQ\n"]
)
def test_a_value_written_otherwise_is_refused(text):
    with refused(ReportRefused, "report_value_malformed"):
        ValueCode(1, 9).parse(text)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("one number", [9]),
        ("one number", [255]),
        ("one number of two bytes", [300]),
        ("only one", [1]),
        ("a set as a list", [*range(89), 5000]),
        ("a set as a list", [*range(89), 88]),
        ("a set as a list", [1, 0, *range(2, 90)]),
        ("a point of a space", "beyond"),
    ],
)
def test_numbers_that_are_never_released_are_refused(name, row):
    code = SHAPES[name]
    row = [code.size] if row == "beyond" else row
    assert len(row) == code.entries
    with refused(ReportRefused, "report_value_malformed"):
        code.parse(code.text(tuple(row)))


def test_a_set_of_another_size_or_of_labels_there_are_not_is_refused():
    code = SHAPES["a set as bits"]
    full = range(code.entries)
    assert code.parse(code.text(tuple(full))) == tuple(full)
    for row in (full[:-1], [*full, 80], [*full[:-1], 81], [*full[:-1], 87], []):
        with refused(ReportRefused, "report_value_malformed"):
            code.parse(code.text(tuple(row)))


def test_no_values_are_no_numbers():
    for code in SHAPES.values():
        found, good = code.numbers([])
        assert found.shape == (0, code.entries)
        assert good.shape == (0,)


def test_only_a_report_of_a_person_has_numbers():
    made = make_mechanism("atlas", NINE, 4, pinned=ATLAS)
    code = ValueCode.of(made, 3)
    report = made.report([0, 4, 8])
    assert code.released(report) == (report.number,)
    with refused(ReportRefused, "report_not_drawn"):
        code.released(made.simulate([0, 4, 8], seed=1))


@pytest.mark.parametrize(
    "other",
    [
        make_mechanism("trips", NINE, 1, zones="grid:3"),
        make_mechanism("starts", NINE, 2, zones="grid:3"),
        make_mechanism("starts", NINE, 1, zones="grid:2"),
        make_mechanism("starts", NINE, 1, zones="grid:3", when="weekday"),
    ],
    ids=lambda each: each.identity[:40],
)
def test_a_report_of_another_mechanism_has_no_numbers(other):
    own = make_mechanism("starts", NINE, 1, zones="grid:3")
    code = ValueCode.of(own, 1)
    assert code.released(make_mechanism("starts", NINE, 1, zones="grid:3").report([0]))
    with refused(ReportRefused, "report_of_another_mechanism"):
        code.released(other.report([0], 7))


@pytest.mark.parametrize("name", ["exp", "tp", "brr"])
def test_a_mechanism_whose_reports_tell_the_length_has_no_values(name):
    with refused(ReportRefused, "reports_not_sendable", mechanism=name):
        ValueCode.of(make_mechanism(name, NINE, 4), 3)


@pytest.mark.parametrize("length", [1, 2, 7])
def test_a_question_has_values_of_one_size_for_journeys_of_any_length(length):
    made = make_mechanism("trips", NINE, 1, zones="grid:3")
    code = ValueCode.of(made, 1)
    journey = np.arange(length) % 9
    assert len(code.text(code.released(made.report(journey)))) == code.characters
