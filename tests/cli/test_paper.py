"""``nomadp paper`` on sets small enough to wait for."""

import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from refusals import printed_code

from nomadp.cli import main
from nomadp.datasets.built import write_built
from nomadp.datasets.city import build_city
from nomadp.paper.specs import FULL, Plan
from tests.cli.conftest import assert_refused

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


def test_writes_a_report_and_says_where(data: Path, tmp_path: Path, wording: Any) -> None:
    result = run("directions", "--quick", "--data", data, "--out", tmp_path, "--jobs", 1)
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "directions.png").is_file()
    text = result.stdout + result.stderr
    wording("cli", "paper", text, hide={str(tmp_path): "FOLDER"})


def test_the_second_time_nothing_is_computed(data: Path, tmp_path: Path, wording: Any) -> None:
    command = ("directions", "--quick", "--data", data, "--out", tmp_path, "--jobs", 1)
    run(*command)
    before = (tmp_path / "report.html").read_bytes()
    result = run(*command)
    assert re.findall(r"\d+", result.stderr) == ["0", "1", "5"]  # pieces, processes, kept
    wording("cli", "paper, the second time", result.stderr)
    assert (tmp_path / "report.html").read_bytes() == before


def test_folders_that_are_no_whole_sets_are_named(
    data: Path, tmp_path: Path, wording: Any
) -> None:
    folder = tmp_path / "data"
    shutil.copytree(data, folder)
    shutil.copytree(data / "town", folder / "half")
    (folder / "half" / "trajectories.csv").unlink()
    (folder / "notes").mkdir()
    (folder / ".hidden").mkdir()
    command = ("directions", "--quick", "--data", folder, "--out", tmp_path / "out")
    result = run(*command, "--jobs", 1)
    assert result.exit_code == 0, result.stderr
    assert "hidden" not in result.stderr
    wording("cli", "paper, with folders that are no sets", result.stderr)
    assert as_json(run(*command, "--jobs", 1, "--json"))["datasets"] == ["town"]
    shutil.rmtree(folder / "town")
    refused = run(*command)
    assert refused.exit_code == 2
    assert printed_code(refused.stderr.splitlines(keepends=True)[-1]) == "no_data_sets"


def test_json_names_what_was_written(data: Path, tmp_path: Path) -> None:
    content = as_json(
        run(
            *("table1", "directions", "--quick", "--data", data, "--out", tmp_path),
            *("--jobs", 1, "--json"),
        )
    )
    assert content["datasets"] == ["town"]
    assert content["simulated"] is False
    assert all(Path(path).is_file() for path in content["files"])
    assert len(content["files"]) == 1 + 2 * 4


def test_a_report_can_be_drawn_again_without_computing(data: Path, tmp_path: Path) -> None:
    run("directions", "--quick", "--data", data, "--out", tmp_path, "--jobs", 1)
    (tmp_path / "report.html").unlink()
    result = run("report", "--out", tmp_path)
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "report.html").is_file()
    assert result.stderr == ""


def test_without_data_it_says_that_they_are_simulated(tmp_path: Path) -> None:
    result = run("directions", "--quick", "--out", tmp_path, "--jobs", 1)
    assert result.exit_code == 0, result.stderr
    assert "--data" in result.stderr
    again = run("directions", "--quick", "--out", tmp_path, "--jobs", 1, "--json")
    assert as_json(again)["simulated"] is True


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), ("usage", "NAME")),
        (("fig4",), ("unknown_experiment", "fig4")),
        (("ne", "--data", "nowhere"), ("not_a_folder", "nowhere")),
        (("ne", "--runs", "0"), ("option_out_of_range", "'--runs'")),
        (("report",), ("no_earlier_run", "paper-output", "nomadp paper all")),
        (("report", "--quick"), ("option_unsuitable", "--out")),
        (("report", "ne"), ("option_unsuitable", "--out")),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_two(
    arguments: tuple[str, ...],
    says: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_refused(run(*arguments), *says)
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_it_says_so_before_it_computes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("table1", "--out", tmp_path / "out")
    assert_refused(result, "package_missing", 'pip install "nomadp[plot]"', exit_code=1)
    assert not (tmp_path / "out").exists()


def test_the_default_amounts_are_the_papers() -> None:
    assert FULL.runs == 5
    assert FULL.epsilons == tuple(str(k) for k in range(1, 11))
    assert FULL.trajectories is None


def test_help_names_every_experiment() -> None:
    from nomadp.paper import EXPERIMENTS

    text = run("--help").stdout
    assert all(name in text for name in EXPERIMENTS)
