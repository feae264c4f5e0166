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
DOUBLE = "2 * ({})"
SHORTER = "({})[:len({}) // 2]"
OTHER = "({}) + 'x'"

READ_BY_A_LAW = [
    ("budget", "MAX_EPSILON", HALF, "exp-1/report/town"),
    ("budget", "_EXP_BITS", HALF, "laws/heaviest_weights"),
    ("geometry", "EARTH_RADIUS_KM", LESS, "atp-1/radii/town"),
    ("geometry", "EARTH_RADIUS_KM", LESS, "ngram-1/report/town"),
    ("channel", "UNIT", HALF, "laws/law"),
    ("channel", "_TOTAL_BELOW", HALF, "laws/heaviest_weights"),
    ("channel", "_SLACK", LESS, "laws/heaviest_weights"),
    ("response", "RESPONSE_UNIT", HALF, "laws/law"),
    ("square_wave", "_SERIES_UP_TO", HALF, "laws/half_widths"),
    ("square_wave", "_TERMS", HALF, "laws/half_widths"),
    ("channel", "UNIT", HALF, "labels/label_law"),
    ("label_laws", "REPORT_BYTES_MAX", HALF, "labels/label_laws"),
    ("labels", "STEPS_MAX", DOUBLE, "labels/label_laws"),
    ("questions", "WHEN", "dict(list(({}).items())[1:])", "starts-1/report/town"),
    ("questions", "WHEN", "dict(list(({}).items())[:1])", "visits-1/report/town"),
    ("questions", "FrequencyOracle.zones", "'grid:15'", "ends-1/report/300"),
    ("kinds", "Trips.zones", "'grid:5'", "trips-1/report/300"),
    ("granularity", "CANDIDATES", SHORTER, "tp-1/granularities"),
    ("granularity", "DIRECTION_SHARE", LESS, "tp-1/granularities"),
    ("pivot", "DIRECTION_PART", LESS, "tp-1/report/town"),
    ("merge", "_SAME_KM", LESS, "tp-1/report/nearly between"),
    ("anchor", "REGION_PART", LESS, "atp-1/report/town"),
    ("anchor", "ANCHOR_PART", LESS, "atp-1/report/town"),
    ("anchor", "AnchoredPivotSampling.resolution", HALF, "atp-1/report/town"),
    ("calibration", "TEST_VALUES", SHORTER, "atp-1/radii/town"),
    ("calibration", "ALL_UP_TO", HALF, "atp-1/radii/3000"),
    ("calibration", "ALL_UP_TO", "({}) - 1", "atp-1/radii/4096"),
    ("calibration", "ALL_UP_TO", "({}) + 1", "atp-1/radii/4097"),
    ("calibration", "SAMPLE", HALF, "atp-1/radii/4097"),
    ("bipartite", "PRIOR_PAIRS", HALF, "brr-2/near_counts/6000"),
    ("ngram", "GRID_MAX", HALF, "ngram-1/report/town"),
    ("ngram", "TIE_KM", LESS, "ngram-1/report/bend"),
    ("ngram", "Ngram.grid", HALF, "ngram-1/report/town"),
    ("randomness", "_WORD_BYTES", HALF, "randomness/stream"),
    ("walks", "SCALES", SHORTER, "atlas-3/walks/town"),
    ("walks", "SHORTEST_KM", LESS, "atlas-3/walks/campus"),
    ("walks", "_WALKED", HALF, "atlas-3/walks/3000"),
    ("walks", "_WALKED", "({}) - 1", "atlas-3/walks/4096"),
    ("walks", "_WALKED", "({}) + 1", "atlas-3/walks/4097"),
    ("walks", "_SAMPLE", HALF, "atlas-3/walks/3000"),
    ("walks", "_UNIFORM_BITS", HALF, "atlas-3/uniforms"),
    ("lloyd", "SIZES", "({})[:1]", "atlas-3/atlas/town"),
    ("lloyd", "WITHIN", "1.3", "atlas-3/atlas/300"),
    *(
        ("lloyd", name, HALF, "atlas-3/atlas/300")
        for name in (
            *("STARTS_EACH", "STARTS_MOST", "WALKS", "WALKS_EACH", "WALKS_LEAST", "HELD_OUT"),
            *("ROUNDS", "MEDIAN_ROUNDS", "NEAR_WALKS"),
        )
    ),
    ("lloyd", "SKETCH_ROUNDS", "1", "atlas-3/report/town"),
    ("lloyd", "WALKS_PER_TRAJECTORY", HALF, "atlas-3/atlas/town"),
    ("lloyd", "REDESIGN_UP_TO", "0", "atlas-3/atlas/town"),
    ("lloyd", "_BLUR", "30 * ({})", "atlas-3/atlas/300"),
    ("long", "WHOLE", HALF, "atlas-3/report/town"),
    ("long", "FEWER", HALF, "atlas-3/report/town"),
    ("long", "FEWER_FROM", "7", "atlas-3/report/town"),
]
"""Where it lives, its name, a change; and file, kind and world of cases that must notice."""

READ_BY_NO_LAW = [
    ("tables", "TABLE_LIMIT"),
    ("tables", "ROWS_MOST"),
    ("word_rows", "_WORDS_MAX"),
    ("dispatch", "FEW"),
    ("locations", "CACHED_ROWS_MAX"),
    ("locations", "MEDOID_EXACT_MAX"),
    ("asked_many", "_NUMBERS_AT_ONCE"),
    ("incidence", "_LABELS_AT_ONCE"),
    ("incidence", "_TABLE_MAX"),
    ("lloyd", "_DISTANCES_AT_ONCE"),
    ("labels", "_DIGITS"),
    ("geometry", "DEGREE_KM"),
    ("geometry", "MAX_GRANULARITY"),
    ("geometry", "_BLOCK_PLACES"),
    ("geometry", "_BLOCK_PAIRS"),
    ("merge", "_DISTANCES_AT_ONCE"),
    ("randomness", "_BLOCK_WORDS"),
    ("locations", "SLACK_KM"),
    ("locations", "CHORD_SLACK"),
]
"""What memory allows, and slack that is meant to decide nothing."""

ONLY_REFUSED_BY = [
    ("anchor", "RADIUS_MAX_KM"),
    ("anchor", "RESOLUTION_MAX"),
    ("budget", "DECIMALS_MAX"),
    ("budget", "MIN_EPSILON"),
    ("budget", "MIN_SHARE"),
    ("budget", "TEXT_MAX"),
    ("channel", "_TOTAL_RATIO_MAX"),
    ("labels", "LABELS_MAX"),
    ("labels", "_OUTPUTS_MAX"),
    ("labels", "_OWNED"),
    ("randomness", "_KEY_BYTES"),
    ("lloyd", "SIZE_MOST"),
]
"""What decides whether a law may be asked for, and nothing about it."""

KNOWN = READ_BY_A_LAW + READ_BY_NO_LAW + ONLY_REFUSED_BY

AT_THE_LIMITS = [
    "tp-1/report/nearly between",
    "atp-1/report/3000",
    "atp-1/report/4097",
    "atp-1/report/5000",
    "atp-1/radii/3000",
    "atp-1/radii/5000",
    "atlas-3/walks/4096",
    "atlas-3/walks/4097",
    "atlas-3/report/5000",
    "trips-1/report/300",
    "visits-1/report/5000",
    "labels/supports",
    "randomness/stream",
]


class Changed:
    """Finds some modules and loads them with assignments changed."""

    def __init__(self, changes):
        self._changes = {}
        for home, name, change in changes:
            module = getattr(law_homes, home).__name__
            self._changes.setdefault(module, {})[name] = change

    def find_spec(self, fullname, path, target=None):
        if fullname not in self._changes:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        spec.loader = ChangedLoader(fullname, spec.origin, self._changes[fullname])
        return spec


class ChangedLoader(SourceFileLoader):
    def __init__(self, fullname, path, changes):
        super().__init__(fullname, path)
        self._changes = changes

    def get_code(self, fullname):
        tree = ast.parse(self.get_data(self.path))
        for name, change in self._changes.items():
            value = assignment(tree, name).value
            new = ast.parse(change.replace("{}", ast.unparse(value)), mode="eval").body
            assignment(tree, name).value = new
        return compile(ast.fix_missing_locations(tree), self.path, "exec")


def assignment(tree, name):
    """The statement that gives a name of the module, or of one of its classes, its value."""
    *outer, name = name.split(".")
    body = tree.body
    if outer:
        (body,) = (node.body for node in body if getattr(node, "name", None) == outer[0])
    (found,) = (node for node in body if name in assigned(node))
    return found


def assigned(node):
    """The names that a statement gives a value to."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


@contextmanager
def loaded_with(*changes):
    """`known_answers` over a fresh package in which some constants are others."""
    finder = Changed(changes)
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
    # Refusing what was answered is another answer, and so is asking for more words.
    except (answers.NomadpError, IndexError, StopIteration):
        return True


@pytest.mark.parametrize(("home", "name", "change", "where"), READ_BY_A_LAW)
def test_another_constant_is_another_answer(home, name, change, where):
    with loaded_with((home, name, change)) as answers:
        assert any(differs(answers, *one) for one in cases_of(where))


@pytest.mark.parametrize("change", ["type({})(({}) / 2)", DOUBLE], ids=["half", "double"])
def test_no_answer_depends_on_what_no_law_reads(change):
    with loaded_with(*((home, name, change) for home, name in READ_BY_NO_LAW)) as answers:
        changed = {
            where
            for where in AT_THE_LIMITS
            if any(differs(answers, *one) for one in cases_of(where))
        }
    assert changed == set()


def cases_of(where):
    """The cases of a file, a kind and perhaps a world, each with all worlds.

    The last come first: they are the special ones, and one that differs is enough.
    """
    file, kind, *world = where.split("/")
    known = load(file)
    for case in reversed(known["cases"]):
        if case["kind"] == kind and world in ([], [case["ask"].get("world")]):
            yield case, known["worlds"]


@pytest.mark.parametrize("home", sorted({row[0] for row in KNOWN}))
def test_every_number_with_a_name_is_known_to_be_read_by_a_law_or_not(home):
    tree = ast.parse(Path(getattr(law_homes, home).__file__).read_text(encoding="utf-8"))
    numbers = {
        name
        for node in tree.body
        for name in assigned(node)
        if name.isupper() and any(is_number(part) for part in ast.walk(node.value))
    }
    assert numbers <= {name for one, name, *_ in KNOWN if one == home}


def is_number(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def test_loading_a_changed_package_leaves_the_real_one_as_it_was():
    before = {name: module for name, module in sys.modules.items() if is_ours(name)}
    with loaded_with(("budget", "MAX_EPSILON", HALF)):
        assert importlib.import_module("nomadp.budget").MAX_EPSILON == 10
    assert {name: module for name, module in sys.modules.items() if is_ours(name)} == before
