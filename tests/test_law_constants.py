"""No number that a law reads can change unnoticed, and any number that only memory reads can.

The package is loaded once more with one of its constants changed in the source, and asked what
tests/vectors asks: some answer must differ, or none.
"""

import ast
import importlib
import sys
from contextlib import contextmanager
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path

import law_homes
import pytest
from known_answers import load

HALF = "({}) // 2"
LESS = "({}) / 2"
SHORTER = "({})[:len({}) // 2]"
OTHER = "({}) + 'x'"

READ_BY_A_LAW = [
    ("budget", "MAX_EPSILON", HALF, "exp-1", "report"),
    ("budget", "_EXP_BITS", HALF, "laws", "heaviest_weights"),
    ("geometry", "EARTH_RADIUS_KM", LESS, "atp-1", "radii"),
    ("geometry", "EARTH_RADIUS_KM", LESS, "ngram-1", "report"),
    ("channel", "UNIT", HALF, "laws", "law"),
    ("channel", "_TOTAL_BELOW", HALF, "laws", "heaviest_weights"),
    ("channel", "_GIVEN_AWAY", LESS, "laws", "heaviest_weights"),
    ("response", "_RESPONSE_UNIT", HALF, "laws", "law"),
    ("square_wave", "_SERIES_UP_TO", HALF, "laws", "half_widths"),
    ("square_wave", "_TERMS", HALF, "laws", "half_widths"),
    ("granularity", "CANDIDATES", SHORTER, "tp-1", "granularities"),
    ("granularity", "DIRECTION_SHARE", LESS, "tp-1", "granularities"),
    ("pivot", "DIRECTION_PART", LESS, "tp-1", "report"),
    ("merge", "_SAME_KM", LESS, "tp-1", "report"),
    ("anchor", "REGION_PART", LESS, "atp-1", "report"),
    ("anchor", "ANCHOR_PART", LESS, "atp-1", "report"),
    ("anchor", "AnchoredPivotSampling.resolution", HALF, "atp-1", "report"),
    ("calibration", "TEST_VALUES", SHORTER, "atp-1", "radii"),
    ("calibration", "ALL_UP_TO", HALF, "atp-1", "radii"),
    ("calibration", "ALL_UP_TO", "({}) - 1", "atp-1", "radii"),
    ("calibration", "ALL_UP_TO", "({}) + 1", "atp-1", "radii"),
    ("calibration", "SAMPLE", HALF, "atp-1", "radii"),
    ("bipartite", "PRIOR_PAIRS", HALF, "brr-2", "near_counts"),
    ("ngram", "GRID_MAX", HALF, "ngram-1", "report"),
    ("ngram", "_TIE_KM", LESS, "ngram-1", "report"),
    ("ngram", "Ngram.grid", HALF, "ngram-1", "report"),
    ("randomness", "_WORD_BYTES", HALF, "randomness", "stream"),
    ("book", "RECIPE", OTHER, "atlas-1", "walks"),
    ("book", "LARGE_RECIPE", OTHER, "atlas-1", "walks"),
    ("book", "SCALES", SHORTER, "atlas-1", "walks"),
    ("book", "_DENSE", HALF, "atlas-1", "walks"),
    ("book", "_DENSE", "({}) - 1", "atlas-1", "walks"),
    ("book", "_DENSE", "({}) + 1", "atlas-1", "walks"),
    ("book", "_SAMPLE", HALF, "atlas-1", "walks"),
    ("book", "_OTHERS", HALF, "atlas-1", "walks"),
    ("book", "_UNIFORM_BITS", HALF, "atlas-1", "uniforms"),
    ("book", "_POLE", LESS, "atlas-1", "walks"),
    ("near_count", "_FRESH", HALF, "atlas-1", "atlas"),
    ("atlas", "SIZE", HALF, "atlas-1", "report"),
    ("atlas", "WholeJourney.control_points", HALF, "atlas-1", "report"),
]
"""Where it lives, its name, a change, and a file and a kind of case that must notice."""

READ_BY_NO_LAW = [
    ("tables", "TABLE_LIMIT", HALF),
    ("tables", "TABLE_LIMIT", "2 * ({})"),
    ("tables", "_FIRST_WIDTH", HALF),
    ("tables", "_WORDS_MAX", HALF),
    ("locations", "CACHED_ROWS_MAX", HALF),
    ("locations", "CACHED_ROWS_MAX", "2 * ({})"),
    ("locations", "MEDOID_EXACT_MAX", "({}) // 32"),
    ("locations", "SLACK_KM", LESS),
    ("locations", "CHORD_SLACK", LESS),
    ("geometry", "MAX_GRANULARITY", HALF),
    ("geometry", "_AT_HAND", "({}) // 8"),
    ("merge", "_AT_ONCE", HALF),
    ("randomness", "_BLOCK_WORDS", HALF),
]
"""What memory allows, and slack that is meant to decide nothing."""


class Changed:
    """Finds one module and loads it with one assignment changed."""

    def __init__(self, module, name, change):
        self.module, self.name, self.change = module, name, change

    def find_spec(self, fullname, path, target=None):
        if fullname != self.module:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        spec.loader = ChangedLoader(fullname, spec.origin, self)
        return spec


class ChangedLoader(SourceFileLoader):
    def __init__(self, fullname, path, changed):
        super().__init__(fullname, path)
        self._changed = changed

    def get_code(self, fullname):
        tree = ast.parse(self.get_data(self.path))
        *outer, name = self._changed.name.split(".")
        bodies = [tree.body]
        if outer:
            bodies = [
                node.body
                for node in tree.body
                if isinstance(node, ast.ClassDef) and node.name == outer[0]
            ]
        (found,) = [node for body in bodies for node in body if name in assigned(node)]
        old = ast.unparse(found.value)
        found.value = ast.parse(self._changed.change.replace("{}", old), mode="eval").body
        return compile(ast.fix_missing_locations(tree), self.path, "exec")


def assigned(node):
    """The names that a statement gives a value to."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


@contextmanager
def loaded_with(home, name, change):
    """`known_answers` over a fresh package in which one constant is another."""
    finder = Changed(getattr(law_homes, home).__name__, name, change)
    kept = {each: sys.modules.pop(each) for each in list(sys.modules) if is_ours(each)}
    sys.meta_path.insert(0, finder)
    try:
        yield importlib.import_module("known_answers")
    finally:
        sys.meta_path.remove(finder)
        for each in list(sys.modules):
            if is_ours(each):
                del sys.modules[each]
        sys.modules.update(kept)


def is_ours(module):
    return module.split(".")[0] in ("nomadp", "law_homes", "known_answers")


def differs(answers, case, worlds):
    try:
        return not answers.same(answers.answer(case, worlds), case["answer"])
    except answers.NomadpError:  # refusing what used to be answered is another answer
        return True


@pytest.mark.parametrize(("home", "name", "change", "file", "kind"), READ_BY_A_LAW)
def test_another_constant_is_another_answer(home, name, change, file, kind):
    known = load(file)
    cases = [case for case in known["cases"] if case["kind"] == kind]
    with loaded_with(home, name, change) as answers:
        assert any(differs(answers, case, known["worlds"]) for case in quickest(cases))


@pytest.mark.parametrize(("home", "name", "change"), READ_BY_NO_LAW)
def test_no_answer_depends_on_what_no_law_reads(home, name, change):
    with loaded_with(home, name, change) as answers:
        for case, worlds in LARGE:
            assert not differs(answers, case, worlds)


def quickest(cases):
    """The last ones first, for the sharper questions stand at the end; but long ones last."""
    return sorted(reversed(cases), key=lambda case: case["ask"].get("count", 0))


def around_the_limits():
    """Cases on both sides of every size from which on something is kept or made otherwise."""
    for file, kinds in (
        ("tp-1", {"report"}),
        ("atp-1", {"report", "radii"}),
        ("atlas-1", {"walks"}),
    ):
        known = load(file)
        for case in known["cases"]:
            in_large = case["ask"].get("world") in ("nearly between", "3000", "4097", "5000")
            if case["kind"] in kinds and in_large and case["ask"].get("count", 0) < 100:
                yield case, known["worlds"]
    yield load("randomness")["cases"][-1], {}


LARGE = list(around_the_limits())


@pytest.mark.parametrize("home", {home for home, *_ in READ_BY_A_LAW + READ_BY_NO_LAW})
def test_every_number_with_a_name_is_known_to_be_read_by_a_law_or_not(home):
    tree = ast.parse(Path(getattr(law_homes, home).__file__).read_text(encoding="utf-8"))
    numbers = {
        name
        for node in tree.body
        for name in assigned(node)
        if name.isupper() and any(is_number(part) for part in ast.walk(node.value))
    }
    assert numbers <= {name for one, name, *_ in READ_BY_A_LAW + READ_BY_NO_LAW if one == home}


def is_number(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def test_loading_a_changed_package_leaves_the_real_one_as_it_was():
    before = {name: module for name, module in sys.modules.items() if is_ours(name)}
    with loaded_with("budget", "MAX_EPSILON", HALF):
        assert importlib.import_module("nomadp.budget").MAX_EPSILON == 10
    assert {name: module for name, module in sys.modules.items() if is_ours(name)} == before
