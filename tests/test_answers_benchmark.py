"""The benchmark of answers draws what its laws say, and scores what it is told."""

import importlib
import json
import math
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from nomadp.laws import law_of_labels
from nomadp.locations import LocationSet
from nomadp.trajectory import TrajectorySet

ROOT = Path(__file__).resolve().parent.parent
PEOPLE = np.array([500, 300, 150, 50, 0])


@pytest.fixture(autouse=True)
def beside_the_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")


def script(name: str) -> ModuleType:
    return importlib.import_module(name)


def square(side: int) -> LocationSet:
    """Locations in the middles of the cells of a grid, row by row from the south-west."""
    row, column = np.divmod(np.arange(side**2), side)
    return LocationSet.from_columns([str(k) for k in range(side**2)], row / 100, column / 100)


@pytest.mark.parametrize("law", ["subset", "oue", "olh", "grr"])
def test_answers_are_unbiased_and_as_exact_as_the_law_says(law: str) -> None:
    peers, rng, times = script("answers_peers"), np.random.default_rng(5), 2000
    drawn = [peers.LAWS[law](PEOPLE, 1.0, rng) for _ in range(times)]
    p, q = drawn[0].true_chance, drawn[0].other_chance
    total, gain = PEOPLE.sum(), p - q
    variance = (PEOPLE * p * (1 - p) + (total - PEOPLE) * q * (1 - q)) / (total * gain) ** 2
    found = np.array([each.unbiased for each in drawn])
    assert np.abs(found.mean(axis=0) - PEOPLE / total).max() < 4 * np.sqrt(
        variance.max() / times
    )
    # A variance of so many draws has a relative deviation of sqrt(2 / times) = 3.2 %.
    assert np.abs(found.var(axis=0) / variance - 1).max() < 4 * math.sqrt(2 / times)


def test_counts_of_subsets_are_those_of_reports_that_were_drawn() -> None:
    law = law_of_labels(5, Fraction(2))
    words = np.random.default_rng(3).integers(
        0, 2**64, (PEOPLE.sum(), 1 + law.entries), dtype=np.uint64
    )
    reports = law.drawn(np.repeat(np.arange(5), PEOPLE), words)
    real = np.bincount(reports.reshape(-1), minlength=5)
    answered = script("answers_peers").subset(PEOPLE, 2.0, np.random.default_rng(4))
    p, q, total = answered.true_chance, answered.other_chance, PEOPLE.sum()
    expected = PEOPLE * p + (total - PEOPLE) * q
    deviation = np.sqrt(PEOPLE * p * (1 - p) + (total - PEOPLE) * q * (1 - q))
    for support in (real, answered.support):
        assert np.abs((support - expected) / deviation).max() < 4


def test_shares_are_projected_on_the_nearest_that_can_be() -> None:
    projected = script("answers_peers").projected
    assert projected(np.array([0.7, 0.5, -0.4])).tolist() == pytest.approx([0.6, 0.4, 0.0])
    kept = np.array([0.2, 0.3, 0.5])
    assert projected(kept) == pytest.approx(kept)


def test_rows_of_cells_go_straight_and_never_stay() -> None:
    paths = script("ldptrace").Paths.of(square(6), np.array([[0, 33], [7, 7], [30, 5]]), 6)
    assert paths.cells[0].tolist() == [0, 7, 13, 20, 26, 33]
    assert paths.lengths.tolist() == [6, 1, 6]
    step = np.divmod(paths.cells[2, 1:], 6)[0] - np.divmod(paths.cells[2, :-1], 6)[0]
    assert step.tolist() == [-1] * 5


def test_ldptrace_learns_the_walk_where_nothing_is_hidden() -> None:
    ldptrace, rng = script("ldptrace"), np.random.default_rng(2)
    paths = ldptrace.Paths.of(square(6), np.array([[0, 2], [0, 0]]), 6)
    model = ldptrace.LdpTrace.fit(paths, np.array([30_000, 10_000]), 200.0, rng)
    first, last = model.trips(20_000, rng)
    assert (first == 0).all()
    # A quarter draws a length of 1. Of the others 10,000 * .3 end on the first cell against
    # 30,000 who go on; who ends stays. 4 deviations of a share of 20,000, and of the bits.
    ended = 0.25 + 0.75 * 3 / 33
    assert np.mean(last == 0) == pytest.approx(ended, abs=0.02)
    assert np.mean(last == 2) == pytest.approx(1 - ended, abs=0.02)


def test_ldptrace_walks_end_where_the_grid_does() -> None:
    ldptrace, rng = script("ldptrace"), np.random.default_rng(2)
    paths = ldptrace.Paths.of(square(4), np.array([[0, 15], [3, 12], [5, 6]]), 4)
    model = ldptrace.LdpTrace.fit(paths, np.array([40, 30, 30]), 0.5, rng)
    for cells in model.trips(500, rng):
        assert cells.min() >= 0
        assert cells.max() < 16
    made = model.journeys(square(4), 500, rng)
    assert made.shape == (500, 2)


def population() -> Any:
    trips = TrajectorySet.from_lists([[0, 5, 15], [0, 15], [3, 12], [6, 6]], size=16)
    return script("answers_questions").Population.of(square(4), trips)


def test_a_population_makes_trips_of_two_points_and_is_its_own_truth() -> None:
    crowd = population()
    assert crowd.journeys.tolist() == [[0, 15], [3, 12], [6, 6]]
    assert crowd.weights.tolist() == [0.5, 0.25, 0.25]
    right = crowd.scores(crowd.truth)
    assert right == {"density": 0, "hotspots": 1, "trips": 0, "lengths": 0}
    assert crowd.truth["trips"].reshape(16, 16)[0, 15] == 0.5
    for question, shares in crowd.baseline.items():
        assert shares.sum() == pytest.approx(1), question
        assert crowd.scores(crowd.baseline)[question] > 0


def test_who_is_asked_for_a_point_draws_one() -> None:
    crowd, rng = population(), np.random.default_rng(1)
    asked = crowd.label_counts("density", np.array([1000, 0, 0]), rng)
    assert asked.sum() == 1000
    assert abs(asked[0] - 500) < 4 * math.sqrt(250)
    assert crowd.label_counts("trips", np.array([1000, 0, 0]), rng)[15] == 1000


def test_levels_get_finer_up_to_the_labels_themselves() -> None:
    crowd = population()
    for question in script("answers_questions").QUESTIONS:
        levels = crowd.levels(question).groups
        assert len(np.unique(levels[-1])) == crowd.size(question)
        for coarse, fine in pairwise(levels):
            pairs = np.unique(np.stack([fine, coarse]), axis=1)
            assert len(pairs.T) == len(np.unique(fine)), question


def quick(folder: Path) -> list[str]:
    return [str(folder), "--quick", "--sets", "city", "--epsilons", "4", "--jobs", "1"]


def test_a_quick_run_keeps_what_it_measured_and_does_not_repeat_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = script("answers")
    kinds = {name: answers.KINDS[name] for name in ("floors", "direct", "peers", "ldptrace")}
    monkeypatch.setattr(answers, "KINDS", kinds)
    assert answers.main(quick(tmp_path)) == 0
    found = json.loads((tmp_path / "city-4.json").read_text())
    assert found.keys() == kinds.keys()
    for kind in found.values():
        for draws in kind["3000"].values():
            assert draws[0].keys() == {"density", "hotspots", "trips", "lengths"}
    told = found["direct"]["3000"]["direct smoothed"][0]
    assert told["trips"] < found["floors"]["3000"]["flat"][0]["trips"]
    capsys.readouterr()
    assert answers.main(quick(tmp_path)) == 0
    assert not any(kind in capsys.readouterr().err for kind in kinds)
    assert answers.main([*quick(tmp_path), "--again", "peers"]) == 0
    again = capsys.readouterr().err
    assert [kind for kind in kinds if kind in again] == ["peers"]
    assert json.loads((tmp_path / "city-4.json").read_text()) == found


@pytest.mark.slow
def test_a_quick_run_asks_atlas_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = script("answers")
    monkeypatch.setattr(answers, "LARGE", 32)
    assert answers.main(quick(tmp_path)) == 0
    found = json.loads((tmp_path / "city-4.json").read_text())
    flat = found["floors"]["3000"]["flat"][0]["trips"]
    assert found["atlas"]["3000"].keys() == {"atlas counted", "atlas estimated"}
    assert found["codebook"]["3000"]["atlas large"][0]["trips"] < flat


def made_up(folder: Path) -> None:
    """Results of one set in which ours errs .1, a peer .05 on trips, and no privacy nothing."""
    names = ["flat", "atlas counted", "atlas estimated", "direct raw", "direct smoothed"]
    names += ["atlas large", "oue", "olh", "grr", "ldptrace 6", "ldptrace 16", "no privacy"]
    questions = ("density", "hotspots", "trips", "lengths")
    scores = {name: [dict.fromkeys(questions, 0.1) | {"hotspots": 0.9}] for name in names}
    scores["oue"] = [scores["oue"][0] | {"trips": 0.05}]
    people = ("3000", "30000", "300000", "3000000")
    for epsilon in ("1", "2", "4", "8"):
        kinds = {"all": dict.fromkeys(people, scores)}
        (folder / f"city-{epsilon}.json").write_text(json.dumps(kinds))


def test_tables_have_as_many_cells_in_every_row_and_name_who_wins(tmp_path: Path) -> None:
    made_up(tmp_path)
    tables = script("answers_tables")
    found = tables.facts(tables.read(tmp_path))
    for name, value in found.items():
        assert len({row.count("|") for row in value.strip().splitlines()}) == 1, name
    (lost,) = found["answers-lost"].strip().splitlines()[2:]
    assert all(each in lost for each in ("trips", "OUE", "16", "city"))
    assert lost.endswith("| .050 | .100 |")


@pytest.mark.slow
def test_the_figure_shows_every_question_at_every_epsilon(tmp_path: Path) -> None:
    made_up(tmp_path)
    tables = script("answers_tables")
    drawn = script("answers_figure").drawn(tables.read(tmp_path), tables.NAMES)
    assert drawn.startswith("<svg")
    assert drawn.count(", ε = ") == 16
    assert tables.NAMES["no privacy"] in drawn
    assert "dc:date" not in drawn


def test_cells_measured_anew_replace_those_of_the_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part, answers = script("answers_part"), script("answers")
    questions = script("answers_questions").QUESTIONS
    for k, name in enumerate(answers.SETS):
        draws = [{question: 0.1 * k + much for question in questions} for much in (0.0, 0.1)]
        kinds = {"atlas": {str(n): {"atlas estimated": draws} for n in answers.PEOPLE}}
        (tmp_path / f"{name}-2.json").write_text(json.dumps(kinds))
    shown = "\n| mean | ε = 1 | ε = 2 |\n| ATLAS estimated | .9 | .9 |\n| OUE | .9 | .9 |\n"
    known = tmp_path / "measured.json"
    known.write_text(json.dumps({f"answers-{question}": shown for question in questions}))
    monkeypatch.setattr(part, "MEASURED", known)
    assert part.main([str(tmp_path)]) == 0
    (table,) = set(json.loads(known.read_text()).values())
    assert table == shown.replace("| .9 | .9 |", "| .9 | .300 .300 .300 .300 |", 1)
