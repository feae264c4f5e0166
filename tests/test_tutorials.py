"""Tutorials print what their pages show, here and from an empty environment."""

import difflib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from notebook_maker import TUTORIALS, cells_of_tutorial, notebook
from tutorial_walk import Walk
from tutorials_maker import GUIDES, PAGES, VARIES, blocks, looks_like, walked

ROOT = Path(__file__).resolve().parent.parent


def changed(shown: str, printed: str) -> list[str]:
    lines = difflib.unified_diff(shown.splitlines(), printed.splitlines(), n=0, lineterm="")
    return list(lines)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_prints_what_its_page_shows(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    with Walk(tmp_path) as walk:
        new = walked(text, walk)
    assert changed(text, new) == [], "run python tests/tutorials_maker.py"


@pytest.mark.slow
@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_a_guide_prints_what_its_page_shows(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    with Walk(tmp_path) as walk:
        assert walked(text, walk) == text, "run python tests/tutorials_maker.py"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As an index would serve it; built without the network."""
    out = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (made,) = out.glob("*.whl")
    return made


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_it_runs_from_an_empty_environment_with_pip_and_the_wheel(
    page: Path, wheel: Path, tmp_path: Path
) -> None:
    text = page.read_text(encoding="utf-8")
    with Walk(tmp_path, wheel) as walk:
        if not walk.has_packages():
            pytest.skip("pip finds no packages here: there is no network, or no index")
        assert changed(text, walked(text, walk)) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_output_is_shown_and_none_is_left_out_whole(page: Path) -> None:
    every = list(blocks(page.read_text(encoding="utf-8")))
    shown = [block.text.strip() for block in every if block.kind == "text"]
    assert shown
    assert not {"", "..."} & set(shown)
    assert re.search(r"^pip install", every[0].text, re.MULTILINE), "it begins by installing"


def test_a_number_that_changed_makes_a_page_stale() -> None:
    assert looks_like("error 5.69 km\n", "error 5.69 km\n", "")
    assert not looks_like("error 5.69 km\n", "error 5.68 km\n", "")
    assert not looks_like("...\n", "error 5.68 km\n", "")
    assert looks_like("first\n...\nlast\n", "first\nsecond\nthird\nlast\n", "")
    assert not looks_like("first\n...\nlast\n", "first\nsecond\n", "")


def test_numbers_that_vary_are_compared_by_what_is_around_them() -> None:
    assert looks_like("r0_c1  0.43  yes\n", "r1_c0  0.0872  no\n", VARIES)
    assert not looks_like("r0_c1  0.43  yes\n", "r1_c0  0.0872  0.1  no\n", VARIES)
    assert not looks_like("16 rows\n", "16 columns\n", VARIES)


def test_ids_and_days_differ_in_every_run() -> None:
    one, other = "a" * 43, "b" * 43
    assert looks_like(f"task {one} of 2027-01-01\n", f"task {other} of 2028-01-01\n", "")
    assert not looks_like(f"task {one}: 1 reports\n", f"task {other}: 2 reports\n", "")


def test_a_command_that_is_refused_unexpectedly_ends_the_walk(tmp_path: Path) -> None:
    page = "```bash\nnomadp explain --epsilon -1 --length 2\n```\n"
    with Walk(tmp_path) as walk:
        with pytest.raises(RuntimeError, match=r"\[epsilon_out_of_range\]"):
            walked(page, walk)
        assert walked(f"<!-- is refused -->\n{page}", walk)


@pytest.mark.parametrize("name", TUTORIALS, ids=lambda name: name)
def test_a_notebook_has_the_cells_of_its_tutorial(name: str) -> None:
    page, made = TUTORIALS[name]
    cells = cells_of_tutorial(page.read_text(encoding="utf-8"))
    assert {cell.kind for cell in cells} == {"markdown", "code"}
    shown = [output for cell in cells for output in cell.outputs]
    assert len(shown) == page.read_text(encoding="utf-8").count("```text\n")
    assert notebook(cells) == made.read_text(encoding="utf-8"), (
        "run python tests/notebook_maker.py"
    )
    for target in re.findall(r"\]\(([^)#\s]+)", made.read_text(encoding="utf-8")):
        assert (made.parent / target).exists(), target
