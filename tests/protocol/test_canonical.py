"""One text for one value, and no other text is read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from nomadp.errors import SchemaError
from nomadp.protocol.canonical import (
    INTEGER_MAX,
    canonical_bytes,
    parse_canonical,
    parse_object,
)

WHOLE = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NUMBERS = st.integers(-INTEGER_MAX, INTEGER_MAX)
VALUES = st.recursive(
    st.booleans() | NUMBERS | WHOLE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WHOLE, inner, max_size=3),
    max_leaves=6,
).filter(lambda value: _depth(value) <= 6)
OBJECTS = st.dictionaries(WHOLE, VALUES, max_size=4)


def _depth(value):
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max(map(_depth, inner), default=0) if isinstance(value, dict | list) else 0


def parsed(text: bytes):
    return parse_canonical(text, "it", 10_000)


@given(OBJECTS)
def test_what_is_written_is_read_again(value):
    assert parsed(canonical_bytes(value)) == value


@given(OBJECTS)
def test_the_order_of_names_changes_nothing(value):
    turned = dict(reversed(value.items()))
    assert canonical_bytes(turned) == canonical_bytes(value)


@given(OBJECTS.filter(bool))
def test_a_text_with_blanks_is_refused(value):
    spaced = json.dumps(value, ensure_ascii=False, separators=(", ", ": "), sort_keys=True)
    with refused(SchemaError, "json_not_canonical"):
        parsed(spaced.encode())


@given(st.dictionaries(WHOLE, NUMBERS, min_size=2))
def test_names_in_another_order_are_refused(value):
    ordered = list(json.loads(canonical_bytes(value)).items())
    other = json.dumps(dict(ordered[::-1]), ensure_ascii=False, separators=(",", ":"))
    with refused(SchemaError, "json_not_canonical"):
        parsed(other.encode())


def test_names_are_in_the_order_of_utf_16():
    # U+E000 is after the surrogates that U+1F600 is made of, and before it as a number.
    assert (
        canonical_bytes({"\ue000": 1, "\U0001f600": 2})
        == '{"\U0001f600":2,"\ue000":1}'.encode()
    )


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":1}',
        '{"a":{"b":1,"b":2}}',
        '{"a":1.0}',
        '{"a":1e2}',
        '{"a":1E-2}',
        '{"a":-0}',
        '{"a":+1}',
        '{"a":01}',
        '{"a":null}',
        '{"a":NaN}',
        '{"a":-Infinity}',
        f'{{"a":{INTEGER_MAX + 1}}}',
        f'{{"a":{-INTEGER_MAX - 1}}}',
        '{"a":' + "9" * 5000 + "}",
        '{"a":"\\u0061"}',
        '{"a":"\\u00FC"}',
        '{"a":"\\/"}',
        '{"a":"\\u000A"}',
        '{"a":"\\ud800"}',
        '{"\\udfff":1}',
        '{"a":"\n"}',
        '\ufeff{"a":1}',
        '{"a":1} ',
        '{"a":1}\0',
        "[]",
        "true",
        "",
        "{",
        "[" * 9000,
        '{"a":' * 9 + "1" + "}" * 9,
    ],
)
def test_every_other_spelling_is_refused(text):
    with pytest.raises(SchemaError):
        parsed(text.encode())


@pytest.mark.parametrize(
    "content", [b"\xff", b'{"a":"\xff"}', b'{"a":"\xed\xa0\x80"}', "{}".encode("utf-16")]
)
def test_bytes_that_are_no_utf_8_are_refused(content):
    with refused(SchemaError, "not_json_object"):
        parsed(content)


@pytest.mark.parametrize(
    "value",
    [
        {"a": 1.5},
        {"a": None},
        {"a": "\ud800"},
        {1: 2},
        {True: 1},
        {"a": b"b"},
        {"a": 2**53},
        {"a": {3}},
    ],
)
def test_what_has_no_text_is_not_written(value):
    with pytest.raises(SchemaError):
        canonical_bytes(value)


def test_a_text_that_is_too_long_is_not_even_parsed():
    with refused(SchemaError, "json_too_large", limit=3, size=4):
        parse_object(b"{ }x", "it", 3)


@pytest.mark.parametrize("text", ['{"a":1,"a":2}', '{"a":1,"a":1}', '{"b":[{"a":1,"a":2}]}'])
def test_a_name_that_stands_twice_is_refused_in_files_too(text):
    with refused(SchemaError, "not_json_object"):
        parse_object(text.encode(), "it", 100)


def test_files_may_be_written_otherwise_but_not_hold_half_characters():
    assert parse_object(b' {"b": 1, "a": [2]} ', "it", 100) == {"a": [2], "b": 1}
    with refused(SchemaError, "json_text_malformed"):
        parse_object(b'{"names":["\\ud800"]}', "it", 100)
