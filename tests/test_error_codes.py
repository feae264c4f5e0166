"""Every error has a stable code, and tests match codes instead of sentences."""

import re
import sys
from pathlib import Path

import pytest

import nomadp
from nomadp import errors

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "nomadp"
CODE = re.compile("[a-z][a-z0-9]*(_[a-z0-9]+)*")

sys.path.insert(0, str(ROOT / "docs"))
from writers.errors import catalogue  # noqa: E402


def test_codes_are_words_that_say_one_thing() -> None:
    kinds: dict[str, set[str]] = {}
    for each in catalogue():
        assert CODE.fullmatch(each.code), each
        kinds.setdefault(each.code, set()).add(each.kind)
    assert {code: kind for code, kind in kinds.items() if len(kind) > 1} == {}


def test_a_code_and_its_facts_survive_a_process() -> None:
    import pickle

    error = errors.DomainError("three", code="unknown_locations", unknown=3)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code, again.unknown) == ("three", "unknown_locations", 3)


def test_an_error_without_a_code_has_that_of_its_class() -> None:
    with pytest.raises(nomadp.DomainError) as caught:
        raise nomadp.DomainError("something does not fit")
    assert (caught.value.code, caught.value.kind) == ("domain", "domain")
