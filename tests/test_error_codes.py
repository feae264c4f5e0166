"""Every error has a stable code, and tests match codes instead of sentences."""

import ast
import re
import sys
from pathlib import Path

import pytest

import nomadp
from nomadp import errors

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "nomadp"
CODE = re.compile("[a-z][a-z0-9]*(_[a-z0-9]+)*")
OURS = {*errors.__all__, "BadUsage", "Unreadable", "BadRows", "BadContent", "BadValue"}
OURS |= {"StoreRefused", "StoreUnavailable", "StoreCorrupt", "StoreFull", "TokenRefused"}
OURS |= {"AnswerMissing", "CollectorFailed"}
PASSED_ON = {"code", None}
"""Keywords that hand on a code: ``code=error.code``, or ``**vars(error)``."""
BUILT_IN = {"ValueError", "TypeError", "IndexError", "UsageError", "BadParameter"}

sys.path.insert(0, str(ROOT / "docs"))
from writers.errors import catalogue  # noqa: E402


def calls(path: Path) -> list[tuple[int, str, ast.Call]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [(node.lineno, ast.unparse(node.func).split(".")[-1], node) for node in found]


def test_every_error_of_the_package_states_a_code() -> None:
    without = [
        f"{path.relative_to(SOURCE)}:{line} {name}"
        for path in sorted(SOURCE.rglob("*.py"))
        for line, name, node in calls(path)
        if name in OURS and PASSED_ON.isdisjoint(each.arg for each in node.keywords)
    ]
    assert without == []


def test_the_package_raises_no_error_without_a_code() -> None:
    without = []
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            made = node.exc if isinstance(node, ast.Raise) else None
            if isinstance(made, ast.Call) and ast.unparse(made.func).split(".")[-1] in BUILT_IN:
                without.append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    assert without == []


def test_codes_are_words_that_say_one_thing() -> None:
    kinds: dict[str, set[str]] = {}
    for each in catalogue():
        assert CODE.fullmatch(each.code), each
        kinds.setdefault(each.code, set()).add(each.kind)
    assert {code: kind for code, kind in kinds.items() if len(kind) > 1} == {}


def test_tests_match_codes_and_not_sentences() -> None:
    matched = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for line, name, node in calls(path):
            kinds = {ast.unparse(each) for each in node.args}
            if name == "raises" and "match" in {each.arg for each in node.keywords}:
                matched += [f"{path.name}:{line}"] if kinds & OURS else []
    assert matched == []


def test_a_code_and_its_facts_survive_a_process() -> None:
    import pickle

    error = errors.DomainError("three", code="unknown_locations", unknown=3)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code, again.unknown) == ("three", "unknown_locations", 3)


def test_an_error_without_a_code_has_that_of_its_class() -> None:
    with pytest.raises(nomadp.DomainError) as caught:
        raise nomadp.DomainError("something does not fit")
    assert (caught.value.code, caught.value.kind) == ("domain", "domain")
