"""Excerpts of source code for documents."""

import ast
import importlib
import textwrap
from pathlib import Path


def excerpt(name: str) -> str:
    """The source of ``package.module:Class.method`` as a Markdown code block."""
    module, _, dotted = name.partition(":")
    path = Path(str(importlib.import_module(module).__file__))
    text = path.read_text(encoding="utf-8")
    node: ast.AST = ast.parse(text)
    for part in dotted.split("."):
        node = next(child for child in ast.iter_child_nodes(node) if name_of(child) == part)
    code = textwrap.dedent("\n".join(text.splitlines()[first_line(node) - 1 : node.end_lineno]))  # type: ignore[attr-defined]
    return f"\n```python\n{code}\n```\n"


def name_of(node: ast.AST) -> str:
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0])
    return getattr(node, "name", "")


def first_line(node: ast.AST) -> int:
    """The line where a definition begins, including its decorators."""
    lines = [
        node.lineno,
        *(decorator.lineno for decorator in getattr(node, "decorator_list", [])),
    ]  # type: ignore[attr-defined]
    return min(lines)
