"""``nomadp paper`` on sets small enough to wait for."""

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from nomadp.cli import main
from nomadp.datasets.built import write_built
from nomadp.datasets.city import build_city
from nomadp.paper.specs import FULL, Plan

SMALL = Plan(runs=1, epsilons=("1", "4"), trajectories=5, audited_epsilons=("1",))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_built(folder / "town", build_city(1, places=30, trips=40))
    return folder


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nomadp.paper.tasks.QUICK", SMALL)


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(main, ["paper", *map(str, arguments)])


def as_json(result: Result) -> Any:
    import json

    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_writes_a_report_and_says_where(data: Path, tmp_path: Path) -> None:
    result = run("directions", "--quick", "--data", data, "--out", tmp_path, "--jobs", 1)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith(str(tmp_path / "report.html"))
    assert (tmp_path / "directions.png").is_file()
    assert "5 pieces of work on 1 process" in result.stderr


def test_the_second_time_nothing_is_computed(data: Path, tmp_path: Path) -> None:
    command = ("directions", "--quick", "--data", data, "--out", tmp_path, "--jobs", 1)
    run(*command)
    before = (tmp_path / "report.html").read_bytes()
    result = run(*command)
    assert "0 pieces of work on 1 process, 5 kept from an earlier run" in result.stderr
    assert (tmp_path / "report.html").read_bytes() == before


def test_folders_that_are_no_whole_sets_are_named(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(data, folder)
    shutil.copytree(data / "town", folder / "half")
    (folder / "half" / "trajectories.csv").unlink()
    (folder / "notes").mkdir()
    (folder / ".hidden").mkdir()
    command = ("directions", "--quick", "--data", folder, "--out", tmp_path / "out")
    result = run(*command, "--jobs", 1)
    assert result.exit_code == 0, result.stderr
    assert "left out: half lacks trajectories.csv\n" in result.stderr
    assert "left out: notes lacks locations.csv and trajectories.csv\n" in result.stderr
    assert "hidden" not in result.stderr
    assert as_json(run(*command, "--jobs", 1, "--json"))["datasets"] == ["town"]
    shutil.rmtree(folder / "town")
    assert "holds none (half lacks trajectories.csv, notes" in run(*command).stderr


def test_json_names_what_was_written(data: Path, tmp_path: Path) -> None:
    found = as_json(
        run(
            *("table1", "directions", "--quick", "--data", data, "--out", tmp_path),
            *("--jobs", 1, "--json"),
        )
    )
    assert found["datasets"] == ["town"]
    assert found["simulated"] is False
    assert all(Path(path).is_file() for path in found["files"])
    assert len(found["files"]) == 1 + 2 * 4


def test_a_report_can_be_drawn_again_without_computing(data: Path, tmp_path: Path) -> None:
    run("directions", "--quick", "--data", data, "--out", tmp_path, "--jobs", 1)
    (tmp_path / "report.html").unlink()
    result = run("report", "--out", tmp_path)
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "report.html").is_file()
    assert "pieces of work" not in result.stderr


def test_without_data_it_says_that_they_are_simulated(tmp_path: Path) -> None:
    result = run("directions", "--quick", "--out", tmp_path, "--jobs", 1)
    assert result.exit_code == 0, result.stderr
    assert "a simulated city and campus stand in" in result.stderr
    assert "simulated data" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "Missing argument"),
        (("fig4",), "unknown experiment 'fig4'"),
        (("ne", "--data", "nowhere"), "must be a folder of data sets"),
        (("ne", "--runs", "0"), "not in the range"),
        (("report",), "must hold the results of an earlier run"),
        (("report", "--quick"), "takes --out and nothing else"),
        (("report", "ne"), "takes --out and nothing else"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_two(
    arguments: tuple[str, ...], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_it_says_so_before_it_computes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("table1", "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert 'pip install "nomadp[plot]"' in result.stderr
    assert not (tmp_path / "out").exists()


def test_the_default_amounts_are_the_papers() -> None:
    assert FULL.runs == 5
    assert FULL.epsilons == tuple(str(k) for k in range(1, 11))
    assert FULL.trajectories is None


def test_help_names_every_experiment() -> None:
    from nomadp.paper import EXPERIMENTS

    text = run("--help").stdout
    assert all(name in text for name in EXPERIMENTS)
