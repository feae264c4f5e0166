"""Notebooks are made: the analyst's from its script, others from the page of a tutorial.

python tests/notebook_maker.py      all of examples/*.ipynb
"""

import json
import os
import re
from pathlib import Path
from typing import Any

__all__ = [
    "NOTEBOOK",
    "SCRIPT",
    "TUTORIALS",
    "cells_of_notebook",
    "cells_of_script",
    "cells_of_tutorial",
    "notebook",
]

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES, PAGES = ROOT / "examples", ROOT / "docs" / "tutorials"
SCRIPT, NOTEBOOK = EXAMPLES / "analyst.py", EXAMPLES / "analyst.ipynb"
TUTORIALS = {
    "comparing": (PAGES / "comparing-mechanisms.md", EXAMPLES / "comparing.ipynb"),
}
"""Those that are notebooks, too: the page, and what is made of it."""

Cell = tuple[str, str]
"""Its kind, markdown or code, and its text."""


def cells_of_script(text: str) -> list[Cell]:
    """Cells begin with "# %%"; those of words are comments."""
    found = []
    for part in text.split("# %%")[1:]:
        head, _, body = part.partition("\n")
        lines = body.strip("\n").split("\n")
        if head.strip() == "[markdown]":
            found.append(("markdown", "\n".join(line.removeprefix("# ") for line in lines)))
        else:
            found.append(("code", "\n".join(lines)))
    return found


def cells_of_tutorial(text: str) -> list[Cell]:
    """Words and code in turn; what was printed is left to whoever runs it."""
    found: list[Cell] = []
    fence = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    words, kind, code = fence.split(text)[::3], *(fence.split(text)[k::3] for k in (1, 2))
    for before, language, block in zip(words, [*kind, ""], [*code, ""], strict=True):
        if before.strip():
            found.append(("markdown", _linked_from_examples(before.strip())))
        if language == "python":
            found.append(("code", block.strip("\n")))
        elif language == "bash":
            found.append(("code", re.sub(r"^(?=nomadp)", "!", _pip(block), flags=re.MULTILINE)))
    return found


def _pip(block: str) -> str:
    return re.sub(r"^pip", "%pip", block.strip("\n"), flags=re.MULTILINE)


def _linked_from_examples(words: str) -> str:
    def moved(link: re.Match[str]) -> str:
        target = os.path.relpath((PAGES / link[1]).resolve(), EXAMPLES)
        return f"]({Path(target).as_posix()}"

    return re.sub(r"\]\(((?!\w+:)[^)#\s]+)", moved, words)


def cells_of_notebook(text: str) -> list[Cell]:
    return [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"]]


def notebook(cells: list[Cell]) -> str:
    """Without outputs, which would be those of one machine."""
    made: list[dict[str, Any]] = []
    for place, (kind, text) in enumerate(cells):
        cell = {"cell_type": kind, "id": f"cell-{place}", "metadata": {}}
        run = {"execution_count": None, "outputs": []} if kind == "code" else {}
        made.append({**cell, **run, "source": text.splitlines(keepends=True)})
    about = {"language_info": {"name": "python"}}
    whole = {"cells": made, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    cells = cells_of_script(SCRIPT.read_text(encoding="utf-8"))
    NOTEBOOK.write_text(notebook(cells), encoding="utf-8")
    for page, made in TUTORIALS.values():
        cells = cells_of_tutorial(page.read_text(encoding="utf-8"))
        made.write_text(notebook(cells), encoding="utf-8")
