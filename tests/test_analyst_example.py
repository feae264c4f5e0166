"""The analyst's example: a script and a notebook of the same cells, which run in order."""

import json
import re
from pathlib import Path

import pytest
from notebook_maker import (
    NOTEBOOK,
    SCRIPT,
    TUTORIALS,
    Cell,
    cells_of_notebook,
    cells_of_script,
    executed,
    notebook,
)

from nomadp.answers import Estimate

CELLS = cells_of_notebook(NOTEBOOK.read_text(encoding="utf-8"))
NOTEBOOKS = [NOTEBOOK, *(made for _, made in TUTORIALS.values())]


def without_outputs(cells: list[Cell]) -> list[tuple[str, str]]:
    return [(cell.kind, cell.text) for cell in cells]


def structure(cell: Cell) -> str:
    """The outputs of a cell without numbers: the last digits may differ between machines."""
    text = json.dumps(cell.outputs, ensure_ascii=False)
    text = re.sub(r"nomadp-[0-9a-f]{8}", "KEY", text)  # a hash of all numbers
    return re.sub(r"\d+(?:\.\d+)?", "0", text)


def test_script_and_notebook_have_the_same_cells() -> None:
    script = cells_of_script(SCRIPT.read_text(encoding="utf-8"))
    assert without_outputs(script) == without_outputs(CELLS)
    assert notebook(CELLS) == NOTEBOOK.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_outputs_and_keeps_nothing_of_a_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text) < 300_000
    cells = [cell for cell in cells_of_notebook(text) if cell.kind == "code"]
    for cell in cells:
        assert bool(cell.outputs) or "print" not in cell.text
    shown = json.dumps([cell.outputs for cell in cells])
    assert not re.search(r"(?<![\w<.])/(?:home|tmp|root|work|usr|var|Users)/|[A-Z]:\\\\", shown)
    assert not re.search(r"\d (?:ms|s|seconds|minutes)\b", shown)
    counts = [cell.get("execution_count") for cell in json.loads(text)["cells"]]
    assert [count for count in counts if count] == list(range(1, len(cells) + 1))


def test_the_notebook_shows_tables_and_maps() -> None:
    results = [output["data"] for cell in CELLS for output in cell.outputs if "data" in output]
    html = ["".join(data["text/html"]) for data in results]
    assert sum("<svg" in text for text in html) == 2
    assert sum('class="dataframe"' in text for text in html) == 1
    assert all("".join(data["text/plain"]).strip() for data in results)


def test_the_example_is_short() -> None:
    assert len(SCRIPT.read_text(encoding="utf-8").splitlines()) <= 80


@pytest.mark.slow
def test_its_cells_print_and_show_what_the_notebook_keeps() -> None:
    now = executed(cells_of_script(SCRIPT.read_text(encoding="utf-8")))
    changed = [
        cell.text
        for cell, kept in zip(now, CELLS, strict=True)
        if structure(cell) != structure(kept)
    ]
    assert changed == [], "run python tests/notebook_maker.py"


@pytest.mark.slow
def test_its_cells_lead_from_reports_to_tables_and_a_map(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for place, cell in enumerate(CELLS):
        if cell.kind == "code":
            exec(compile(cell.text, f"cell {place} of {NOTEBOOK.name}", "exec"), names)
    said = capsys.readouterr().out
    assert re.search(r"^[1-9]\d* of \d+ ", said, re.MULTILINE)  # significant areas, areas
    assert "EPSG:4326" in said
    assert Estimate.read("density.geojson").kind == "density"
    assert Path("flows.csv").read_text(encoding="utf-8").startswith("origin,dest,count")
    page = Path("city.html").read_text(encoding="utf-8")
    assert page.count('<section class="band"') >= 3
