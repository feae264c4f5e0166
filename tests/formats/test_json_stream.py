"""JSON that streams by is what json.loads says it is, in pieces of any size."""

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nomadp.formats import json_stream
from nomadp.formats.json_stream import JsonStream
from nomadp.formats.unreadable import BadContent

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


class Trickle(io.BytesIO):
    """Gives a byte or few at a time, as a slow pipe does."""

    def __init__(self, content, most):
        super().__init__(content)
        self.most = most

    def read(self, size=-1):
        return super().read(self.most)


def whole(stream):
    """Reads an array or an object to its end, after which nothing may follow."""
    if stream.peek() == "[":
        list(stream.elements())
    else:
        for _ in stream.members():
            stream.value()
    if stream.peek():
        raise BadContent(code="not_json")


def opened(text, most=1 << 16):
    return JsonStream(Trickle(text.encode(), most))


@settings(deadline=None)
@given(
    value=st.lists(VALUES, max_size=5),
    indent=st.sampled_from([None, 2]),
    ascii_only=st.booleans(),
    most=st.integers(1, 40),
)
def test_elements_are_those_of_json(value, indent, ascii_only, most):
    stream = opened(json.dumps(value, indent=indent, ensure_ascii=ascii_only), most)
    assert list(stream.elements()) == value
    assert stream.peek() == ""


@settings(deadline=None)
@given(
    value=st.dictionaries(st.text(), VALUES, max_size=5),
    skipped=st.integers(0, 31),
    most=st.integers(1, 40),
)
def test_members_may_be_read_or_skipped(value, skipped, most):
    stream = opened(json.dumps(value), most)
    members = {}
    for k, name in enumerate(stream.members()):
        if skipped >> k & 1:
            stream.skip()
        else:
            members[name] = stream.value()
    expected = [item for k, item in enumerate(value.items()) if not skipped >> k & 1]
    assert list(members.items()) == expected
    assert stream.peek() == ""


@pytest.mark.parametrize(
    "text",
    [
        *("[1", "[1,", "[1 2]", "[1;2]", "[,]", '["a', "[nul]", "[Nan]", "[01]"),
        *("[" * 10**5, "[1]]"),
    ],
)
def test_what_is_no_json_is_refused(text):
    with pytest.raises(BadContent) as refusal:
        whole(opened(text))
    assert refusal.value.code == "not_json"
    assert refusal.value.__context__ is None


@given(most=st.integers(1, 40))
def test_what_programs_write_for_a_missing_number_is_none(most):
    """JSON has none of these, but whether a file has them depends on its values."""
    text = '["NaN, -Infinity", NaN, {"a": Infinity, "NaN": [1, -Infinity]}, NaN]'
    elements = ["NaN, -Infinity", None, {"a": None, "NaN": [1, None]}, None]
    assert list(opened(text, most).elements()) == elements


@pytest.mark.parametrize(
    "text",
    ["{1: 2}", '{"a" 1}', '{"a": 1', '{"a": 1 "b": 2}', '{"a": 1; "b": 2}', '{"a": [}'],
)
def test_what_is_no_object_is_refused(text):
    with pytest.raises(BadContent):
        whole(opened(text))


def test_a_character_that_is_cut_at_the_end_is_told_from_broken_json():
    with pytest.raises(BadContent) as refusal:
        whole(JsonStream(io.BytesIO('["\u00e9'.encode()[:-1])))
    assert refusal.value.code == "not_utf8"


def test_an_element_without_an_end_is_refused_before_it_fills_memory(monkeypatch):
    monkeypatch.setattr(json_stream, "MAX_ELEMENT_CHARACTERS", 1000)
    with pytest.raises(BadContent) as refusal:
        opened('["' + "x" * 100_000, 100).value()
    assert refusal.value.code == "too_large"


def test_what_is_skipped_says_whether_it_held_anything():
    for text, held in (("[]", False), ("[ {} ]", True), ('{"a": 1}', True), ("7", False)):
        assert opened(text).skip() is held
