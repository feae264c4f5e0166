"""Write the notebooks of examples/, with their outputs.

    python tests/notebook_maker.py

The analyst's notebook has the cells of its script, which are executed here. A notebook of a
tutorial has the blocks and the outputs of its page, which tests/tutorials_maker.py executes.
"""

import ast
import contextlib
import io
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

__all__ = [
    "NOTEBOOK",
    "SCRIPT",
    "TUTORIALS",
    "Cell",
    "cells_of_notebook",
    "cells_of_script",
    "cells_of_tutorial",
    "executed",
    "notebook",
]

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES, PAGES = ROOT / "examples", ROOT / "docs" / "tutorials"
SCRIPT, NOTEBOOK = EXAMPLES / "analyst.py", EXAMPLES / "analyst.ipynb"
TUTORIALS = {
    "comparing": (PAGES / "comparing-mechanisms.md", EXAMPLES / "comparing.ipynb"),
}
"""Those that are notebooks, too: the page, and what is made of it."""

Output = dict[str, Any]


class Cell(NamedTuple):
    kind: str
    """markdown or code"""
    text: str
    outputs: tuple[Output, ...] = ()
    """In the format of a notebook."""


def cells_of_script(text: str) -> list[Cell]:
    """Cells begin with "# %%"; Markdown is in comments."""
    cells = []
    for part in text.split("# %%")[1:]:
        head, _, body = part.partition("\n")
        lines = body.strip("\n").split("\n")
        if head.strip() == "[markdown]":
            cells.append(Cell("markdown", "\n".join(line.removeprefix("# ") for line in lines)))
        else:
            cells.append(Cell("code", "\n".join(lines)))
    return cells


def cells_of_tutorial(text: str) -> list[Cell]:
    """Markdown and code in turn, with what the page shows as printed."""
    cells: list[Cell] = []
    fence = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    words, kind, code = fence.split(text)[::3], *(fence.split(text)[k::3] for k in (1, 2))
    for before, language, block in zip(words, [*kind, ""], [*code, ""], strict=True):
        if before.strip():
            cells.append(Cell("markdown", _linked_from_examples(before.strip())))
        if language == "python":
            cells.append(Cell("code", block.strip("\n")))
        elif language == "bash":
            command = re.sub(r"^(?=nomadp)", "!", _pip(block), flags=re.MULTILINE)
            cells.append(Cell("code", command))
        elif language == "text":
            cells[-1] = cells[-1]._replace(outputs=(_stream(block),))
    return cells


def _pip(block: str) -> str:
    return re.sub(r"^pip", "%pip", block.strip("\n"), flags=re.MULTILINE)


def _linked_from_examples(words: str) -> str:
    def moved(link: re.Match[str]) -> str:
        target = os.path.relpath((PAGES / link[1]).resolve(), EXAMPLES)
        return f"]({Path(target).as_posix()}"

    return re.sub(r"\]\(((?!\w+:)[^)#\s]+)", moved, words)


def executed(cells: list[Cell]) -> list[Cell]:
    """The cells with their outputs, executed as a notebook would, in a folder of their own."""
    names: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return [
            cell._replace(outputs=_outputs(cell.text, names)) if cell.kind == "code" else cell
            for cell in cells
        ]


def _outputs(code: str, names: dict[str, object]) -> tuple[Output, ...]:
    """What a cell prints, and the value of its last expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, "a cell", "exec"), names)
        value = eval(compile(ast.unparse(last), "a cell", "eval"), names) if last else None
    outputs = (_stream(printed.getvalue()), _shown(value))
    return tuple(output for output in outputs if output)


def _stream(text: str) -> Output:
    return {"name": "stdout", "output_type": "stream", "text": _lines(text)} if text else {}


def _shown(value: object) -> Output:
    if value is None:
        return {}
    data = {"text/plain": _lines(repr(value))}
    if hasattr(value, "_repr_html_"):
        data = {"text/html": _lines(value._repr_html_()), **data}
    return {"data": data, "metadata": {}, "output_type": "execute_result"}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def cells_of_notebook(text: str) -> list[Cell]:
    return [
        Cell(
            cell["cell_type"],
            "".join(cell["source"]),
            tuple(
                {key: value for key, value in output.items() if key != "execution_count"}
                for output in cell.get("outputs", ())
            ),
        )
        for cell in json.loads(text)["cells"]
    ]


def notebook(cells: list[Cell]) -> str:
    """The text of a notebook whose code was executed once, from its first cell to its last."""
    made: list[dict[str, Any]] = []
    count = 0
    for place, (kind, text, outputs) in enumerate(cells):
        cell = {"cell_type": kind, "id": f"cell-{place}", "metadata": {}}
        if kind == "code":
            count += 1
            results = [
                {**each, "execution_count": count} if "data" in each else each
                for each in outputs
            ]
            cell |= {"execution_count": count, "outputs": results}
        made.append({**cell, "source": _lines(text)})
    about = {"language_info": {"name": "python"}}
    whole = {"cells": made, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    cells = executed(cells_of_script(SCRIPT.read_text(encoding="utf-8")))
    NOTEBOOK.write_text(notebook(cells), encoding="utf-8")
    for page, made in TUTORIALS.values():
        cells = cells_of_tutorial(page.read_text(encoding="utf-8"))
        made.write_text(notebook(cells), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
