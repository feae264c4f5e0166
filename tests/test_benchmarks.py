"""The speed benchmark measures what it says, and sees when something became slower."""

import importlib
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from nomadp.mechanisms import make_mechanism, perturb_one
from nomadp.randomness import SeededRandom

ROOT = Path(__file__).resolve().parent.parent
RATES = {"aes_gb_s": 4.0, "memory_gb_s": 10.0}
RUN = {
    "date": "2026-01-02",
    "version": "1",
    "commit": None,
    "cpus": 2,
    "python": "3.11.0",
    "numba": True,
}
FIELDS = {
    "mechanism",
    "set",
    "locations",
    "trajectories",
    "points",
    "us",
    "clock_us",
    "reference_us",
    "ratio",
    "randomness_share",
    "words_made",
    "words_needed",
    "bound_us",
    "times_bound",
    "prepare_s",
    "set_mib",
    "peak_mib",
}


@pytest.fixture(autouse=True)
def beside_the_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")


def script(name: str) -> ModuleType:
    return importlib.import_module(name)


@pytest.mark.parametrize("goal", [50, 200])
def test_a_collector_that_is_ready_too_late_misses_its_goal(goal: int) -> None:
    kills = script("collector_kills")
    found = script("crashes").Tally(acknowledged=9, lost=0, doubled=0)
    met = [kills._killed("kill", goal, found, ready_s, goal).is_met for ready_s in (4.9, 5.1)]
    assert met == [True, False]


def report(**measured: float) -> dict[str, Any]:
    """A run in which each of these mechanisms is so many times faster than the reference."""
    cases = [
        {"mechanism": name, "set": "city-1000", "trajectories": 512, "us": 100 / ratio}
        | {"ratio": ratio, "speed_up": 1.9, "peak_mib": 100.0, "reference_us": 100.0}
        for name, ratio in measured.items()
    ]
    return {"run": RUN | RATES, "sets": ["city-1000"], "cases": cases}


def test_a_case_tells_everything_about_itself() -> None:
    case = {"mechanism": "exp", "set": "city-60"}
    told: dict[str, Any] = {}
    asked = {"seconds": 0.01, "trips": 64, "cores": 2}
    script("speed_case").measured(case | asked, told.update)
    facts = script("speed_runs").concluded(case | told, RATES)
    assert facts.keys() >= FIELDS | {"all_cores_us", "speed_up"}
    assert 0 < facts["bound_us"] < facts["us"]
    assert 0 < facts["randomness_share"] < 1
    assert facts["set_mib"] <= facts["peak_mib"]


def test_the_bound_is_the_words_and_the_bytes_at_their_rates() -> None:
    # 4 GB/s are 4000 bytes a microsecond: 8000 / 4000 + 2 * 5000 * 8 / 10000.
    assert script("speed_bound").bound_us(1000, 5000, RATES) == pytest.approx(2 + 8)


def test_ratios_are_taken_of_the_measured_times() -> None:
    stages = {"us": 10.0, "clock_us": 11.0, "all_cores_us": 4.4, "reference_us": 400.0}
    law = {"words_needed": 1000, "points": 5}
    facts = script("speed_runs").concluded(stages | law, RATES)
    assert (facts["ratio"], facts["speed_up"]) == (40, 2.5)
    assert facts["times_bound"] == pytest.approx(10 / (2 + 0.008))


def test_counting_and_timing_change_no_words() -> None:
    bound = script("speed_bound")
    words, tally = SeededRandom(3), bound.Tally()
    timed = bound.TimedWords(words, tally).bound_to("x")
    rows = words.bound_to("x").rows(np.arange(4), 6)
    assert np.array_equal(timed.rows(np.arange(4), 6), rows)
    counted = bound.CountedStream(timed.stream(2))
    assert [counted.next() for _ in range(6)] == rows[2].tolist()
    assert (counted.drawn, tally.words) == (6, 4 * 6 + 64)
    assert tally.seconds > 0


def test_the_words_a_law_needs_are_counted_by_the_reference() -> None:
    city = script("speed_sets").generated(50, trips=1)
    mechanism = make_mechanism("exp", city.locations, 1)
    stream = script("speed_bound").CountedStream(SeededRandom(1).stream(0))
    perturb_one(mechanism, city.trajectories[0], stream)
    assert stream.drawn == len(city.trajectories[0])


def test_generated_walks_have_steps_of_about_a_kilometre() -> None:
    city = script("speed_sets").generated(20_000, trips=500)
    rows = city.trajectories.locations.reshape(500, 5)
    steps_km = city.locations.distances_between_km(rows[:, :-1], rows[:, 1:])
    # Of 2000 steps with mean 1 and spread 0.52; a location is some 100 m from the walker.
    assert steps_km.mean() == pytest.approx(1, abs=0.1)
    assert city.locations.diameter_km < 1.01 * 30 * 2**0.5
    again = script("speed_sets").generated(20_000, trips=500)
    assert (again.locations, again.trajectories) == (city.locations, city.trajectories)


def test_exponents_are_slopes_of_logarithms() -> None:
    exponent = script("speed_runs").exponent
    assert exponent([(10, 3.0), (100, 3 * 10**1.5), (1000, 3 * 10**3.0)]) == pytest.approx(1.5)
    assert exponent([(10, 3.0)]) is None


def test_what_would_take_too_long_is_not_tried() -> None:
    hopeless = script("speed_runs").hopeless
    known = [{"locations": 1000, "prepare_s": 0.3}, {"locations": 10_000, "prepare_s": 3.0}]
    assert hopeless(known, 100_000, cap_s=30) == {}
    (reason,) = hopeless(known, 1_000_000, cap_s=30).values()
    assert re.findall(r"[\d,]+\d|\d", reason) == ["5", "10,000"]  # minutes, locations
    assert hopeless([], 1_000_000, cap_s=30) == {}


@pytest.mark.slow
def test_a_case_that_is_stopped_keeps_what_it_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    runs = script("speed_runs")
    endless = tmp_path / "endless.py"
    endless.write_text(
        "import time\nprint('{\"prepare_s\": 1.5}', flush=True)\ntime.sleep(60)\n"
    )
    monkeypatch.setattr(runs, "SCRIPT", endless)
    told = runs.child({}, cap_s=2)
    assert told == {"prepare_s": 1.5, "stopped": told["stopped"]}
    assert "2 s" in told["stopped"]
    assert told["stopped"] in runs.concluded(told, RATES)["not measured"]


def test_of_two_rounds_the_least_times_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = script("speed_runs")
    law = {"trajectories": 8, "words_needed": 5.0, "points": 5.0, "randomness_share": 0.2}
    told = iter(
        [
            law | {"us": 4.0, "clock_us": 4.0, "all_cores_us": 2.0, "reference_us": 80.0},
            law | {"us": 2.0, "clock_us": 5.0, "all_cores_us": 1.0, "reference_us": 90.0},
        ]
    )
    monkeypatch.setattr(runs, "child", lambda case, cap_s: next(told))
    plan = runs.Plan(["exp"], ["nyc"], 1.0, 30.0, 8, 10, [], rounds=2)
    (case,) = runs.all_cases(plan, RATES)
    assert (case["us"], case["ratio"], case["speed_up"]) == (2, 40, 4)


def test_a_round_that_measured_fewer_trajectories_is_not_compared() -> None:
    disturbed, quiet = {"trajectories": 8, "us": 1.0}, {"trajectories": 64, "us": 2.0}
    assert script("speed_runs").faster(disturbed, quiet) == quiet
    assert script("speed_runs").faster(quiet, disturbed) == quiet


def test_a_slower_case_is_a_regression_and_a_faster_one_is_not(tmp_path: Path) -> None:
    history = script("speed_history")
    path = tmp_path / "history.jsonl"
    assert history.record(report(exp=1.0, tp=1.0, atp=1.0), path) == 3
    assert history.record(report(exp=10.0, tp=10.0, atp=10.0), path) == 3
    now = report(exp=7.9, tp=8.1, atp=20.0, atlas=3.0)
    found = history.changes(now, history.read_history(path))
    # Against the last of the two, in time: 10 / 7.9 is 27 % more, 10 / 8.1 is 23 %.
    assert [(c["mechanism"], c["regression"]) for c in found] == [
        ("exp", True),
        ("tp", False),
        ("atp", False),
        ("atlas", False),
    ]
    lines = script("speed_tables").change_lines({"changes": found})
    (flagged,) = (line for line in lines if "REGRESSION" in line)
    assert all(each in flagged for each in ("exp", "city-1000", "+27%", "2026-01-02"))
    (unknown,) = (line for line in lines if "atlas" in line)
    assert "--record" in unknown


def test_only_like_is_compared_with_like(tmp_path: Path) -> None:
    history = script("speed_history")
    path = tmp_path / "history.jsonl"
    history.record(report(exp=10.0), path)
    elsewhere = [{"numba": False}, {"cpus": 64}]
    others = [report(exp=1.0) | {"run": RUN | facts} for facts in elsewhere]
    for other in (*others, of_more(report(exp=1.0))):
        (change,) = history.changes(other, history.read_history(path))
        assert (change["since"], change["regression"]) == (None, False)


def of_more(made: dict[str, Any]) -> dict[str, Any]:
    """As a faster machine measures it, which gets further in the same time."""
    for case in made["cases"]:
        case["trajectories"] *= 8
    return made


def test_a_record_that_a_newer_one_of_other_trajectories_replaced_is_not_gone_back_to(
    tmp_path: Path,
) -> None:
    history = script("speed_history")
    path = tmp_path / "history.jsonl"
    history.record(of_more(report(atp=50.0)), path)  # old: faster since for other reasons
    history.record(report(atp=10.0), path)
    (change,) = history.changes(of_more(report(atp=10.0)), history.read_history(path))
    assert (change["since"], change["regression"]) == (None, False)
    (change,) = history.changes(report(atp=9.0), history.read_history(path))
    assert (change["since"], change["change"]) == ("2026-01-02", pytest.approx(0.1111, 1e-3))


def test_the_committed_history_names_no_machine() -> None:
    history = script("speed_history")
    known = {*history.OF_THE_RUN, *history.OF_THE_CASE}
    collector = {*history.OF_THE_RUN, *history.OF_A_COLLECTOR, "figures"}
    for entry in history.read_history():
        assert entry.keys() == (collector if entry["mechanism"] == "collector" else known)
        assert re.fullmatch(r"[0-9a-f]{7,}\+?", entry["commit"] or "0000000")


def test_documents_get_tables_with_as_many_cells_in_every_row() -> None:
    made = report(exp=7.9, atp=20.0) | {"scaling": {"exp": {"us": 1.0}}, "start_up": []}
    for name, value in script("speed_tables").facts(made).items():
        assert "-->" not in value
        assert len({row.count("|") for row in value.strip().splitlines()}) <= 1, name


def test_a_regression_fails_the_run_and_documents_get_its_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    speed, rest = script("speed"), {"scaling": {}, "start_up": [], "skipped": {}}
    history, documents = tmp_path / "history.jsonl", tmp_path / "measured.json"
    documents.write_text('{"other": "kept"}')
    monkeypatch.setattr(speed, "MEASURED", documents)

    def run(ratio: float, *options: str) -> int:
        def made(plan: object, past: list[dict[str, Any]]) -> dict[str, Any]:
            now = report(atp=ratio) | rest | {"definitions": speed.DEFINITIONS}
            return now | {"changes": script("speed_history").changes(now, past)}

        monkeypatch.setattr(speed, "measured", made)
        files = ["--json", str(tmp_path / "new" / "bench.json"), "--history", str(history)]
        return speed.main([*files, *options])

    assert run(10.0, "--record") == 0
    assert run(5.0) == 1
    assert re.search(r"\+100%.* 2026-01-02 .*REGRESSION", capsys.readouterr().out)
    assert run(5.0, "--quick") == 0
    assert run(10.0, "--docs") == 0
    written = json.loads(documents.read_text())
    assert written["other"] == "kept"
    assert "| atp | 10.0 |" in written["speed-us"]
    assert len(history.read_text().splitlines()) == 1


def test_sets_that_are_not_here_are_skipped_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOMADP_DATA", str(tmp_path))
    speed = script("speed")
    plan = speed.plan_of(speed.parsed([]))
    cities = ["city-1000", "city-10000", "city-100000", "city-1000000"]
    assert plan.sets == [*cities, "globe-1000", "globe-100000"]
    assert "NOMADP_DATA" in speed.skipped(plan)["the paper's sets"]
    (tmp_path / "nyc").mkdir()
    (tmp_path / "nyc" / "locations.csv").touch()
    plan = speed.plan_of(speed.parsed(["--only", "atp"]))
    assert plan.sets[:4] == ["nyc", "chi", "cle", "cps"]
    assert (plan.mechanisms, speed.skipped(plan)) == (["atp"], {})


def test_a_hasty_run_is_not_kept(capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in (["--quick", "--record"], ["--only", "atp,nosuch"]):
        with pytest.raises(SystemExit) as refused:
            script("speed").main(wrong)
        assert refused.value.code == 2
    assert "nosuch" in capsys.readouterr().err


def test_dev_hands_its_arguments_to_the_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)
    dev, commands = script("dev"), []
    monkeypatch.setattr(dev, "run", lambda command: commands.append(command) or 0)
    assert dev.COMMANDS["bench"](["--quick"]) == 0
    assert [command[1:] for command in commands] == [
        [ROOT / "benchmarks" / "speed.py", "--quick"]
    ]


@pytest.mark.slow
def test_a_quick_run_prints_the_table_and_writes_all_fields(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, past = tmp_path / "bench.json", tmp_path / "history.jsonl"
    asked = ["--quick", "--json", str(out), "--history", str(past)]
    assert script("speed").main(asked) == 0
    told = json.loads(out.read_text("utf-8"))
    assert told["run"].keys() == RUN.keys() | RATES.keys()
    assert len(told["cases"]) == 6
    for case in told["cases"]:
        assert case.keys() >= FIELDS
        assert case["bound_us"] < case["us"]
    assert told["scaling"].keys() == {"exp", "atp", "atlas"}
    (started,) = told["start_up"]
    assert 0 < started["imports_s"] < started["read_s"] < started["first_batch_s"]
    shown = capsys.readouterr()
    assert re.search(r"^city-800 +atp( +[\d,.%-]+){11}$", shown.out, re.MULTILINE)
    assert re.search("6.* 6.*atlas.*city-800", shown.err)
    assert str(ROOT) not in out.read_text("utf-8")
    assert sys.executable not in shown.out


def test_figures_of_mechanisms_that_were_not_measured_stay() -> None:
    tables = script("speed_tables")
    header = "\n| us | nyc | chi |\n| --- | ---: | ---: |\n"
    before = f"{header}| exp | 1.0 | 2.0 |\n| atlas | 3.0 | - |\n"
    now = f"{header}| atlas | 2.5 | 2.4 |\n"
    known = {"speed-us": before, "speed-scaling": "exp 0.17, atlas 0.02", "speed-run": "A; B"}
    found = {"speed-us": now, "speed-scaling": "atlas 0.03", "speed-run": "A; C"}
    assert tables.merged(known, found) == {
        "speed-us": before.replace("3.0 | -", "2.5 | 2.4"),
        "speed-scaling": "exp 0.17, atlas 0.03",
        "speed-run": "A; B",
    }
    other = now.replace("chi", "cle")
    assert tables.merged(known, {"speed-us": other}) == {"speed-us": other}


def test_ratios_of_sets_that_were_not_measured_stay(tmp_path: Path) -> None:
    tables = script("estimates_tables")
    before = json.loads(tables.MEASURED.read_text("utf-8"))["bayes-ratios"]
    assert tables.ratios(tmp_path) == before
    found = {"4": [0.3, 0.1, 50.04], "10": [0.2, 0.05, 60]}
    (tmp_path / "chi-ratios.json").write_text(json.dumps(found))
    (header, *rows), (_, *others) = (
        [line.split(" | ") for line in each.split("\n")[1:-1]]
        for each in (tables.ratios(tmp_path), before)
    )
    place = header.index("CHI")
    assert [row.pop(place) for row in rows[1:]] == [
        *(".3000", ".1000", "3.00", "50.0 %"),
        *(".2000", ".0500", "4.00", "60.0 %"),
    ]
    assert rows[1:] == [[*row[:place], *row[place + 1 :]] for row in others[1:]]


def test_of_places_that_are_as_hot_the_first_are_taken() -> None:
    counts = script("estimates_counts")
    truth = object.__new__(counts.Truth)
    visits = np.arange(1000) % 3.0
    truth.visits, truth.points, truth.popular = visits, 1, np.arange(10)
    truth.hot = np.flatnonzero(visits == 2)[: counts.HOTSPOTS]
    assert truth.scores(visits, None, None)["recall"] == 1
