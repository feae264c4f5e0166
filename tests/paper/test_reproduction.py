"""The document on what reproduces is filled from results by a script, completely."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from nomadp.paper.report import amount
from nomadp.paper.results import Results
from nomadp.paper.specs import EXPERIMENTS

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENT = ROOT / "docs" / "reproduction.md"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    path = ROOT / "benchmarks" / "reproduction.py"
    spec = importlib.util.spec_from_file_location("reproduction", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_value_of_the_document_is_measured(script: ModuleType, results: Results) -> None:
    facts = script.facts(results)
    wanted = set(re.findall(r"<!-- measured: ([\w-]+) -->", DOCUMENT.read_text("utf-8")))
    assert wanted <= facts.keys()
    assert {name for name in facts if name not in wanted} == {"repro-ne", "repro-table2"}


def test_every_experiment_has_its_figure_in_the_document() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert all(f"(images/reproduction/{name}.svg)" in text for name in EXPERIMENTS)


def test_no_value_can_end_its_own_place(script: ModuleType, results: Results) -> None:
    assert all("-->" not in value for value in script.facts(results).values())


def test_a_preliminary_run_is_called_one(script: ModuleType, results: Results) -> None:
    assert amount(results) in script.facts(results)["repro-run"]


def test_tables_have_as_many_cells_in_every_row(script: ModuleType, results: Results) -> None:
    for name in ("repro-errors", "repro-beaten", "repro-counts", "repro-claims"):
        rows = script.facts(results)[name].strip().splitlines()
        assert len({row.count("|") for row in rows}) == 1


def test_refuses_a_folder_that_is_not_finished(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main([]) == 2
    capsys.readouterr()
