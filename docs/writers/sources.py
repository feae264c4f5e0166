"""Pieces of code for documents: an equation beside the function that is it."""

import ast
import importlib
import textwrap
from pathlib import Path


def excerpt(name: str) -> str:
    """The code of ``package.module:Class.method`` as a block of Markdown."""
    module, _, dotted = name.partition(":")
    path = Path(str(importlib.import_module(module).__file__))
    text = path.read_text(encoding="utf-8")
    node: ast.AST = ast.parse(text)
    for part in dotted.split("."):
        node = next(each for each in ast.iter_child_nodes(node) if named(each) == part)
    code = textwrap.dedent("\n".join(text.splitlines()[first(node) - 1 : node.end_lineno]))  # type: ignore[attr-defined]
    return f"\n```python\n{code}\n```\n"


def named(node: ast.AST) -> str:
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0])
    return getattr(node, "name", "")


def first(node: ast.AST) -> int:
    """Where it begins, decorators included."""
    lines = [node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))]  # type: ignore[attr-defined]
    return min(lines)
