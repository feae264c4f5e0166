"""The analyst's example: a script and a notebook of the same cells, which run in order."""

import json
import re
from pathlib import Path

import pytest
from notebook_maker import NOTEBOOK, SCRIPT, cells_of_notebook, cells_of_script, notebook

from nomadp.answers import Estimate

CELLS = cells_of_notebook(NOTEBOOK.read_text(encoding="utf-8"))


def test_script_and_notebook_have_the_same_cells() -> None:
    assert cells_of_script(SCRIPT.read_text(encoding="utf-8")) == CELLS
    assert notebook(CELLS) == NOTEBOOK.read_text(encoding="utf-8")


def test_the_notebook_keeps_nothing_of_a_machine() -> None:
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


def test_the_example_is_short() -> None:
    assert len(SCRIPT.read_text(encoding="utf-8").splitlines()) <= 80


@pytest.mark.slow
def test_its_cells_lead_from_reports_to_tables_and_a_map(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for place, (kind, text) in enumerate(CELLS):
        if kind == "code":
            exec(compile(text, f"cell {place} of {NOTEBOOK.name}", "exec"), names)
    said = capsys.readouterr().out
    assert re.search(r"^[1-9]\d* of \d+ ", said, re.MULTILINE)  # significant areas, areas
    assert "EPSG:4326" in said
    assert Estimate.read("density.geojson").kind == "density"
    assert Path("flows.csv").read_text(encoding="utf-8").startswith("origin,dest,count")
    page = Path("city.html").read_text(encoding="utf-8")
    assert page.count('<section class="band"') >= 3
